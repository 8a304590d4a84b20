/** Shorter strings are none that anybody keeps secret, and would be struck out of words. */
const SHORTEST_SECRET = 4;

/**
 * Something went wrong between us and the origin of a source that may go right the next time. Logs and the job keep
 * what it says, so it is told anew: without the objects of the first error, and without credentials wherever they
 * stand in its words.
 */
export class SourceUnreachableError extends Error {
  override readonly name = 'SourceUnreachableError';

  constructor(title: string, cause: unknown, credentials: unknown) {
    super(`${title}: ${withoutSecrets(wordsOf(cause), credentials)}`);
  }
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.message === '' ? error.name : error.message;
  return error.cause === undefined ? own : `${own} (${wordsOf(error.cause)})`;
}

function withoutSecrets(words: string, credentials: unknown): string {
  return stringsIn(credentials)
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .reduce((text, secret) => text.replaceAll(secret, '…').replaceAll(encodeURIComponent(secret), '…'), words);
}

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}
