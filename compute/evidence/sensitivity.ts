import type { EventTable, PathTable } from '../journey-tables.ts';
import { CAUSAL_MEMBERS } from '../models/causal/causal-result.ts';
import type { CausalMember } from '../models/causal/causal-result.ts';
import type { MemberWeights } from '../models/causal/stacking.ts';
import { sharesOf as positiveShares } from '../models/credits.ts';
import { runDominance } from '../models/dominance/dominance.ts';
import { runMarkov } from '../models/markov/markov.ts';
import { pravShare } from '../models/prav/prav-credit.ts';
import { runRelativeWeights } from '../models/relative-weights/relative-weights.ts';
import { runShapley } from '../models/shapley/shapley.ts';
import { seededRandom } from '../numerics/random.ts';
import type { ChannelCredits, Checkpoint, Failure } from '../outcome.ts';
import { DAY_S } from '../run-options.ts';
import type { RunOptions } from '../run-options.ts';
import { journeysAsPaths } from './journeys.ts';
import { dealt } from './path-deal.ts';
import { sampleUsers } from './user-sample.ts';

/** What it takes to ask a run's question again, a little differently. */
export interface SensitivityInput {
  readonly paths: PathTable;
  readonly events: EventTable | null;
  /** of the events' channels, which are the paths' too */
  readonly options: RunOptions;
  readonly model: 'causal' | CausalMember;
  /** of the causal model: its stacking weights, which are held; null for the others */
  readonly weights: MemberWeights | null;
  readonly seed: number;
}

/** How far the credit moves when the question changes a little. */
export interface SensitivityResult {
  readonly ok: true;
  /** ½·‖share − share′‖₁ of each perturbation, in [0, 1]; 1 where the model gives no answer any more */
  readonly distances: Readonly<Record<string, number>>;
  /** their mean */
  readonly mean: number;
}

/** One question that could have been asked as well. */
interface Question {
  readonly paths: PathTable;
  readonly events: EventTable | null;
  readonly options: RunOptions;
}

const LOOKBACK_CHANGE = 0.2;
const LEAST_USERS = 20_000;
const LEAST_PATHS = 20_000;
const LEAST_SHARE = 0.01;
const HANDS = 50;
/** A member of the causal model with less weight moves its shares by less than this. */
const LEAST_WEIGHT = 0.01;

/**
 * How far the shares move when the question changes a little, on a fixed sample: without the range's first day, without
 * its last, with a lookback a fifth shorter and a fifth longer. Aggregated paths know neither days nor lookback: a
 * random fiftieth of the journeys is left out, twice, and once every path forgets the oldest fifth of its steps.
 */
export function runSensitivity(input: SensitivityInput, checkpoint: Checkpoint): SensitivityResult | Failure {
  const perturbations =
    input.events === null
      ? questionsOfPaths(input)
      : questionsOfEvents(
          input,
          sampleUsers(input.events, LEAST_USERS, () => checkpoint(0)),
        );
  const known = new Map<string, Float64Array | null>();
  const [unperturbed, ...others] = perturbations.map(([name, question], index) => {
    const throwIfCancelled = (): void => checkpoint(index / perturbations.length);
    throwIfCancelled();
    return [name, sharesOf(input, question(), known, throwIfCancelled)] as const;
  });
  const base = unperturbed![1];
  const distances = Object.fromEntries(
    others.map(([name, share]) => [name, base === null || share === null ? 1 : distance(base, share)]),
  );
  const all = Object.values(distances);
  return { ok: true, distances, mean: all.reduce((sum, each) => sum + each, 0) / all.length };
}

type Perturbation = readonly [name: string, question: () => Question];

function questionsOfEvents({ options }: SensitivityInput, events: EventTable): Perturbation[] {
  const asked = (changes: Partial<RunOptions>) => (): Question => {
    const changed = { ...options, ...changes };
    const window = { startS: changed.rangeStartS, endS: changed.rangeEndS, lookbackS: changed.lookbackS };
    return { paths: journeysAsPaths(events, window), events, options: changed };
  };
  const { rangeStartS, rangeEndS, lookbackS } = options;
  // A range of one day has none to lose.
  const days: Perturbation[] =
    rangeEndS - rangeStartS > DAY_S
      ? [
          ['without_first_day', asked({ rangeStartS: rangeStartS + DAY_S })],
          ['without_last_day', asked({ rangeEndS: rangeEndS - DAY_S })],
        ]
      : [];
  return [
    ['as_asked', asked({})],
    ...days,
    ['shorter_lookback', asked({ lookbackS: lookbackS * (1 - LOOKBACK_CHANGE) })],
    ['longer_lookback', asked({ lookbackS: lookbackS * (1 + LOOKBACK_CHANGE) })],
  ];
}

