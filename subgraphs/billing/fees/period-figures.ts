import type { Environment } from '../../../schema/principal.ts';
import type { Period } from '../../../schema/period.ts';
import { FLOOR_BELOW_CENTS } from '../../../schema/platform-fee.ts';
import type { SqlEntityManager } from '../../../platform/postgres/database.ts';
import { USUAL_CURRENCY } from '../ledger/ledger.ts';

/** What completed live analyses come to. */
export interface Figures {
  readonly analyses: number;
  /** Those that cost something. */
  readonly billable: number;
  /** Repetitions apart. */
  readonly deltaRCents: bigint;
  /** Fees that are the share of the recovered revenue. */
  readonly platformFeeCents: bigint;
  /** Fees that are the floor. */
  readonly floorFeeCents: bigint;
}

/** The figures of a period in one currency. */
export interface PeriodFigures extends Figures {
  readonly currency: string;
  /** Others that have figures, in the order of the alphabet. */
  readonly otherCurrencies: readonly string[];
  readonly planFeeCents: bigint;
  /** The dearest first; the model is null where it was not kept. */
  readonly byModel: readonly (Figures & { readonly model: string | null })[];
}

interface Row {
  readonly currency: string;
  readonly model: string | null;
  readonly analyses: string;
  readonly billable: string;
  readonly delta: string;
  readonly fees: string;
  readonly floors: string;
  readonly plans: string;
}

const IN_PERIOD = '(?::timestamptz is null or charged_at >= ?) and (?::timestamptz is null or charged_at < ?)';

/**
 * The figures of a period, of the charges that row level security shows: of a workspace only those made there. In the
 * currency that is wanted, else in the one with the most charges. The sandbox has none.
 */
export async function periodFigures(
  em: SqlEntityManager,
  environment: Environment,
  period: Period,
  wanted?: string,
): Promise<PeriodFigures> {
  const bounds = [period.from, period.until].flatMap((bound) => Array(2).fill(bound?.toISOString() ?? null));
  const rows =
    environment === 'sandbox'
      ? []
      : await em.execute<Row[]>(
          `select coalesce(currency, '${USUAL_CURRENCY}') as currency, model, count(*) as analyses,
             count(*) filter (where fee_cents > 0) as billable,
             coalesce(sum(delta_r_cents) filter (where repeats is null), 0) as delta,
             coalesce(sum(fee_cents) filter (where delta_r_cents >= ${FLOOR_BELOW_CENTS}), 0) as fees,
             coalesce(sum(fee_cents) filter (where delta_r_cents < ${FLOOR_BELOW_CENTS}), 0) as floors, 0 as plans
           from billing.charges where ${IN_PERIOD} group by 1, 2
           union all
           select currency, null, 0, 0, 0, 0, 0, sum(amount_cents) from billing.plan_charges where ${IN_PERIOD}
           group by currency`,
          [...bounds, ...bounds],
        );
  const currency = wanted ?? busiest(rows);
  const own = rows.filter((row) => row.currency === currency);
  const byModel = [
    ...Map.groupBy(
      own.filter(({ analyses }) => Number(analyses) > 0),
      ({ model }) => model,
    ),
  ];
  return {
    ...figuresOf(own),
    currency,
    otherCurrencies: [...new Set(rows.map((row) => row.currency))].filter((other) => other !== currency).toSorted(),
    planFeeCents: own.reduce((sum, { plans }) => sum + BigInt(plans), 0n),
    byModel: byModel
      .map(([model, rowsOfModel]) => ({ model, ...figuresOf(rowsOfModel) }))
      .toSorted((one, other) => compare(feesOf(other), feesOf(one)) || compare(one.model ?? '~', other.model ?? '~')),
  };
}

/** Fees of analyses, floors included. */
export const feesOf = ({ platformFeeCents, floorFeeCents }: Figures): bigint => platformFeeCents + floorFeeCents;

/** The currency with the most charges; of several the first in the alphabet. */
function busiest(rows: readonly Row[]): string {
  const counts = Map.groupBy(rows, ({ currency }) => currency);
  const [first] = [...counts]
    .map(([currency, own]) => ({ currency, count: own.reduce((sum, { analyses }) => sum + Number(analyses), 0) }))
    .toSorted((one, other) => other.count - one.count || compare(one.currency, other.currency));
  return first?.currency ?? USUAL_CURRENCY;
}

function figuresOf(rows: readonly Row[]): Figures {
  const sum = (of: (row: Row) => string): bigint => rows.reduce((total, row) => total + BigInt(of(row)), 0n);
  return {
    analyses: Number(sum(({ analyses }) => analyses)),
    billable: Number(sum(({ billable }) => billable)),
    deltaRCents: sum(({ delta }) => delta),
    platformFeeCents: sum(({ fees }) => fees),
    floorFeeCents: sum(({ floors }) => floors),
  };
}

function compare<Value extends string | bigint>(one: Value, other: Value): number {
  return one < other ? -1 : Number(one > other);
}

/** Cents as answers show them: up to the largest number that readers can tell from the next. */
export function shownCents(value: bigint): number {
  const most = BigInt(Number.MAX_SAFE_INTEGER);
  return Number(value > most ? most : value);
}
