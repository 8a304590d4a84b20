import type { KeyStore } from '../../../services/identity/keys/key-store.ts';
import type { EndpointSecrets } from '../../../services/webhooks/endpoint-secret.ts';
import type { Caller } from '../../../platform/outgoing/caller.ts';
import type { Plan } from '../../../schema/principal.ts';
import type { Database } from '../../../platform/postgres/database.ts';

export interface RegistryServices {
  readonly database: Database;
  readonly keys: KeyStore;
  /** Calls addresses that customers name. */
  readonly outgoing: Caller;
  readonly endpointSecrets: EndpointSecrets;
  /** What whoever registers is put on. */
  readonly newcomersPlan: Plan;
  readonly clock: () => Date;
}
