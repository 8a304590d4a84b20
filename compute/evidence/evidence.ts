import type { EventTable, PathTable } from '../journey-tables.ts';
import { seededRandom } from '../numerics/random.ts';
import { insufficientData } from '../outcome.ts';
import type { Checkpoint, Failure } from '../outcome.ts';
import { absorption } from './absorption.ts';
import { calibrationError, FOLDS } from './calibration.ts';
import { JourneySums } from './journey-sums.ts';
import { eachJourney } from './journeys.ts';
import type { JourneyWindow } from './journeys.ts';
import { dealPaths } from './path-deal.ts';
import { statesOf, touchesOfPaths } from './states.ts';
import type { States } from './states.ts';
import { addJourney, divergence, emptyTransitions, perplexityAnomaly } from './transitions.ts';
import type { Transitions } from './transitions.ts';
import { sampleUsers } from './user-sample.ts';

/** What a window is compared with. */
export type ReferenceKind =
  /** the window of equal length just before it */
  | 'preceding_window'
  /** the source holds nothing before: the window's second half against its first */
  | 'first_half'
  /** the source knows no times: two halves dealt at random, so that only sampling noise is left */
  | 'random_halves';

/** A run as the evidence task reads it: its tables, its range and its outcomes. */
export interface EvidenceInput {
  /** both tables carry the same list of channels */
  readonly paths: PathTable;
  /** null: a source of aggregated paths, without users and times */
  readonly events: EventTable | null;
  readonly rangeStartS: number;
  /** exclusive */
  readonly rangeEndS: number;
  readonly lookbackS: number;
  /** where the source's preceding window is to be found; null: the source holds nothing before the range */
  readonly preceding: { readonly events: EventTable } | 'in_events' | null;
  readonly seed: number;
}

const PATHS_PER_CHECK = 1_024;

/** What the journeys say of a run that no model has said: its predictions, its past, its figures by a second way. */
export interface EvidenceResult {
  readonly ok: true;
  readonly calibrationError: number;
  readonly perplexityAnomaly: number;
  readonly transitionDivergence: number;
  readonly reference: ReferenceKind;
  readonly witness: JourneyWitness;
}

/** Figures of the run, derived a second time from the paths that the store made of its rows. */
export interface JourneyWitness {
  readonly channels: readonly string[];
  /** revenue of the converting journeys of which the channel is the last touch */
  readonly lastClick: Float64Array;
  /** touches of the channel on all journeys */
  readonly journeyTouches: Float64Array;
  /** revenue of converting journeys, divided equally among their distinct channels: the Shapley value */
  readonly shapley: Float64Array;
  readonly shapleyConversions: Float64Array;
  /** order-1 chain: conversions and revenue lost without the channel, per journey; null beyond 256 channels */
  readonly lost: Float64Array | null;
  readonly lostValue: Float64Array | null;
  /** journeys with a touch: converting, their revenue, all */
  readonly convertingJourneys: number;
  readonly attributedRevenue: number;
  readonly journeys: number;
}

/**
 * Users whose journeys are held against the chain and the past; beyond, a fixed sample of so many tells the same to the
 * third digit.
 */
const MOST_USERS = 50_000;

/** Calibration and likeness to the past from the journeys of single users, second derivations from all paths. */
export function runEvidence(input: EvidenceInput, checkpoint: Checkpoint): EvidenceResult | Failure {
  const { paths } = input;
  const states = statesOf(paths.channels.length, () => touchesOfPaths(paths));
  const all = emptyTransitions(states.size);
  const sums = new JourneySums(paths.channels.length);
  for (let p = 0; p < paths.conversions.length; p++) {
    if (p % PATHS_PER_CHECK === 0) checkpoint((0.4 * p) / paths.conversions.length);
    const [begin, end] = [paths.offsets[p]!, paths.offsets[p + 1]!];
    if (begin === end) continue;
    sums.add(paths.steps, begin, end, paths.conversions[p]!, paths.value[p]!, paths.nulls[p]!);
    addJourney(all, states.of, paths.steps, begin, end, paths.conversions[p]!, paths.value[p]!, paths.nulls[p]!);
  }
  if (sums.journeys === 0) return insufficientData('There are no journeys with a touch in this range.');
  const tick = (fraction: number): void => checkpoint(0.4 + 0.5 * fraction);
  const { folds, window, reference, kind } =
    input.events === null ? dealt(input, states, tick) : followed(input, input.events, states, tick);
  const throwIfCancelled = (): void => checkpoint(0.9);
  return {
    ok: true,
    calibrationError: calibrationError(folds, throwIfCancelled),
    perplexityAnomaly: perplexityAnomaly(window, reference),
    transitionDivergence: divergence(window, reference),
    reference: kind,
    witness: witnessOf(paths, states, all, sums, throwIfCancelled),
  };
}

