import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { KeyVault } from '../trust/key-vault.ts';
import type { IdempotencyClaim } from '../auth/principal.ts';

/** What is derived of a client's key: neither it nor anything sealed with it can be found out from the database. */
export interface ClaimSecrets {
  /** HMAC-SHA-256 of scope and key, base64url. Keys are often guessable (an order number), so a plain hash would not do. */
  readonly id: string;
  /** Opens what was sealed for this key alone. */
  readonly sealKey: string;
}

/** Derives (HKDF-SHA-256, RFC 5869) from the secret of the installation and the client's key; the same in every process. */
export function claimSecrets(installationSecret: string): (scope: string, key: string) => ClaimSecrets {
  const secret = createSecretKey(Buffer.from(installationSecret));
  const lookupKey = createSecretKey(derived(secret, 'liftgraph idempotency lookup'));
  return (scope, key) => {
    const named = JSON.stringify([scope, key]);
    return {
      id: createHmac('sha256', lookupKey).update(named).digest('base64url'),
      sealKey: derived(secret, `liftgraph idempotency seal ${named}`).toString('base64url'),
    };
  };
}

function derived(secret: KeyObject, info: string): Buffer {
  // Node takes 1024 bytes of `info`; a key has 255 characters at most.
  return Buffer.from(hkdfSync('sha256', secret, '', info, 32));
}

type Part = 'effect' | 'answer';

/** A value as it is stored: JSON under AES-256-GCM, which opens for this claim and as this part only. */
export function sealed(claim: Pick<IdempotencyClaim, 'id' | 'sealKey'>, part: Part, value: unknown): Buffer {
  return new KeyVault(claim.sealKey).seal(Buffer.from(JSON.stringify(value)), placeOf(claim.id, part));
}

/** @throws SealBrokenError */
export function opened(claim: Pick<IdempotencyClaim, 'id' | 'sealKey'>, part: Part, stored: Buffer): unknown {
  return JSON.parse(new KeyVault(claim.sealKey).open(stored, placeOf(claim.id, part)).toString('utf8')) as unknown;
}

function placeOf(id: string, part: Part): string {
  return `idempotency/${part}/${id}`;
}
