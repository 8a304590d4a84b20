import type { Environment } from '../../../schema/principal.ts';
import type { INVOICE_STATUSES, PAYMENT_METHODS } from '../../../schema/value-lists.ts';
import { Rows, type Page } from '../../../platform/graph/connection.ts';
import type { Uuid } from '../../../platform/identifiers.ts';
import type { SqlEntityManager } from '../../../platform/postgres/database.ts';
import { newestFirst } from '../../../platform/postgres/newest-first.ts';

export type InvoiceStatus = (typeof INVOICE_STATUSES)[number];

/** An invoice as it is stored. */
export interface Invoice {
  readonly id: Uuid;
  readonly accountId: Uuid;
  /** `YYYY-MM`. */
  readonly period: string;
  readonly currency: string;
  readonly status: InvoiceStatus;
  readonly billedTo: string | null;
  readonly analysesCount: number;
  readonly platformFeeCents: number;
  readonly floorFeeCents: number;
  readonly planFeeCents: number;
  readonly totalBilledCents: number;
  readonly createdAt: Date;
  /** `YYYY-MM-DD`. */
  readonly dueDate: string;
  readonly settledAt: Date | null;
  readonly paymentMethod: (typeof PAYMENT_METHODS)[number] | null;
}

const CENTS = ['platformFeeCents', 'floorFeeCents', 'planFeeCents', 'totalBilledCents'] as const;
type Row = Omit<Invoice, (typeof CENTS)[number] | 'createdAt' | 'settledAt'> &
  Readonly<Record<(typeof CENTS)[number] | 'createdAt', string>> & { readonly settledAt: string | null };

const COLUMNS = `id, account_id as "accountId", to_char(month, 'YYYY-MM') as period, currency, status,
  billed_to as "billedTo",
  analyses_count as "analysesCount", platform_fee_cents as "platformFeeCents", floor_fee_cents as "floorFeeCents",
  plan_fee_cents as "planFeeCents", total_billed_cents as "totalBilledCents",
  to_jsonb(created_at) #>> '{}' as "createdAt", to_char(due_date, 'YYYY-MM-DD') as "dueDate",
  to_jsonb(settled_at) #>> '{}' as "settledAt", payment_method as "paymentMethod"`;
const MATCHES = '(?::text is null or status = ?)';

/** The invoices of the account that `em` acts for; the sandbox has none. */
export class InvoiceStore {
  readonly #em: SqlEntityManager;
  readonly #visible: string;

  constructor(em: SqlEntityManager, environment: Environment) {
    this.#em = em;
    this.#visible = environment === 'live' ? 'true' : 'false';
  }

  /** Newest first, ties by id. */
  async list(status: InvoiceStatus | undefined, page: Page): Promise<Rows<Invoice>> {
    const { condition, window } = newestFirst(page, { sql: 'billing.invoices', values: [] });
    const rows = await this.#read(`${MATCHES} and ${condition.sql} ${window.sql}`, [
      status ?? null,
      status ?? null,
      ...condition.values,
      ...window.values,
    ]);
    return Rows.of(rows, page, ({ id }) => id);
  }

  async count(status: InvoiceStatus | undefined): Promise<number> {
    const [row] = await this.#em.execute<[{ count: string }]>(
      `select count(*) from billing.invoices where ${this.#visible} and ${MATCHES}`,
      [status ?? null, status ?? null],
    );
    return Number(row.count);
  }

  async find(id: Uuid): Promise<Invoice | null> {
    return (await this.#read('id = ?', [id]))[0] ?? null;
  }

  /** Held to the end of the transaction. */
  async lock(id: Uuid): Promise<Invoice | null> {
    return (await this.#read('id = ? for no key update', [id]))[0] ?? null;
  }

  /** Of a month, such as `2026-02`, in a currency; other periods have none. */
  async ofPeriod(period: string, currency: string): Promise<Invoice | null> {
    return (await this.#read(`to_char(month, 'YYYY-MM') = ? and currency = ?`, [period, currency]))[0] ?? null;
  }

  async #read(condition: string, values: readonly unknown[]): Promise<Invoice[]> {
    const rows = await this.#em.execute<Row[]>(
      `select ${COLUMNS} from billing.invoices where ${this.#visible} and ${condition}`,
      [...values],
    );
    return rows.map((row) => ({
      ...row,
      platformFeeCents: Number(row.platformFeeCents),
      floorFeeCents: Number(row.floorFeeCents),
      planFeeCents: Number(row.planFeeCents),
      totalBilledCents: Number(row.totalBilledCents),
      createdAt: new Date(row.createdAt),
      settledAt: row.settledAt === null ? null : new Date(row.settledAt),
    }));
  }
}
