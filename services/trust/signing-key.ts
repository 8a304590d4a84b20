import { generateKeyPairSync } from 'node:crypto';
import { calculateJwkThumbprint } from 'jose';
import type { Environment } from '../../schema/principal.ts';

/**
 * The life of a key: published as `next` before its first use, so that whoever caches the key set knows it by then;
 * `current` while it signs; `retired` once another signs; `revoked` when nothing that it signed may be believed.
 */
export type SigningKeyStatus = 'next' | 'current' | 'retired' | 'revoked';

/** A key as anyone may see it. */
export interface SigningKey {
  /** RFC 7638 thumbprint; keys of the sandbox have `sandbox-` before it. */
  readonly kid: string;
  readonly environment: Environment;
  readonly status: SigningKeyStatus;
  /** The public key, base64url (RFC 8037 §2). */
  readonly x: string;
}

export interface NewSigningKey {
  readonly kid: string;
  readonly x: string;
  /** PKCS #8, DER. */
  readonly privateKey: Buffer;
}

/** A public key as the key set publishes it (RFC 7517, RFC 8037). */
export interface PublishedKey {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly kid: string;
  readonly use: 'sig';
  readonly alg: 'EdDSA';
  /** Absent for the key that signs now. */
  readonly 'svc:status'?: Exclude<SigningKeyStatus, 'current'>;
}

export interface KeySet {
  readonly keys: readonly PublishedKey[];
}

const SANDBOX_PREFIX = 'sandbox-';

/** A fresh Ed25519 key from the system's random source. */
export async function newSigningKey(environment: Environment): Promise<NewSigningKey> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const { x } = publicKey.export({ format: 'jwk' }) as { x: string };
  const thumbprint = await calculateJwkThumbprint({ kty: 'OKP', crv: 'Ed25519', x });
  return {
    kid: environment === 'sandbox' ? `${SANDBOX_PREFIX}${thumbprint}` : thumbprint,
    x,
    privateKey: privateKey.export({ format: 'der', type: 'pkcs8' }),
  };
}

/** Whose results a key signs, by its name. */
export function environmentOf(kid: string): Environment {
  return kid.startsWith(SANDBOX_PREFIX) ? 'sandbox' : 'live';
}

/** The key set that strangers verify with. */
export function keySetOf(keys: readonly SigningKey[]): KeySet {
  return {
    keys: keys.map(({ kid, x, status }) => ({
      kty: 'OKP',
      crv: 'Ed25519',
      x,
      kid,
      use: 'sig',
      alg: 'EdDSA',
      ...(status === 'current' ? {} : { 'svc:status': status }),
    })),
  };
}
