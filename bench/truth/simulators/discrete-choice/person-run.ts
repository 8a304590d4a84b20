import { DAILY, Day, browse, meetMedia, settleLate } from './contacts.ts';
import type { Person, State } from './person.ts';
import { needArises, needKeyOf, searchAndChoose, searchCategory } from './purchase.ts';
import type { Tally } from './purchase.ts';
import { NEED, awarenessTerm } from './choice.ts';
import { branch, uniform } from './random.ts';
import type { Recorder } from './recorder.ts';
import type { World } from './world.ts';

const LONGEST_SEARCH_DAYS = 60;

/** Days from the need to the choice: gamma with shape 2. */
function searchLength(person: Person, needKey: number): number {
  const u = uniform(needKey, NEED.searchLength1) * uniform(needKey, NEED.searchLength2);
  return Math.min(LONGEST_SEARCH_DAYS, Math.floor(-0.5 * Math.log(u) * person.searchDays));
}

/** Seconds of the day at which people look around: mostly afternoon and evening. */
function sessionSecond(dayKey: number): number {
  return Math.floor(28800 + 26400 * (uniform(dayKey, DAILY.session1) + uniform(dayKey, DAILY.session2)));
}

/** Runs one person through the days [fromAt, toAt) under the reach given, or `heldReach` on the days of a holdout. */
export function runPerson(
  world: World,
  person: Person,
  state: State,
  fromAt: number,
  toAt: number,
  reach: Float64Array,
  heldReach: Float64Array | null,
  day: Day,
  recorder: Recorder | null,
  tally: Tally,
): void {
  for (let at = fromAt; at < toAt; at++) {
    const today = heldReach !== null && at >= tally.armFrom && at < tally.armTo ? heldReach : reach;
    day.at = at;
    day.key = branch(person.key, 1000 + at);
    day.sessionS = sessionSecond(day.key);
    day.clickBy = -1;
    day.clickTouch = -1;
    day.clickS = 0;
    day.late = 0;
    meetMedia(world, person, state, day, today, recorder);
    if (state.needAt < 0) {
      if (needArises(world, person, state, day)) {
        state.needAt = at;
        state.choiceAt = at + searchLength(person, needKeyOf(person, at));
        state.considered = false;
      } else {
        browse(world, person, state, day, today, recorder);
        // the idle search of those who are only curious; a later need starts with an empty set
        if (uniform(day.key, DAILY.idleSearch) < world.shop.idleSearchRate) {
          searchCategory(world, state, day, today, recorder, awarenessTerm(world, person, state));
        }
      }
    }
    if (state.needAt >= 0) searchAndChoose(world, person, state, day, today, recorder, tally);
    settleLate(world, state, day);
    state.sincePurchase += 1;
  }
}