function questionsOfPaths({ paths, options, seed }: SensitivityInput): Perturbation[] {
  const sample = samplePaths(paths, seed);
  const random = seededRandom(seed);
  const first = Array.from(sample.conversions, () => Math.floor(random() * HANDS));
  const without = (hand: number): PathTable => ({
    ...sample,
    conversions: sample.conversions.map((count, p) => count - dealt(count, hand, HANDS, first[p]!)),
    value: sample.value.map((amount, p) =>
      sample.conversions[p] === 0
        ? amount
        : (amount * (sample.conversions[p]! - dealt(sample.conversions[p]!, hand, HANDS, first[p]!))) /
          sample.conversions[p]!,
    ),
    nulls: sample.nulls.map((count, p) => count - dealt(count, hand, HANDS, first[p]!)),
  });
  const question = (table: () => PathTable) => (): Question => ({ paths: table(), events: null, options });
  return [
    ['as_asked', question(() => sample)],
    ['without_a_fiftieth', question(() => without(0))],
    ['without_another_fiftieth', question(() => without(1))],
    ['shorter_paths', question(() => shortened(sample))],
  ];
}

/** 1 % of the distinct paths or 20,000 of them, whichever is more. */
function samplePaths(paths: PathTable, seed: number): PathTable {
  const count = paths.conversions.length;
  const share = Math.max(LEAST_SHARE, LEAST_PATHS / count);
  if (share >= 1) return paths;
  const random = seededRandom(seed);
  const kept = Array.from({ length: count }, (_, p) => p).filter(() => random() < share);
  return selectSteps(paths, kept, (length) => length);
}

function shortened(paths: PathTable): PathTable {
  return selectSteps(paths, Array.from(paths.conversions.keys()), (length) =>
    Math.ceil(length * (1 - LOOKBACK_CHANGE)),
  );
}

/** The chosen paths with the last `keep(length)` of their steps. */
function selectSteps(
  { channels, offsets, steps, conversions, value, nulls }: PathTable,
  chosen: readonly number[],
  keep: (length: number) => number,
): PathTable {
  const ends = chosen.map((p) => offsets[p + 1]!);
  const lengths = chosen.map((p) => keep(offsets[p + 1]! - offsets[p]!));
  const starts = new Uint32Array(chosen.length + 1);
  lengths.forEach((length, i) => (starts[i + 1] = starts[i]! + length));
  const selected = new Uint16Array(starts[chosen.length]!);
  chosen.forEach((_, i) => selected.set(steps.subarray(ends[i]! - lengths[i]!, ends[i]!), starts[i]));
  const pick = (column: Float64Array): Float64Array => Float64Array.from(chosen, (p) => column[p]!);
  return {
    channels,
    offsets: starts,
    steps: selected,
    conversions: pick(conversions),
    value: pick(value),
    nulls: pick(nulls),
  };
}

/** Shares of the run's model on one question, over the tables' channels; null where it gives no answer. */
function sharesOf(
  input: SensitivityInput,
  question: Question,
  known: Map<string, Float64Array | null>,
  throwIfCancelled: () => void,
): Float64Array | null {
  const { weights } = input;
  if (weights === null) return memberShare(input.model as CausalMember, input, question, known, throwIfCancelled);
  const blended = new Float64Array(question.paths.channels.length);
  let weighed = 0;
  for (const member of CAUSAL_MEMBERS) {
    if (weights[member] < LEAST_WEIGHT) continue;
    const share = memberShare(member, input, question, known, throwIfCancelled);
    if (share === null) continue;
    weighed += weights[member];
    const ofPaid = positiveShares(share.map((part, c) => (question.options.isBaseline[c] === 1 ? 0 : part)));
    ofPaid.forEach((part, c) => (blended[c]! += weights[member] * part));
  }
  return weighed === 0 ? null : blended.map((part) => part / weighed);
}

function memberShare(
  member: CausalMember,
  { seed }: SensitivityInput,
  { paths, events, options }: Question,
  known: Map<string, Float64Array | null>,
  throwIfCancelled: () => void,
): Float64Array | null {
  const replication = { confidenceLevel: options.confidenceLevel, seed, creditAlone: true };
  const share = (outcome: ({ readonly ok: true } & ChannelCredits) | Failure): Float64Array | null =>
    outcome.ok ? outcome.share : null;
  switch (member) {
    case 'markov':
      return share(runMarkov(paths, options.markovOrder, replication, throwIfCancelled));
    case 'shapley':
      return share(runShapley(paths, replication, throwIfCancelled));
    case 'dominance':
      return share(runDominance(paths, replication, throwIfCancelled));
    case 'rwa':
      return share(runRelativeWeights(paths, replication, throwIfCancelled));
    case 'prav': {
      // The lookback means nothing to PRAV.
      const key = `${options.rangeStartS}/${options.rangeEndS}`;
      if (!known.has(key)) known.set(key, events === null ? null : pravShare(events, options, throwIfCancelled));
      return known.get(key)!;
    }
  }
}

function distance(one: Float64Array, other: Float64Array): number {
  let sum = 0;
  for (let c = 0; c < one.length; c++) sum += Math.abs(one[c]! - other[c]!);
  return Math.min(1, sum / 2);
}
