import { aligner } from '../models/causal/channel-alignment.ts';
import { CAUSAL_MEMBERS } from '../models/causal/causal-result.ts';
import type { CausalMember, CausalResult } from '../models/causal/causal-result.ts';
import { sharesOf } from '../models/credits.ts';
import { failure } from '../outcome.ts';
import type { ChannelCredits, Failure } from '../outcome.ts';
import { secondCredit } from './second-credit.ts';
import type { CreditWitness, RunOutcomes } from './second-credit.ts';
import { semanticEntropy } from './semantic-entropy.ts';

/** What a second look at a run's credit needs. */
export interface ScrutinyInput {
  readonly model: 'causal' | CausalMember;
  readonly outcomes: RunOutcomes;
  readonly witness: CreditWitness;
  readonly seed: number;
}

/** What the outcomes of the models say of each other, and of themselves. */
export interface ScrutinyResult {
  readonly ok: true;
  readonly semanticEntropy: number;
  /**
   * mean over the pairs of Markov, Shapley and PRAV that ran of ½·‖share_a − share_b‖₁ over the paid channels; 1 where
   * there is no pair
   */
  readonly disagreement: number;
  /** credited revenue by a second derivation, by channel; null where the model's identity does not hold */
  readonly secondCredit: { readonly channels: readonly string[]; readonly value: Float64Array } | null;
}

const WITNESSES = ['markov', 'shapley', 'prav'] as const;

/** Looks at the credit of one model beside that of the others. `invalid_input` where the model gave none. */
export function runScrutiny({ model, outcomes, witness, seed }: ScrutinyInput): ScrutinyResult | Failure {
  const outcome = outcomes[model];
  if (!outcome.ok) return failure('invalid_input', `${model} gave no credit to look at.`);
  const replicated = replicatesOf(model, outcomes);
  const value = secondCredit(model, outcomes, witness);
  return {
    ok: true,
    semanticEntropy: semanticEntropy(
      { value: outcome.value, ...replicated, intervalLow: outcome.intervalLow, intervalHigh: outcome.intervalHigh },
      seed,
    ),
    disagreement: disagreement(outcomes, witness.baseline),
    secondCredit: value === null ? null : { channels: outcome.channels, value },
  };
}

function replicatesOf(
  model: 'causal' | CausalMember,
  outcomes: RunOutcomes,
): { readonly replicates: Float64Array; readonly groups: number } {
  if (model !== 'causal') {
    const outcome = outcomes[model];
    return outcome.ok ? outcome : { replicates: new Float64Array(0), groups: 0 };
  }
  if (!outcomes.causal.ok) return { replicates: new Float64Array(0), groups: 0 };
  return outcomes.causal.groups > 0 ? outcomes.causal : blendedReplicates(outcomes.causal, outcomes);
}

/**
 * On prior weights the causal model has no replicates of its own: those of its members, blended by the same weights.
 */
function blendedReplicates(
  causal: CausalResult,
  outcomes: RunOutcomes,
): { readonly replicates: Float64Array; readonly groups: number } {
  const members = CAUSAL_MEMBERS.flatMap((member) => {
    const outcome = outcomes[member];
    return outcome.ok && causal.weights[member] > 0 ? [{ outcome, weight: causal.weights[member] }] : [];
  });
  const groups = Math.min(...members.map(({ outcome }) => outcome.groups));
  if (!Number.isFinite(groups)) return { replicates: new Float64Array(0), groups: 0 };
  const size = causal.channels.length;
  const isPaid = causal.confidence.map((_, c) => (causal.value[c]! > 0 ? 1 : 0));
  const replicates = new Float64Array(groups * size);
  for (const { outcome, weight } of members) {
    const aligned = aligner(causal.channels, outcome.channels)(outcome.replicates, groups);
    for (let g = 0; g < groups; g++) {
      const share = sharesOf(aligned.slice(g * size, (g + 1) * size).map((part, c) => part * isPaid[c]!));
      share.forEach((part, c) => (replicates[g * size + c]! += weight * part * causal.incrementalRevenue));
    }
  }
  return { replicates, groups };
}

function disagreement(outcomes: RunOutcomes, baseline: ReadonlySet<string>): number {
  const present = WITNESSES.flatMap((model) => {
    const outcome: ({ readonly ok: true } & ChannelCredits) | Failure = outcomes[model];
    return outcome.ok ? [outcome] : [];
  });
  const channels = present[0]?.channels ?? [];
  const shares = present.map((outcome) =>
    sharesOf(
      aligner(channels, outcome.channels)(outcome.share).map((part, c) => (baseline.has(channels[c]!) ? 0 : part)),
    ),
  );
  const distances = shares.flatMap((one, i) =>
    shares.slice(i + 1).map((other) => one.reduce((sum, part, c) => sum + Math.abs(part - other[c]!), 0) / 2),
  );
  return distances.length === 0 ? 1 : Math.min(1, distances.reduce((sum, each) => sum + each, 0) / distances.length);
}