interface Compared {
  readonly folds: readonly Transitions[];
  readonly window: Transitions;
  readonly reference: Transitions;
  readonly kind: ReferenceKind;
}

function dealt({ paths, seed }: EvidenceInput, states: States, tick: (fraction: number) => void): Compared {
  const { folds, halves } = dealPaths(paths, states, FOLDS, seededRandom(seed), tick);
  return { folds, window: halves[1], reference: halves[0], kind: 'random_halves' };
}

/**
 * Folds are of users. The two windows that are compared are read the same way, each cut to its own days: what a journey
 * began before them is unknown to both, since the one may have no past in the store.
 */
function followed(
  { rangeStartS, rangeEndS, lookbackS, preceding }: EvidenceInput,
  events: EventTable,
  states: States,
  tick: (fraction: number) => void,
): Compared {
  const sample = sampleUsers(events, MOST_USERS, () => tick(0));
  const folds = Array.from({ length: FOLDS }, () => emptyTransitions(states.size));
  const walk = (table: EventTable, window: JourneyWindow, countsOf: (user: number) => Transitions): void =>
    eachJourney(
      table,
      window,
      (user, begin, end, converts) => {
        if (begin < end)
          addJourney(countsOf(user), states.of, table.channel, begin, end, converts ? 1 : 0, 0, converts ? 0 : 1);
      },
      tick,
    );
  const within = (table: EventTable, startS: number, endS: number): Transitions => {
    const counts = emptyTransitions(states.size);
    walk(table, { startS, endS, lookbackS, seenFromS: startS }, () => counts);
    return counts;
  };
  walk(sample, { startS: rangeStartS, endS: rangeEndS, lookbackS }, (user) => folds[sample.userHash[user]! % FOLDS]!);
  if (preceding === null) {
    const middleS = (rangeStartS + rangeEndS) / 2;
    return {
      folds,
      window: within(sample, middleS, rangeEndS),
      reference: within(sample, rangeStartS, middleS),
      kind: 'first_half',
    };
  }
  const past = preceding === 'in_events' ? sample : preceding.events;
  return {
    folds,
    window: within(sample, rangeStartS, rangeEndS),
    reference: within(past, 2 * rangeStartS - rangeEndS, rangeStartS),
    kind: 'preceding_window',
  };
}

function witnessOf(
  paths: PathTable,
  states: States,
  all: Transitions,
  sums: JourneySums,
  throwIfCancelled: () => void,
): JourneyWitness {
  const chain = states.areChannels ? absorption(all, throwIfCancelled) : null;
  const lastClick = new Float64Array(paths.channels.length);
  for (let p = 0; p < paths.conversions.length; p++) {
    if (p % PATHS_PER_CHECK === 0) throwIfCancelled();
    const end = paths.offsets[p + 1]!;
    if (end > paths.offsets[p]!) lastClick[paths.steps[end - 1]!]! += paths.value[p]!;
  }
  const { touches, shapley, shapleyConversions, convertingJourneys, attributedRevenue, journeys } = sums;
  return {
    channels: paths.channels,
    lastClick,
    journeyTouches: touches,
    shapley,
    shapleyConversions,
    lost: chain?.lost ?? null,
    lostValue: chain?.lostValue ?? null,
    convertingJourneys,
    attributedRevenue,
    journeys,
  };
}
