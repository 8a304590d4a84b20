import { z } from 'zod';
import { ProblemError, type ProblemWire } from '../../../schema/problems.ts';
import { restForm } from '../../../schema/contract/rest-form.ts';
import { withoutNulls } from '../../../schema/request-faults.ts';
import { faultsOfInput, parseGraphInput, parseInput } from '../../../platform/graph/parse-input.ts';

const schema = z.object({
  timezone: z
    .string()
    .refine((name) => name === 'UTC', 'must be UTC')
    .optional(),
  dateRange: z.array(z.string()).min(2).optional(),
  credentials: z.strictObject({ content: z.string().optional() }).optional(),
});

function refusal(input: unknown): ProblemWire {
  try {
    parseInput(schema, input);
  } catch (error) {
    if (error instanceof ProblemError) return error.problem;
  }
  throw new Error('the input was not refused');
}

describe('input that does not fit', () => {
  test('is named in the contract’s snake_case, the first member also by itself', () => {
    const problem = refusal({ dateRange: [], timezone: 'Mars' });
    expect(problem).toMatchObject({ type: 'validation_error', status: 422, param: '/timezone' });
    expect(problem.errors?.map(({ param }) => param)).toEqual(['/timezone', '/date_range']);
  });

  test('by a rule of ours has a code of the contract, not one of the library', () => {
    expect(refusal({ timezone: 'Mars' })).toMatchObject({
      code: 'invalid_value',
      errors: [{ param: '/timezone', code: 'invalid_value', message: 'must be UTC' }],
    });
  });

  test('with members that are not known is told each of them', () => {
    expect(refusal({ credentials: { contents: 'typo', a_b: 1 } }).errors).toMatchObject([
      { param: '/credentials/contents', code: 'unknown_member' },
      { param: '/credentials/a_b', code: 'unknown_member' },
    ]);
  });
});

describe('input of the graph', () => {
  test('has null for what is absent, also in a record of it', () => {
    expect(parseGraphInput(schema, { timezone: null, credentials: { content: null } })).toEqual({ credentials: {} });
    expect(parseGraphInput(schema, { timezone: 'UTC', credentials: null })).toEqual({ timezone: 'UTC' });
  });

  test('must not have null for a value in a list', () => {
    expect(() => parseGraphInput(schema, { dateRange: ['2026-01-01', null] })).toThrow(ProblemError);
  });
});

describe('what both doors say', () => {
  const member = z.object({
    model: z.enum(['causal', 'last_touch']).optional(),
    note: z.string().max(3).nullable().optional(),
    metadata: z.record(z.string(), z.string()).optional(),
  });

  test('null is not given, unless it is a value there', () => {
    const given = { model: null, note: null, metadata: null };
    expect(parseGraphInput(member, given)).toEqual({ note: null });
    expect(withoutNulls(restForm(member), given)).toEqual({ note: null });
  });

  test('an enum is called as the graph does, or as the code', () => {
    for (const model of ['LAST_TOUCH', 'last_touch']) expect(faultsOfInput(member, { model })).toEqual([]);
    expect(faultsOfInput(member, { model: 'Last_touch' })).toMatchObject([{ param: '/model', code: 'invalid_value' }]);
  });

  test('keys of the caller’s own stay as they are in pointers', () => {
    expect(faultsOfInput(member, { metadata: { 'MyKey/a': 1 } })).toMatchObject([{ param: '/metadata/MyKey~1a' }]);
  });
});
