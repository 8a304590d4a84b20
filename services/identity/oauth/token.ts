import { randomBytes } from 'node:crypto';

/**
 * What OAuth hands out: a token to call with, a token to get the next pair with, and a code to get the first pair with.
 */
export type OauthSecretKind = 'access' | 'refresh' | 'code';

const PREFIXES: Readonly<Record<OauthSecretKind, string>> = { access: 'svc_at_', refresh: 'svc_rt_', code: 'svc_ac_' };
const PATTERN = /^(svc_(?:at|rt|ac)_)[A-Za-z0-9_-]{43}$/;

/**
 * A fresh opaque secret: a prefix and 256 random bits in 43 base64url characters. Stored as API keys are: lookup, salt,
 * SHA-256.
 */
export function generateOauthSecret(kind: OauthSecretKind): string {
  return `${PREFIXES[kind]}${randomBytes(32).toString('base64url')}`;
}

/** The kind of a well-formed secret, undefined for anything else. */
export function oauthSecretKind(secret: string): OauthSecretKind | undefined {
  const prefix = PATTERN.exec(secret)?.[1];
  return (Object.keys(PREFIXES) as OauthSecretKind[]).find((kind) => PREFIXES[kind] === prefix);
}
