import type { Environment } from '../../../schema/principal.ts';
import type { OFFERED_PLANS } from '../../../schema/contract/subscriptions.ts';
import type { SUBSCRIPTION_STATUSES } from '../../../schema/value-lists.ts';
import type { Uuid } from '../../../platform/identifiers.ts';
import type { SqlEntityManager } from '../../../platform/postgres/database.ts';
import type { PaymentMethod } from './payment-provider.ts';

export type OfferedPlan = (typeof OFFERED_PLANS)[number];

/** A subscription as it is stored. */
export interface Subscription {
  readonly id: Uuid;
  readonly accountId: Uuid;
  readonly environment: Environment;
  readonly workspaceId: Uuid | null;
  readonly planId: OfferedPlan;
  readonly status: (typeof SUBSCRIPTION_STATUSES)[number];
  readonly paymentMethod: PaymentMethod['type'];
  /** Price of a period. */
  readonly amountCents: bigint;
  readonly startedAt: Date;
  /** Periods are counted from here; null where there are none. */
  readonly anchorAt: Date | null;
  /** Renewals since the anchor. */
  readonly periods: number;
  readonly periodStart: Date | null;
  readonly periodEnd: Date | null;
  /** Of a trial, also when another plan has followed it. */
  readonly trialEndsAt: Date | null;
  /** Plan of the account when the period ends; null renews. */
  readonly nextPlan: OfferedPlan | null;
  /** That its period stands on; null until its month is closed. */
  readonly invoiceId: Uuid | null;
}

const MOMENTS = ['startedAt', 'anchorAt', 'periodStart', 'periodEnd', 'trialEndsAt'] as const;
type Row = Omit<Subscription, 'amountCents' | (typeof MOMENTS)[number]> &
  Readonly<Record<(typeof MOMENTS)[number], string | null>> & { readonly amountCents: string };

const at = (column: string, name: string): string => `to_jsonb(${column}) #>> '{}' as "${name}"`;
const COLUMNS = [
  'id',
  'account_id as "accountId"',
  'environment',
  'for_workspace as "workspaceId"',
  'plan as "planId"',
  'status',
  'payment_method as "paymentMethod"',
  'amount_cents as "amountCents"',
  at('started_at', 'startedAt'),
  at('anchor_at', 'anchorAt'),
  'periods',
  at('period_start', 'periodStart'),
  at('period_end', 'periodEnd'),
  at('trial_ends_at', 'trialEndsAt'),
  'next_plan as "nextPlan"',
  // Of the month in which its period was charged, once that is closed.
  `(select invoice.id from billing.plan_charges charge join billing.invoices invoice
      on invoice.account_id = charge.account_id and invoice.currency = charge.currency
      and invoice.month = date_trunc('month', charge.charged_at at time zone 'UTC')::date
    where charge.subscription_id = subscriptions.id and charge.period_start = subscriptions.period_start)
    as "invoiceId"`,
].join(', ');

const IN_FORCE = `status in ('trialing', 'active', 'past_due')`;

/** The subscriptions of the account and environment that `em` acts for. */
export class SubscriptionStore {
  readonly #em: SqlEntityManager;

  constructor(em: SqlEntityManager) {
    this.#em = em;
  }

  inForce(): Promise<Subscription | null> {
    return this.#one(`where ${IN_FORCE}`);
  }

  pending(): Promise<Subscription | null> {
    return this.#one(`where status = 'pending'`);
  }

  /** The one to be shown: that counts, else that waits, else that ended last. */
  latest(): Promise<Subscription | null> {
    return this.#one(`order by ${IN_FORCE} desc, status = 'pending' desc, started_at desc, id desc limit 1`);
  }

  find(id: Uuid): Promise<Subscription | null> {
    return this.#one('where id = ?', [id]);
  }

  /** Held to the end of the transaction. */
  lock(id: Uuid): Promise<Subscription | null> {
    return this.#one('where id = ? for no key update', [id]);
  }

  async hadTrial(): Promise<boolean> {
    return (await this.#one('where trial_ends_at is not null limit 1')) !== null;
  }

  async add(subscription: Subscription): Promise<void> {
    const { id, accountId, environment, workspaceId, planId, status, paymentMethod, amountCents } = subscription;
    const { periods, nextPlan } = subscription;
    await this.#em.execute(
      `insert into billing.subscriptions (id, account_id, environment, for_workspace, plan, status, payment_method,
         amount_cents, periods, next_plan, started_at, anchor_at, period_start, period_end,
         trial_ends_at) values (?, ?, ?, ?, ?, ?, ?, ?::bigint, ?, ?, ?, ?, ?, ?, ?)`,
      [
        id,
        accountId,
        environment,
        workspaceId,
        planId,
        status,
        paymentMethod,
        String(amountCents),
        periods,
        nextPlan,
      ].concat(momentsOf(subscription)),
    );
  }

  /** Writes what can change. */
  async keep(subscription: Subscription): Promise<void> {
    const { id, planId, status, amountCents, periods, nextPlan } = subscription;
    await this.#em.execute(
      `update billing.subscriptions set plan = ?, status = ?, amount_cents = ?::bigint, periods = ?, next_plan = ?,
         started_at = ?, anchor_at = ?, period_start = ?, period_end = ?, trial_ends_at = ?,
         ended_at = case when ? = 'canceled' then auth.clock() end where id = ?`,
      [planId, status, String(amountCents), periods, nextPlan, ...momentsOf(subscription), status, id],
    );
  }

  async #one(which: string, values: readonly unknown[] = []): Promise<Subscription | null> {
    const [row] = await this.#em.execute<Row[]>(`select ${COLUMNS} from billing.subscriptions ${which}`, [...values]);
    if (row === undefined) return null;
    const date = (text: string | null): Date | null => (text === null ? null : new Date(text));
    return {
      ...row,
      amountCents: BigInt(row.amountCents),
      startedAt: new Date(row.startedAt!),
      anchorAt: date(row.anchorAt),
      periodStart: date(row.periodStart),
      periodEnd: date(row.periodEnd),
      trialEndsAt: date(row.trialEndsAt),
    };
  }
}

function momentsOf(subscription: Subscription): (string | null)[] {
  return MOMENTS.map((name) => subscription[name]?.toISOString() ?? null);
}
