import type { z } from 'zod';
import type { commission, commissionFilter } from '../../../schema/contract/commissions.ts';
import type { Environment } from '../../../schema/principal.ts';
import type { Period } from '../../../schema/period.ts';
import { Rows, type Page } from '../../../platform/graph/connection.ts';
import type { Uuid } from '../../../platform/identifiers.ts';
import type { SqlEntityManager } from '../../../platform/postgres/database.ts';
import { newestFirst } from '../../../platform/postgres/newest-first.ts';
import { USUAL_CURRENCY } from '../ledger/ledger.ts';
import { COMMISSION_COLUMNS, commissionOf, type Commission, type CommissionRow } from './commission-entry.ts';

/** An entry and what became of it. */
export interface SettledCommission extends Commission {
  readonly status: z.output<typeof commission>['status'];
  readonly paidAt: Date | null;
}

/** Which entries; what is left out narrows nothing. */
export interface Wanted extends Pick<z.output<typeof commissionFilter>, 'status' | 'type'> {
  readonly period: Period;
}

/** What was earned in a period, in one currency. */
export interface EarnedTotals {
  readonly totalEarnedCents: number;
  readonly totalProvisionalCents: number;
  readonly currency: string;
  readonly otherCurrencies: string[];
}

/** Entries of the session's account with their payment; an entry that takes another back goes the same way. */
const SETTLED = `(
  select c.*, payout.paid_at,
    case
      when c.reverses is not null or exists (select from billing.commissions taken where taken.reverses = c.id)
        then 'reversed'
      when payout.paid_at is not null then 'paid'
      when c.payable_at <= auth.clock() then 'payable'
      else 'provisional'
    end as status
  from billing.commissions c
  left join billing.paid_commissions paid on paid.commission_id = c.id
  left join billing.payouts payout on payout.id = paid.payout_id
) c`;

const IN_PERIOD = '(?::timestamptz is null or c.created_at >= ?) and (?::timestamptz is null or c.created_at < ?)';
const MATCHES = `${IN_PERIOD} and (?::text is null or c.status = ?) and (?::text is null or c.type = ?)`;

const twice = (values: readonly unknown[]): unknown[] => values.flatMap((value) => [value ?? null, value ?? null]);
const boundsOf = ({ from, until }: Period): unknown[] => twice([from?.toISOString(), until?.toISOString()]);
const valuesOf = ({ period, status, type }: Wanted): unknown[] => [...boundsOf(period), ...twice([status, type])];

const SETTLED_COLUMNS = `${COMMISSION_COLUMNS}, c.status, to_jsonb(c.paid_at) #>> '{}' as paid`;
type SettledRow = CommissionRow & { readonly status: SettledCommission['status']; readonly paid: string | null };

function settledOf(row: SettledRow): SettledCommission {
  return { ...commissionOf(row), status: row.status, paidAt: row.paid === null ? null : new Date(row.paid) };
}

/**
 * The commission ledger of the account that `em` acts for; row level security shows no other. It is earned on live
 * data, and a test key is for people who shall not see that: in the sandbox there is none.
 */
export class CommissionStore {
  readonly #em: SqlEntityManager;
  readonly #visible: string;

  constructor(em: SqlEntityManager, environment: Environment) {
    this.#em = em;
    this.#visible = environment === 'live' ? 'true' : 'false';
  }

  /** Newest first, ties by id. */
  async list(wanted: Wanted, page: Page): Promise<Rows<SettledCommission>> {
    const { condition, window } = newestFirst(page, { sql: 'billing.commissions', values: [] });
    const rows = await this.#em.execute<SettledRow[]>(
      `select ${SETTLED_COLUMNS} from ${SETTLED}
       where ${this.#visible} and ${MATCHES} and ${condition.sql} ${window.sql}`,
      [...valuesOf(wanted), ...condition.values, ...window.values],
    );
    return Rows.of(rows, page, ({ id }) => id).map(settledOf);
  }

  async find(id: Uuid): Promise<SettledCommission | null> {
    const rows = await this.#em.execute<SettledRow[]>(
      `select ${SETTLED_COLUMNS} from ${SETTLED} where ${this.#visible} and c.id = ?`,
      [id],
    );
    return rows[0] === undefined ? null : settledOf(rows[0]);
  }

  async count(wanted: Wanted): Promise<number> {
    const [row] = await this.#em.execute<[{ count: string }]>(
      `select count(*) from ${SETTLED} where ${this.#visible} and ${MATCHES}`,
      valuesOf(wanted),
    );
    return Number(row.count);
  }

  /** @param asked the currency; that of most entries of the period when absent */
  async totals(period: Period, asked: string | undefined): Promise<EarnedTotals> {
    const rows = await this.#em.execute<{ currency: string; earned: string; provisional: string }[]>(
      `select c.currency, sum(c.amount_cents) as earned,
         coalesce(sum(c.amount_cents) filter (where c.status = 'provisional'), 0) as provisional
       from ${SETTLED} where ${this.#visible} and ${IN_PERIOD} group by c.currency order by count(*) desc, c.currency`,
      boundsOf(period),
    );
    const currency = asked ?? rows[0]?.currency ?? USUAL_CURRENCY;
    const row = rows.find((each) => each.currency === currency);
    return {
      totalEarnedCents: Number(row?.earned ?? 0),
      totalProvisionalCents: Number(row?.provisional ?? 0),
      currency,
      otherCurrencies: rows.map((each) => each.currency).filter((each) => each !== currency),
    };
  }

  /** The first day of the next month, by the clock of the database: payday. */
  async nextPayout(): Promise<string> {
    const [row] = await this.#em.execute<[{ day: string }]>(
      `select to_char((auth.clock() - interval '2 hours') at time zone 'UTC' + interval '1 month', 'YYYY-MM-01')
         as day`,
    );
    return row.day;
  }
}
