import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { KeyVault } from '../trust/key-vault.ts';
import type { IdempotencyClaim } from '../../schema/principal.ts';

/** What is derived of a client's key: neither it nor anything sealed with it can be found out from the database. */
export interface ClaimSecrets {
  /**
   * HMAC-SHA-256 of scope and key, base64url. Keys are often guessable (an order number), so a plain hash would not do.
   */
  readonly id: string;
  /** Opens what was sealed for this key alone. */
  readonly sealKey: string;
}

/**
 * Derives (HKDF-SHA-256, RFC 5869) from the secret of the installation and the client's key; the same in every process.
 */
export function claimSecrets(installationSecret: string): (scope: string, key: string) => ClaimSecrets {
  const extracted = createSecretKey(createHmac('sha256', NO_SALT).update(installationSecret).digest());
  const lookupKey = createSecretKey(expanded(extracted, 'liftgraph idempotency lookup'));
  return (scope, key) => {
    const named = JSON.stringify([scope, key]);
    return {
      id: createHmac('sha256', lookupKey).update(named).digest('base64url'),
      sealKey: expanded(extracted, `liftgraph idempotency seal ${named}`).toString('base64url'),
    };
  };
}

/** Where none is given, zeros (RFC 5869, 2.2). */
const NO_SALT = Buffer.alloc(32);
const FIRST_BLOCK = Buffer.of(1);

/**
 * The first 32 bytes of HKDF-Expand, which are its first block (2.3). What is extracted is the same each time, so that
 * Node's own HKDF would do it over and over.
 */
function expanded(extracted: KeyObject, info: string): Buffer {
  return createHmac('sha256', extracted).update(info).update(FIRST_BLOCK).digest();
}

type Part = 'effect' | 'answer';

/** A value as it is stored: JSON under AES-256-GCM, which opens for this claim and as this part only. */
export function sealed(claim: Pick<IdempotencyClaim, 'id' | 'sealKey'>, part: Part, value: unknown): Buffer {
  return vaultOf(claim).seal(Buffer.from(JSON.stringify(value)), placeOf(claim.id, part));
}

/** @throws SealBrokenError */
export function opened(claim: Pick<IdempotencyClaim, 'id' | 'sealKey'>, part: Part, stored: Buffer): unknown {
  return JSON.parse(vaultOf(claim).open(stored, placeOf(claim.id, part)).toString('utf8')) as unknown;
}

function placeOf(id: string, part: Part): string {
  return `idempotency/${part}/${id}`;
}

/** Of claims under way: each seals its effect and its answer. */
const vaults = new WeakMap<object, KeyVault>();

function vaultOf(claim: Pick<IdempotencyClaim, 'sealKey'>): KeyVault {
  const known = vaults.get(claim);
  if (known !== undefined) return known;
  const vault = new KeyVault(claim.sealKey);
  vaults.set(claim, vault);
  return vault;
}
