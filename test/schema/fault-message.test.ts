import { z } from 'zod';
import { faultMessage } from '../../schema/fault-message.ts';

const messageOf = (schema: z.ZodType, input: unknown): string =>
  schema.safeParse(input, { error: faultMessage }).error?.issues[0]?.message ?? 'fits';

test.each<[string, z.ZodType, unknown]>([
  ['must be a string, not a number', z.string(), 5],
  ['must be a string, not null', z.string(), null],
  ['must be an object, not a list', z.object({}), []],
  ['must be an object, not a list', z.record(z.string(), z.string()), []],
  ['must be a list, not a string', z.array(z.string()), 'email'],
  ['must be true or false, not a string', z.boolean(), 'yes'],
  ['must be a whole number', z.int(), 1.5],
  ['must be a number, not a string', z.int(), '1'],
  ['is required', z.string(), undefined],
  ['must not be empty', z.string().min(1), ''],
  ['must not be empty', z.array(z.string()).min(1), []],
  ['must have at least 8 characters', z.string().min(8), 'short'],
  ['must have exactly 3 characters', z.string().length(3), 'EURO'],
  ['must have at most 1 character', z.string().max(1), 'ab'],
  ['must have at most 2 entries', z.array(z.int()).max(2), [1, 2, 3]],
  ['must be at least 1', z.number().min(1), 0],
  ['must be at most 24', z.int().max(24), 25],
  ['must be more than 0', z.number().positive(), 0],
  ['must be one of daily, weekly', z.enum(['daily', 'weekly']), 'hourly'],
  ['must be true', z.literal(true), false],
  ['must be a moment such as 2026-02-01T09:30:00Z', z.iso.datetime(), '2026-02-01'],
  ['must be a date, YYYY-MM-DD', z.iso.date(), '1 May'],
  ['must be an e-mail address', z.email(), 'nobody'],
  ['a message of the schema comes first', z.string().min(1, 'a message of the schema comes first'), ''],
])('%s', (message, schema, input) => {
  expect(messageOf(schema, input)).toBe(message);
});
