import { join } from 'node:path';
import type { Config } from './config/config.ts';
import { AuditArchive } from '../services/audit/audit-archive.ts';
import { AddressHasher } from '../services/audit/audit-entry.ts';
import { AuditHeadSigner } from '../services/audit/audit-head-signer.ts';
import { AuditHeadsFile, type FindHeadKey } from '../services/audit/audit-heads.ts';
import { AuditLog } from '../services/audit/audit-log.ts';
import { AuditSealer } from '../services/audit/audit-sealer.ts';
import type { Database } from '../platform/postgres/database.ts';
import type { Logger } from '../platform/telemetry/logs.ts';
import { PublicKeyStore, type SigningKeyStore } from '../services/trust/signing-key-store.ts';

/** Where the parts of the audit log are that the database does not hold. */
export interface AuditPlaces {
  readonly headsFile: string;
  readonly archiveDirectory: string;
}

/** As configured, else in the data directory. */
export function auditPlaces({
  auditHeadsFile,
  auditArchiveDir,
  dataDir,
}: Pick<Config, 'auditHeadsFile' | 'auditArchiveDir' | 'dataDir'>): AuditPlaces {
  return {
    headsFile: auditHeadsFile ?? join(dataDir, 'audit-heads.ndjson'),
    archiveDirectory: auditArchiveDir ?? join(dataDir, 'audit-archive'),
  };
}

/** Chains what was recorded; addresses are hashed under the pepper. */
export function auditSealer(database: Database, keyPepper: Buffer): AuditSealer {
  return new AuditSealer(database, new AddressHasher(keyPepper));
}

/** The log as the subgraph reads and verifies it. */
export function auditLog(database: Database, keyPepper: Buffer, places: AuditPlaces): AuditLog {
  return new AuditLog({
    database,
    sealer: auditSealer(database, keyPepper),
    archive: new AuditArchive(places.archiveDirectory),
    heads: new AuditHeadsFile(places.headsFile),
    findKey: everyKey(new PublicKeyStore(database)),
  });
}

/** Work that goes on until it is stopped; stopping waits for the round under way. */
export interface Repeated {
  stop(): Promise<void>;
}

/** Chains what was recorded, every few seconds. */
export function startSealing(database: Database, keyPepper: Buffer, logger: Logger): Repeated {
  const sealer = auditSealer(database, keyPepper);
  return repeatedly(() => sealer.sealAll(), 'the audit log could not be sealed and will be tried again', logger);
}

export interface HeadSigningOptions {
  readonly database: Database;
  readonly keys: SigningKeyStore;
  readonly places: AuditPlaces;
  /** The service's address without `/v1`. */
  readonly issuer: string;
  readonly logger: Logger;
  readonly clock: () => Date;
}

/** Signs heads into the file of this process. */
export function auditHeadSigner({ places, ...services }: HeadSigningOptions): AuditHeadSigner {
  return new AuditHeadSigner({ ...services, file: new AuditHeadsFile(places.headsFile) });
}

/** Signs the heads of the chains, every few seconds. */
export function startHeadSigning(options: HeadSigningOptions): Repeated {
  const signer = auditHeadSigner(options);
  return repeatedly(
    () => signer.signDue(),
    'the heads of the audit log could not be signed and will be tried again',
    options.logger,
  );
}

const EVERY_MS = 5_000;

/** One round at a time; a round that fails is tried again. */
function repeatedly(work: () => Promise<unknown>, failure: string, logger: Logger): Repeated {
  let round: Promise<unknown> = Promise.resolve();
  let isBusy = false;
  const timer = setInterval(() => {
    if (isBusy) return;
    isBusy = true;
    round = work()
      .catch((error: unknown) => logger.warn({ err: error }, failure))
      .finally(() => (isBusy = false));
  }, EVERY_MS);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await round;
    },
  };
}

/** Keys by name, read anew for a name that is not known yet: a key never changes under its name. */
function everyKey(keys: PublicKeyStore): FindHeadKey {
  let known = new Map<string, { readonly x: string }>();
  return async (kid) => {
    if (!known.has(kid)) known = new Map((await keys.list()).map((key) => [key.kid, key]));
    return known.get(kid) ?? null;
  };
}
