import type { z } from 'zod';

/** What a member is called by the type that it should have. */
const NOUNS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  tuple: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

/** What a text of a format looks like. */
const FORMATS: Readonly<Record<string, string>> = {
  datetime: 'must be a moment such as 2026-02-01T09:30:00Z',
  date: 'must be a date, YYYY-MM-DD',
  email: 'must be an e-mail address',
  url: 'must be an address with its scheme, such as https://shop.example/',
  uuid: 'must be a UUID',
};

/** What is wrong, for programs: the code that a rule of ours gives itself, or zod's. */
export function faultCode(issue: z.core.$ZodIssue): string {
  if (issue.code === 'custom') return String((issue.params as { code?: string } | undefined)?.code ?? 'invalid_value');
  return issue.code === 'invalid_union' ? 'invalid_value' : issue.code;
}

/**
 * Says what a value has to be, in the words of the documentation, where its schema does not say so itself: the `error`
 * of zod's parse methods.
 */
export function faultMessage(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : wrongType(issue.expected, issue.input);
    case 'invalid_value':
      return issue.values.length === 1
        ? `must be ${String(issue.values[0])}`
        : `must be one of ${issue.values.map(String).join(', ')}`;
    case 'invalid_format':
      return FORMATS[issue.format];
    case 'too_small':
      return issue.minimum === 1 && issue.origin !== 'number' && issue.origin !== 'int'
        ? 'must not be empty'
        : bound(issue, issue.minimum, issue.inclusive === false ? 'more than' : 'at least');
    case 'too_big':
      return bound(issue, issue.maximum, issue.inclusive === false ? 'less than' : 'at most');
    default:
      return undefined;
  }
}

function wrongType(expected: string, input: unknown): string {
  const wanted = `must be ${NOUNS[expected] ?? expected}`;
  const isFraction = expected === 'int' && typeof input === 'number';
  return isFraction ? wanted : `${wanted}, not ${kindOf(input)}`;
}

function bound(
  { origin, exact }: { readonly origin: string; readonly exact?: boolean },
  limit: number | bigint,
  side: string,
): string {
  const many = `${exact === true ? 'exactly' : side} ${limit}`;
  if (origin === 'string') return `must have ${many} ${limit === 1 ? 'character' : 'characters'}`;
  return origin === 'array' ? `must have ${many} ${limit === 1 ? 'entry' : 'entries'}` : `must be ${many}`;
}

function kindOf(input: unknown): string {
  if (input === null) return 'null';
  return Array.isArray(input) ? 'a list' : (NOUNS[typeof input] ?? typeof input);
}
