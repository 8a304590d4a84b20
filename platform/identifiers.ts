import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { IdPrefix } from '../schema/id-prefixes.ts';
import { ProblemError } from '../schema/problems.ts';
import { SANDBOX_SOURCES } from '../schema/sandbox-sources.ts';

/** A UUID in its canonical text form. Branded, so that a public id is never passed where a UUID is meant. */
export type Uuid = string & { readonly __brand: 'Uuid' };

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BODY_LENGTH = 22;
const CHUNK_LENGTH = 8;
const CHUNK = 62n ** BigInt(CHUNK_LENGTH);
const UUID_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** A time-ordered UUID, version 7 (RFC 9562 §5.7): 48 bits of Unix milliseconds, 74 random bits. */
export function newUuid(nowMs: number = Date.now()): Uuid {
  const time = nowMs.toString(16).padStart(12, '0');
  // The random bits of a version 4 stand at the same places; Node draws them for many at once.
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}` as Uuid;
}

/** Later than any row of ours, and a year that every store can read. */
const LATEST_MS = Date.UTC(9999, 0);

/** When a time-ordered UUID was made. */
export function momentOf(uuid: Uuid): Date {
  return new Date(Math.min(LATEST_MS, Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16)));
}

function uuidFromHex(hex: string): Uuid {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}` as Uuid;
}

/** True for the canonical text form of any UUID version. */
export function isUuid(text: string): text is Uuid {
  return UUID_PATTERN.test(text);
}

/** Parses a UUID where one crosses a boundary of ours. */
export const uuid = z
  .string()
  .refine(isUuid, 'must be a UUID')
  .transform((text) => text as Uuid);

/** The sources of the sandbox are called by names; row level security shows them to test keys only. */
const UUID_OF_NAME: ReadonlyMap<string, Uuid> = new Map(
  SANDBOX_SOURCES.map((source) => [source.publicId, source.uuid as Uuid]),
);
const NAME_OF_UUID: ReadonlyMap<Uuid, string> = new Map([...UUID_OF_NAME].map(([name, uuid]) => [uuid, name]));

/** `attr` + UUID → `attr_01BxK…`: prefix, underscore, 22 base62 digits; sortable as the UUID is, reversible. */
export function publicId(prefix: IdPrefix, uuid: Uuid): string {
  const name = prefix === 'ds' ? NAME_OF_UUID.get(uuid) : undefined;
  if (name !== undefined) return name;
  let rest = BigInt(`0x${uuid.replaceAll('-', '')}`);
  let body = '';
  // By eight digits at a time, which fit into a number: big ones are slow to divide, and every record has ids.
  for (let length = BODY_LENGTH; length > 0; length -= CHUNK_LENGTH) {
    body = base62(Number(rest % CHUNK), Math.min(length, CHUNK_LENGTH)) + body;
    rest /= CHUNK;
  }
  return `${prefix}_${body}`;
}

function base62(value: number, length: number): string {
  let digits = '';
  for (let rest = value; digits.length < length; rest = Math.floor(rest / 62)) digits = ALPHABET[rest % 62]! + digits;
  return digits;
}

/** The UUID behind a public id, or undefined when the text is not a public id with this prefix. */
export function uuidFromPublicId(prefix: IdPrefix, id: string): Uuid | undefined {
  const named = prefix === 'ds' ? UUID_OF_NAME.get(id) : undefined;
  if (named !== undefined) return named;
  if (id.length !== prefix.length + 1 + BODY_LENGTH || !id.startsWith(`${prefix}_`)) return undefined;
  let value = 0n;
  for (const character of id.slice(prefix.length + 1)) {
    const digit = ALPHABET.indexOf(character);
    if (digit < 0) return undefined;
    value = value * 62n + BigInt(digit);
  }
  return value >> 128n === 0n ? uuidFromHex(value.toString(16).padStart(32, '0')) : undefined;
}

/**
 * The UUID of an agent, which may be named by its public id and by the UUID itself, in any case (decision table of the
 * contract, identifiers).
 */
export function agentUuid(named: string): Uuid | undefined {
  return isUuid(named) ? (named.toLowerCase() as Uuid) : uuidFromPublicId('agent', named);
}

const LONGEST_SHOWN = 64;

/** An id as a message repeats it: whoever sent a book does not get it back. */
export function shownId(id: string): string {
  return id.length <= LONGEST_SHOWN ? id : `${id.slice(0, LONGEST_SHOWN)}…`;
}

/**
 * The UUID behind a public id.
 * @param param where the request names it; absent where the path does
 * @throws ProblemError `resource_not_found`: an id that cannot exist is answered as one that does not.
 */
export function requireUuid(prefix: IdPrefix, id: string, what: string, param?: string): Uuid {
  const uuid = uuidFromPublicId(prefix, id);
  if (uuid === undefined)
    throw new ProblemError(
      'resource_not_found',
      `There is no ${what} ${shownId(id)}.`,
      param === undefined ? {} : { param },
    );
  return uuid;
}

const NIL_UUID = '00000000-0000-0000-0000-000000000000' as Uuid;

/**
 * The UUID that a list is filtered by. What is not an id names nothing, so that nothing matches: it is answered as an
 * unknown id is, with an empty list.
 */
export function filterUuid(prefix: IdPrefix, id: string): Uuid {
  return uuidFromPublicId(prefix, id) ?? NIL_UUID;
}

/** The agent that a filter names: its public id, its UUID, or `me`; what names none matches nothing. */
export function filterAgent(named: string, own: string | null): Uuid {
  if (named === 'me') return (own ?? NIL_UUID) as Uuid;
  return agentUuid(named) ?? NIL_UUID;
}

/** A fresh request id, `req_…`. */
export function newRequestId(): string {
  return publicId('req', newUuid());
}
