import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';

/**
 * `sha256:` and the hex SHA-256 of a value's canonical JSON (RFC 8785), so that equal values have equal digests
 * whatever the order of their keys.
 * @throws RangeError for a value that JSON cannot express, such as NaN.
 */
export function canonicalDigest(value: unknown): string {
  return `sha256:${createHash('sha256').update(canonicalJson(value)).digest('hex')}`;
}

const MOST_KNOWN = 1_000;
/** Canonical digests by the SHA-256 of the JSON text that they were made from. */
const known = new Map<string, string>();

/**
 * The same for a value that comes again and again, such as figures that are read: to put its members into order takes
 * far longer than to see that the text is one whose digest is known.
 */
export function repeatedDigest(value: unknown): string {
  const text = createHash('sha256').update(JSON.stringify(value)).digest('base64');
  const digest = known.get(text) ?? canonicalDigest(value);
  // The one that was asked for last is forgotten last.
  known.delete(text);
  known.set(text, digest);
  if (known.size > MOST_KNOWN) known.delete(known.keys().next().value!);
  return digest;
}

/**
 * A value's canonical JSON (RFC 8785).
 * @throws RangeError for a value that JSON cannot express, such as NaN.
 */
export function canonicalJson(value: unknown): string {
  let cause: unknown;
  try {
    const text = canonicalize(value);
    if (text !== undefined) return text;
  } catch (error) {
    cause = error;
  }
  throw new RangeError('the value has no JSON form', { cause });
}
