import type { Database, SqlEntityManager } from '../../platform/postgres/database.ts';
import type { Logger } from '../../platform/telemetry/logs.ts';
import type { SigningKeyStore } from '../trust/signing-key-store.ts';
import { chainName, type ChainHead } from './audit-entry.ts';
import { signedHeadLine, type AuditHeadsFile } from './audit-heads.ts';

/** A head is signed after so many entries, or so long after the first entry that no signature covers. */
export const SIGN_AFTER = { entries: 100, seconds: 60 } as const;
const HEADS_PER_ROUND = 200;

export interface AuditHeadSignerOptions {
  readonly database: Database;
  readonly keys: SigningKeyStore;
  readonly file: AuditHeadsFile;
  /** Address of the service, without `/v1`. */
  readonly issuer: string;
  readonly logger: Logger;
  readonly clock: () => Date;
}

/**
 * Signs the heads of chains and writes them where the database's owner can't change them. Written first and noted in
 * the database afterwards: a crash between the two signs a head twice, which says nothing new. It signs no chain that
 * contradicts what it signed before, so that a rewritten chain does not get a signature of its own.
 */
export class AuditHeadSigner {
  readonly #options: AuditHeadSignerOptions;
  #lastHeads: Promise<Map<string, ChainHead>> | undefined;
  readonly #distrusted = new Set<string>();

  constructor(options: AuditHeadSignerOptions) {
    this.#options = options;
  }

  /** Signs the heads that are due, any head of a chain that grew with `force`; returns how many. */
  async signDue(force = false): Promise<number> {
    const due = { entries: force ? 0 : SIGN_AFTER.entries, seconds: force ? 0 : SIGN_AFTER.seconds };
    const { database, keys, file, issuer, clock } = this.#options;
    return database.asNobody(async (em) => {
      const rows = await em.execute<{ chain_id: string; sequence: string; hash: string }[]>(
        `select * from events.claim_unsigned_heads(?, make_interval(secs => ?), ?)`,
        [due.entries, due.seconds, HEADS_PER_ROUND],
      );
      if (rows.length === 0) return 0;
      const key = await keys.current(em, 'live');
      const signed: { readonly chain: string; readonly head: ChainHead; readonly line: string }[] = [];
      for (const row of rows) {
        const head: ChainHead = { sequence: Number(row.sequence), hash: row.hash };
        if (!(await this.#continues(em, row.chain_id, head))) continue;
        const line = await signedHeadLine(
          { iss: issuer, chain_id: chainName(row.chain_id), ...head, iat: Math.floor(clock().getTime() / 1000) },
          key,
        );
        signed.push({ chain: row.chain_id, head, line });
      }
      if (signed.length === 0) return 0;
      file.append(signed.map(({ line }) => line));
      const lastHeads = await this.#knownHeads();
      for (const { chain, head } of signed) {
        lastHeads.set(chainName(chain), head);
        await em.execute(`select events.record_signed_head(?::uuid, ?)`, [chain, head.sequence]);
      }
      return signed.length;
    });
  }

  #knownHeads(): Promise<Map<string, ChainHead>> {
    this.#lastHeads ??= this.#options.file.lastHeads();
    return this.#lastHeads;
  }

  /** Whether a chain still holds the head that was signed last, by whichever process. */
  async #continues(em: SqlEntityManager, chain: string, head: ChainHead): Promise<boolean> {
    const holds = async (before: ChainHead | undefined): Promise<boolean> => {
      if (before === undefined) return true;
      const [now] = await em.execute<[{ hash: string | null }]>(`select events.audit_hash_at(?::uuid, ?) as hash`, [
        chain,
        before.sequence,
      ]);
      return now.hash === before.hash && head.sequence >= before.sequence;
    };
    const name = chainName(chain);
    const known = await this.#knownHeads();
    if (await holds(known.get(name))) return true;
    if (this.#distrusted.has(chain)) return false;
    // Another process may have signed since, and all before that may be in the archive. What this one knows it does not
    // forget.
    for (const [each, later] of await this.#options.file.lastHeads())
      if (later.sequence > (known.get(each)?.sequence ?? 0)) known.set(each, later);
    if (await holds(known.get(name))) return true;
    this.#distrust(chain, known.get(name)!);
    return false;
  }

  #distrust(chain: string, before: ChainHead): void {
    this.#distrusted.add(chain);
    this.#options.logger.error(
      { chain, sequence: before.sequence },
      'an audit chain is not the one whose head was signed before; it will not be signed again. Verify it: POST ' +
        '/v1/audit/verify',
    );
  }
}
