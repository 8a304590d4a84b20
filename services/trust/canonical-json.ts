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
