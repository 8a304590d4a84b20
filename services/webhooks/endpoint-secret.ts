import type { Uuid } from '../../platform/identifiers.ts';
import type { KeyVault } from '../trust/key-vault.ts';
import { isGeneratedKind } from '../../schema/webhook-secret.ts';

const SHOWN = 8;

/** What lists may show of a secret: `whsec_ab…`; of a short one of the customer's own at most a quarter. */
export function secretPrefixOf(secret: string): string {
  const shown = isGeneratedKind(secret) ? SHOWN : Math.min(SHOWN, Math.floor(secret.length / 4));
  return `${secret.slice(0, shown)}…`;
}

/** The secrets of endpoints at rest: each opens for its own endpoint alone. */
export class EndpointSecrets {
  readonly #vault: KeyVault;

  constructor(vault: KeyVault) {
    this.#vault = vault;
  }

  seal(secret: string, endpointId: Uuid): Buffer {
    return this.#vault.seal(Buffer.from(secret, 'utf8'), placeOf(endpointId));
  }

  /** @throws SealBrokenError */
  open(sealed: Buffer, endpointId: Uuid): string {
    return this.#vault.open(sealed, placeOf(endpointId)).toString('utf8');
  }
}

function placeOf(endpointId: Uuid): string {
  return `events.webhook_endpoints/${endpointId}`;
}
