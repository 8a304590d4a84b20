import { RATIO_DIGITS, roundAll } from '../../../../schema/shown-figures.ts';
import type { AttributionModel } from './attribution.ts';
import type { StageEvent } from '../../runs/run-progress.ts';
import type { ModelOutcomes } from './compose-figures.ts';
import type { AnalysisDiagnostics } from './figures.ts';

type MemberModel = Exclude<keyof ModelOutcomes, 'causal'>;
type Report = Readonly<Record<string, unknown>>;

/** What each model says of itself, and what the reader of `model` should be warned of. */
export function modelDiagnostics(
  model: AttributionModel,
  outcomes: ModelOutcomes,
): {
  readonly models: Report;
  readonly warnings: readonly string[];
  readonly iterations: number;
  readonly converged: boolean;
} {
  const { markov, shapley, dominance, rwa, prav, causal } = outcomes;
  const byChannel = (channels: readonly string[], column: Float64Array | Int8Array): Report =>
    Object.fromEntries(channels.map((channel, index) => [channel, column[index]!]));
  const association = (outcome: typeof dominance | typeof rwa): Report =>
    outcome.ok
      ? {
          r2: outcome.conversionOutcome.r2,
          r2_value: outcome.valueOutcome.r2,
          weight: byChannel(outcome.channels, outcome.conversionOutcome.weight),
          sign: byChannel(outcome.channels, outcome.conversionOutcome.sign),
          exact: outcome.exact,
          ...(outcome.exact
            ? {}
            : {
                orderings: outcome.evaluations,
                standard_error: byChannel(outcome.channels, outcome.conversionOutcome.standardError),
              }),
        }
      : refusal(outcome);

  const models: Report = {
    markov: markov.ok
      ? {
          order: markov.order,
          states: markov.states,
          exact: markov.converged,
          conversion_probability: markov.probability,
          expected_value: markov.expectedValue,
          removal_effect: byChannel(markov.channels, markov.removalEffect),
        }
      : refusal(markov),
    shapley: shapley.ok ? { exact: true } : refusal(shapley),
    dominance: association(dominance),
    rwa: association(rwa),
    prav: prav.ok
      ? {
          estimator: prav.estimator,
          kappa: prav.kappa,
          kappa_range: prav.kappaRange,
          estimation_end: new Date(prav.estimationEndS * 1000).toISOString(),
          average_order_value: prav.averageOrderValue,
          exposures: byChannel(prav.channels, prav.exposures),
          touches: byChannel(prav.channels, prav.touches),
          lift_per_touch: byChannel(prav.channels, prav.lift),
          pull_on_unpaid_visits: byChannel(prav.channels, prav.pull),
          visits_brought_per_touch: byChannel(prav.channels, prav.halo),
          ad_stock: prav.adStock,
          restraint: prav.restraint,
          claimed: prav.claimed,
          effect_per_touch: byChannel(prav.channels, prav.effect),
          standard_error: byChannel(prav.channels, prav.standardError),
        }
      : refusal(prav),
    causal: causal.ok
      ? {
          basis: causal.basis,
          weights: causal.weights,
          kappa: causal.kappa,
          model_credit: byChannel(causal.channels, causal.modelCredit),
          spend_weight: byChannel(causal.channels, causal.spendWeight),
          incremental_revenue: causal.incrementalRevenue,
          incremental_conversions: causal.incrementalConversions,
          delta_r_interval_cents: [causal.deltaR.lowCents, causal.deltaR.highCents],
        }
      : refusal(causal),
  };

  const asked = outcomes[model];
  const memberWarnings =
    model === 'causal'
      ? [markov, shapley, dominance, rwa, prav].flatMap((outcome) => (outcome.ok ? outcome.warnings : []))
      : [];
  const warnings = [...new Set([...(asked.ok ? asked.warnings : []), ...memberWarnings])];
  return { models, warnings, iterations: markov.ok ? markov.iterations : 0, converged: !markov.ok || markov.converged };
}

/** Amounts of money among what models report; everything else is a count, a share or a ratio. */
const MONEY: ReadonlySet<string> = new Set([
  'markov.expected_value',
  'prav.average_order_value',
  'prav.standard_error',
  'causal.model_credit',
  'causal.incremental_revenue',
]);
const MONEY_DIGITS = 2;

/** Tests of the channels that are shown; an unpaid one that was held out as a placebo concerns them all. */
export const shownTests = (
  tests: NonNullable<AnalysisDiagnostics['tests']>,
  isShown: (channel: string) => boolean,
): NonNullable<AnalysisDiagnostics['tests']> =>
  tests.filter(({ code, channel }) => code === 'held_out_placebo' || channel === null || isShown(channel));

/** The reports as they are shown. They are kept as they were computed, since the digest of a run covers them. */
export function shownModels(models: Report): Report {
  return Object.fromEntries(
    Object.entries(models).map(([model, report]) => [
      model,
      Object.fromEntries(
        Object.entries(report as Report).map(([name, value]) => [
          name,
          roundAll(value, MONEY.has(`${model}.${name}`) ? MONEY_DIGITS : RATIO_DIGITS),
        ]),
      ),
    ]),
  );
}

/** How a member that iterates did: the chain's solver, and dominance where it samples orderings. */
export function convergenceOf(outcome: ModelOutcomes[MemberModel]): Pick<StageEvent, 'iteration' | 'converged'> {
  if (!outcome.ok) return {};
  if (outcome.model === 'markov') return { iteration: outcome.iterations, converged: outcome.converged };
  return outcome.model === 'dominance' && !outcome.exact ? { iteration: outcome.evaluations } : {};
}

function refusal(outcome: { readonly code: string; readonly message: string }): Report {
  return { code: outcome.code, message: outcome.message };
}
