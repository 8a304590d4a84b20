import type { EndpointSecrets } from './endpoint-secret.ts';
import type { Caller } from '../../platform/outgoing/caller.ts';
import type { Database } from '../../platform/postgres/database.ts';
import type { PubSub } from '../../platform/postgres/pub-sub.ts';

export interface WebhookServices {
  readonly database: Database;
  readonly pubSub: PubSub;
  /** Calls addresses that customers name. */
  readonly outgoing: Caller;
  readonly endpointSecrets: EndpointSecrets;
  readonly clock: () => Date;
}
