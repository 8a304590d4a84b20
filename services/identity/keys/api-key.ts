import { createHmac, hash, randomBytes, randomInt, timingSafeEqual, type KeyObject } from 'node:crypto';

/** Key classes by prefix (contract §5.2–3). */
export const API_KEY_KINDS = ['svc_agent_sk', 'svc_live_sk', 'svc_test_sk'] as const;
export type ApiKeyKind = (typeof API_KEY_KINDS)[number];

const ALPHANUMERICS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const SECRET_LENGTH = 24;
const KEY_PATTERN = /^(svc_agent_sk|svc_live_sk|svc_test_sk)_[A-Za-z0-9]{24}$/;

/** What the database keeps of a key; the key itself is shown once and never stored. */
export interface StoredApiKey {
  /** First 8 bytes of HMAC-SHA256(pepper, key): finds the row without revealing any character of the key. */
  readonly lookup: Buffer;
  readonly salt: Buffer;
  /** SHA-256(salt ‖ key). 142.9 bits of entropy need no slow hash. */
  readonly hash: Buffer;
}

/** A fresh key: 24 alphanumerics from the system's CSPRNG (`randomInt` rejects, so no character is favoured). */
export function generateApiKey(kind: ApiKeyKind): string {
  let secret = '';
  for (let i = 0; i < SECRET_LENGTH; i += 1) secret += ALPHANUMERICS[randomInt(ALPHANUMERICS.length)]!;
  return `${kind}_${secret}`;
}

/** The class of a well-formed key, undefined for anything else. */
export function apiKeyKind(key: string): ApiKeyKind | undefined {
  return KEY_PATTERN.exec(key)?.[1] as ApiKeyKind | undefined;
}

/**
 * Index value of a key under the server's pepper: a KeyObject, since Node takes five times as long to make one each
 * time.
 */
export function apiKeyLookup(pepper: KeyObject, key: string): Buffer {
  return createHmac('sha256', pepper).update(key).digest().subarray(0, 8);
}

/** Turns a fresh key into what is stored. */
export function sealApiKey(pepper: KeyObject, key: string): StoredApiKey {
  const salt = randomBytes(16);
  return { lookup: apiKeyLookup(pepper, key), salt, hash: hashApiKey(salt, key) };
}

/** Compares in constant time; a missing row is compared against a dummy, so that absence takes as long as mismatch. */
export function matchesApiKey(stored: Pick<StoredApiKey, 'salt' | 'hash'> | undefined, key: string): boolean {
  const candidate = stored ?? DUMMY;
  return timingSafeEqual(hashApiKey(candidate.salt, key), candidate.hash) && stored !== undefined;
}

function hashApiKey(salt: Buffer, key: string): Buffer {
  return hash('sha256', Buffer.concat([salt, Buffer.from(key)]), 'buffer');
}

const DUMMY = { salt: randomBytes(16), hash: randomBytes(32) };
