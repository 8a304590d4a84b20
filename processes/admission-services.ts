import { FirstAccount } from '../platform/auth/first-account.ts';
import { KeyStore } from '../platform/auth/key-store.ts';
import { AdmissionMetrics } from '../platform/auth/metered-admission.ts';
import { openOauth } from '../platform/auth/oauth/oauth.ts';
import { PostgresAdmission } from '../platform/auth/postgres-admission.ts';
import type { Config } from '../platform/config/config.ts';
import { PostgresClaims } from '../platform/idempotency/claims.ts';
import type { Logger } from '../platform/telemetry/logs.ts';
import { PublicKeyStore } from '../platform/trust/signing-key-store.ts';
import { findOauthClient } from '../subgraphs/agents/registry/oauth-clients.ts';
import type { BackingServices } from './backing-services.ts';
import type { PublicServerOptions } from './public-server.ts';

export interface AdmissionServicesOptions {
  readonly backing: BackingServices;
  readonly config: Pick<Config, 'rateLimits' | 'bootstrapToken' | 'publicBaseUrl'>;
  readonly keyPepper: Buffer;
  /** Seals the answers that are kept for idempotency keys. */
  readonly keyEncryptionKey: string;
  readonly logger: Logger;
}

/** Who may call, how often, and whether a request was answered before: the same with everything in one process and in a gateway of its own. */
export function admissionServices({ backing, config, keyPepper, keyEncryptionKey, logger }: AdmissionServicesOptions): Pick<PublicServerOptions, 'admission' | 'firstAccount' | 'oauth' | 'claims' | 'keys'> {
  const { database, pubSub, registry } = backing;
  const { rateLimits, bootstrapToken, publicBaseUrl } = config;
  const admission = new AdmissionMetrics(registry).metered(new PostgresAdmission({ database, pubSub, keyPepper, rateLimits, logger }));
  return {
    admission,
    firstAccount: bootstrapToken === undefined ? null : new FirstAccount(database, new KeyStore(database, keyPepper), bootstrapToken),
    oauth: openOauth({ database, keyPepper, admission, findClient: findOauthClient(database), publicBaseUrl }),
    claims: new PostgresClaims({ ...backing, secret: keyEncryptionKey, logger }),
    keys: new PublicKeyStore(database),
  };
}
