import type { z } from 'zod';
import { fromRest } from '../../../schema/contract/rest-form.ts';
import { valueProof } from '../../../schema/contract/value-proofs.ts';
import type { Period } from '../../../schema/period.ts';
import { Rows, type Page } from '../../../platform/graph/connection.ts';
import type { Uuid } from '../../../platform/identifiers.ts';
import type { SqlEntityManager } from '../../../platform/postgres/database.ts';
import { newestFirst } from '../../../platform/postgres/newest-first.ts';
import { proofIn } from '../../../services/trust/signed-receipt.ts';

export type ValueProof = z.output<typeof valueProof>;

/** Which proofs; what is left out narrows nothing. */
export interface Wanted {
  readonly analysisId?: Uuid | undefined;
  readonly period?: Period | undefined;
}

const MATCHES =
  '(?::uuid is null or analysis_id = ?) and (?::timestamptz is null or created_at >= ?) and ' +
  '(?::timestamptz is null or created_at < ?)';

function valuesOf({ analysisId = undefined, period }: Wanted): unknown[] {
  const bounds = [analysisId, period?.from?.toISOString(), period?.until?.toISOString()];
  return bounds.flatMap((value) => [value ?? null, value ?? null]);
}

/** The proofs that row level security shows whoever `em` acts for. */
export class ValueProofStore {
  readonly #em: SqlEntityManager;

  constructor(em: SqlEntityManager) {
    this.#em = em;
  }

  /** Newest first, ties by id. */
  async list(wanted: Wanted, page: Page): Promise<Rows<ValueProof>> {
    const { condition, window } = newestFirst(page, { sql: 'billing.value_proofs', values: [] });
    const rows = await this.#em.execute<{ id: Uuid; receipt: string }[]>(
      `select id, signed_receipt as receipt from billing.value_proofs
       where ${MATCHES} and ${condition.sql} ${window.sql}`,
      [...valuesOf(wanted), ...condition.values, ...window.values],
    );
    return Rows.of(rows, page, ({ id }) => id).map(({ receipt }) => shown(receipt));
  }

  async count(wanted: Wanted): Promise<number> {
    const [row] = await this.#em.execute<[{ count: string }]>(
      `select count(*) from billing.value_proofs where ${MATCHES}`,
      valuesOf(wanted),
    );
    return Number(row.count);
  }

  /** By the analyses that have one. */
  async ofAnalyses(analysisIds: readonly Uuid[]): Promise<ReadonlyMap<Uuid, ValueProof>> {
    const rows = await this.#em.execute<{ id: Uuid; receipt: string }[]>(
      `select analysis_id as id, signed_receipt as receipt from billing.value_proofs
       where analysis_id = any(?::uuid[])`,
      [`{${analysisIds.join(',')}}`],
    );
    return new Map(rows.map(({ id, receipt }) => [id, shown(receipt)]));
  }
}

/** A proof as the graph shows it, read out of what was signed. */
function shown(receipt: string): ValueProof {
  const proof = fromRest(valueProof, proofIn(receipt)) as z.input<typeof valueProof>;
  return { ...proof, createdAt: new Date(proof.createdAt) };
}
