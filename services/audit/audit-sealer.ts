import type { Database } from '../../platform/postgres/database.ts';
import type { Uuid } from '../../platform/identifiers.ts';
import { chainEvent, type AddressHasher, type ChainedEntry, type ChainHead, type ToldEvent } from './audit-entry.ts';

const BATCH = 250;
const CHAINS_PER_ROUND = 1_000;

interface ToldRow {
  head_sequence: string;
  head_hash: string;
  event_id: Uuid;
  body: ToldEvent['body'];
  client_address: string | null;
  /** RFC 3339. */
  occurred_at: string;
}

/**
 * Moves told events into the chain of their tenant, in the order of their occurrence. Any number of processes may do
 * so: the chain's head is locked, and taking an event, numbering it and storing its entry is one transaction, so
 * that a crash leaves neither a gap nor a double.
 */
export class AuditSealer {
  readonly #database: Database;
  readonly #addresses: AddressHasher;

  constructor(database: Database, addresses: AddressHasher) {
    this.#database = database;
    this.#addresses = addresses;
  }

  /** Seals what waits for this chain; returns how many entries that were. */
  async seal(chain: string): Promise<number> {
    let sealed = 0;
    for (;;) {
      const batch = await this.#sealBatch(chain);
      sealed += batch;
      if (batch < BATCH) return sealed;
    }
  }

  /** Seals what waits for any chain. */
  async sealAll(): Promise<number> {
    let sealed = 0;
    for (;;) {
      const chains = await this.#database.asNobody((em) =>
        em.execute<{ chain: string }[]>(`select events.chains_with_told_events(?) as chain`, [CHAINS_PER_ROUND]),
      );
      for (const { chain } of chains) sealed += await this.seal(chain);
      if (chains.length < CHAINS_PER_ROUND) return sealed;
    }
  }

  #sealBatch(chain: string): Promise<number> {
    return this.#database.asNobody(
      async (em) => {
        const rows = await em.execute<ToldRow[]>(
          `select head_sequence, head_hash, event_id, body, client_address, to_jsonb(occurred_at) #>> '{}' as ` +
            `occurred_at from events.begin_audit_seal(?::uuid, ?)`,
          [chain, BATCH],
        );
        const [first] = rows;
        if (first === undefined) return 0;
        let head: ChainHead = { sequence: Number(first.head_sequence), hash: first.head_hash };
        const entries = rows.map((row): ChainedEntry & { event_id: string } => {
          const told: ToldEvent = {
            eventId: row.event_id,
            body: row.body,
            clientAddress: row.client_address,
            occurredAt: new Date(row.occurred_at),
          };
          const link = chainEvent(chain, head, told, this.#addresses);
          head = link;
          return { event_id: row.event_id, ...link };
        });
        await em.execute(`select events.finish_audit_seal(?::uuid, ?::jsonb)`, [chain, JSON.stringify(entries)]);
        return entries.length;
      },
      { turnOf: chain },
    );
  }
}
