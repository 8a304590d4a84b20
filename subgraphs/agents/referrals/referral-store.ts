import type { z } from 'zod';
import type { referralFilter } from '../../../schema/contract/referrals.ts';
import type { REFERRAL_STATUSES } from '../../../schema/value-lists.ts';
import type { Environment } from '../../../schema/principal.ts';
import type { Uuid } from '../../../platform/identifiers.ts';
import type { SqlEntityManager } from '../../../platform/postgres/database.ts';
import { Rows, type Page } from '../../../platform/graph/connection.ts';
import { COMMISSION_MONTHS } from '../../../schema/commission-months.ts';
import { newestFirst } from '../../../platform/postgres/newest-first.ts';

export type ReferralStatus = (typeof REFERRAL_STATUSES)[number];

/** A referral as its referrer sees it. */
export interface Referral {
  readonly referredAgentId: Uuid;
  readonly referredAgentName: string;
  readonly chainDepth: 1 | 2;
  readonly status: ReferralStatus;
  readonly accumulatedDeltaRCents: number;
  /** In USD: earned less taken back. */
  readonly commissionEarnedCents: number;
  readonly createdAt: Date;
  readonly activatedAt: Date | null;
  /** When its commissions end. */
  readonly expiresAt: Date | null;
}

type ReferralFilter = z.output<typeof referralFilter>;

const moment = (column: string): string => `to_jsonb(${column}) #>> '{}'`;
const MATCHES = `(?::text is null or status = ?) and (?::int is null or chain_depth = ?)`;

interface Row {
  readonly referred_id: Uuid;
  readonly name: string;
  readonly chain_depth: 1 | 2;
  readonly status: ReferralStatus;
  readonly cents: string;
  readonly earned: string;
  readonly created: string;
  readonly activated: string | null;
  readonly expires: string | null;
}

/**
 * The referrals of the account that `em` acts for; row level security shows no others. They are earned on live data,
 * and a test key is for people who shall not see that: in the sandbox there are none.
 */
export class ReferralStore {
  readonly #em: SqlEntityManager;
  readonly #visible: string;

  constructor(em: SqlEntityManager, environment: Environment) {
    this.#em = em;
    this.#visible = environment === 'live' ? 'true' : 'false';
  }

  /** Newest first, ties by id. */
  async list(filter: ReferralFilter, page: Page): Promise<Rows<Referral>> {
    const { condition, window, order } = newestFirst(page, { sql: 'agents.referrals', values: [] }, 'referred_id');
    const rows = await this.#em.execute<Row[]>(
      `select r.referred_id, face.name, r.chain_depth, r.status, r.accumulated_delta_r_cents as cents,
        billing.earned_from(r.referrer_id, r.referred_id, r.chain_depth) as earned,
        ${moment('r.created_at')} as created, ${moment('r.activated_at')} as activated,
              ${moment(`r.activated_at + interval '${COMMISSION_MONTHS} months'`)} as expires
       from (select * from agents.referrals
         where ${this.#visible} and ${MATCHES} and ${condition.sql} ${window.sql}) r
       cross join lateral agents.public_face(r.referred_id) face
       ${order.replaceAll(/(created_at|referred_id)/g, 'r.$1')}`,
      [...valuesOf(filter), ...condition.values, ...window.values],
    );
    const found = rows.map((row) => ({
      referredAgentId: row.referred_id,
      referredAgentName: row.name,
      chainDepth: row.chain_depth,
      status: row.status,
      accumulatedDeltaRCents: Number(row.cents),
      commissionEarnedCents: Number(row.earned),
      createdAt: new Date(row.created),
      activatedAt: dateOf(row.activated),
      expiresAt: dateOf(row.expires),
    }));
    return Rows.of(found, page, ({ referredAgentId }) => referredAgentId);
  }

  async count(filter: ReferralFilter): Promise<number> {
    const [row] = await this.#em.execute<[{ count: string }]>(
      `select count(*) from agents.referrals where ${this.#visible} and ${MATCHES}`,
      valuesOf(filter),
    );
    return Number(row.count);
  }

  /** How many there are of each status. */
  async totals(): Promise<Readonly<Record<ReferralStatus, number>>> {
    const rows = await this.#em.execute<{ status: ReferralStatus; count: string }[]>(
      `select status, count(*) from agents.referrals where ${this.#visible} group by status`,
    );
    return {
      pending: 0,
      active: 0,
      churned: 0,
      ...Object.fromEntries(rows.map(({ status, count }) => [status, Number(count)])),
    };
  }
}

function valuesOf({ status, depth }: ReferralFilter): unknown[] {
  return [status ?? null, status ?? null, depth ?? null, depth ?? null];
}

function dateOf(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}
