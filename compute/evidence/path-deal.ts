import type { PathTable } from '../journey-tables.ts';
import type { Random } from '../numerics/random.ts';
import type { States } from './states.ts';
import { addJourney, emptyTransitions } from './transitions.ts';
import type { Transitions } from './transitions.ts';

const PATHS_PER_CHECK = 1_024;

/**
 * Part `hand` of a deal of `count` journeys among `hands`, one at a time from hand `first` on: whole numbers, and one
 * hand gets the fraction.
 */
export function dealt(count: number, hand: number, hands: number, first: number): number {
  const place = (hand - first + hands) % hands;
  const rounds = Math.floor(count / hands);
  return rounds + Math.min(1, Math.max(0, count - rounds * hands - place));
}

/**
 * The journeys behind aggregated paths, dealt like cards into folds and into two halves: what stands in for users and
 * time.
 */
export function dealPaths(
  paths: PathTable,
  states: States,
  foldCount: number,
  random: Random,
  tick: (fraction: number) => void,
): { readonly folds: readonly Transitions[]; readonly halves: readonly [Transitions, Transitions] } {
  const folds = Array.from({ length: foldCount }, () => emptyTransitions(states.size));
  const halves = [emptyTransitions(states.size), emptyTransitions(states.size)] as const;
  const { offsets, steps, conversions, value, nulls } = paths;
  const count = conversions.length;
  for (let p = 0; p < count; p++) {
    if (p % PATHS_PER_CHECK === 0) tick(p / count);
    const begin = offsets[p]!;
    const end = offsets[p + 1]!;
    if (begin === end) continue;
    deal(folds, p);
    deal(halves, p);
  }
  return { folds, halves };

  function deal(hands: readonly Transitions[], p: number): void {
    const first = Math.floor(random() * hands.length);
    for (let hand = 0; hand < hands.length; hand++) {
      const c = dealt(conversions[p]!, hand, hands.length, first);
      const n = dealt(nulls[p]!, hand, hands.length, first);
      if (c + n > 0)
        addJourney(
          hands[hand]!,
          states.of,
          steps,
          offsets[p]!,
          offsets[p + 1]!,
          c,
          conversions[p] === 0 ? 0 : (value[p]! * c) / conversions[p]!,
          n,
        );
    }
  }
}
