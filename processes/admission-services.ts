import { FirstAccount } from '../services/identity/opening/first-account.ts';
import { KeyStore } from '../services/identity/keys/key-store.ts';
import { AdmissionMetrics } from '../services/identity/admission/metered-admission.ts';
import { CallMeter } from '../services/identity/limits/call-meter.ts';
import { openOauth } from '../services/identity/oauth/oauth.ts';
import { PostgresAdmission } from '../services/identity/admission/postgres-admission.ts';
import { planOfNewcomers, type Config } from './config/config.ts';
import { PostgresClaims } from '../services/idempotency/claims.ts';
import type { Logger } from '../platform/telemetry/logs.ts';
import { PublicKeyStore } from '../services/trust/signing-key-store.ts';
import { findOauthClient } from '../subgraphs/agents/registry/oauth-clients.ts';
import type { BackingServices } from './backing-services.ts';
import type { PublicServerOptions } from './public-server.ts';

export interface AdmissionServicesOptions {
  readonly backing: BackingServices;
  readonly config: Pick<Config, 'rateLimits' | 'billing' | 'bootstrapToken' | 'publicBaseUrl'>;
  readonly keyPepper: Buffer;
  /** Seals the answers that are kept for idempotency keys. */
  readonly keyEncryptionKey: string;
  readonly logger: Logger;
}

/**
 * Who may call, how often, and whether a request was answered before: the same with everything in one process and in a
 * gateway of its own.
 */
export function admissionServices({
  backing,
  config,
  keyPepper,
  keyEncryptionKey,
  logger,
}: AdmissionServicesOptions): Pick<
  PublicServerOptions,
  'admission' | 'firstAccount' | 'oauth' | 'claims' | 'keys' | 'meter'
> {
  const { database, pubSub, registry } = backing;
  const { rateLimits, billing, bootstrapToken, publicBaseUrl } = config;
  const admission = new AdmissionMetrics(registry).metered(
    new PostgresAdmission({ database, pubSub, keyPepper, rateLimits, logger }),
  );
  return {
    admission,
    firstAccount:
      bootstrapToken === undefined
        ? null
        : new FirstAccount(database, new KeyStore(database, keyPepper), planOfNewcomers(billing), bootstrapToken),
    oauth: openOauth({ database, keyPepper, admission, findClient: findOauthClient(database), publicBaseUrl }),
    claims: new PostgresClaims({ ...backing, secret: keyEncryptionKey, logger }),
    keys: new PublicKeyStore(database),
    meter: new CallMeter(database, logger),
  };
}
