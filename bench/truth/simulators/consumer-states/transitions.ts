import { mediaLift } from './media.ts';
import type { Person, PersonState } from './person.ts';
import { AWARE, CONSIDERING, DORMANT, LAPSED, LIFT_OF_STATE, SATIATED } from './shop-spec.ts';
import type { World } from './world.ts';

/** daily hazards at tempo 1 */
const AWARE_ON = 0.25;
const AWARE_BACK = 0.12;
const CONSIDERING_ON = 0.18;
const CONSIDERING_BACK = 0.08;
const CONSIDERING_ELSEWHERE = 0.07;
const INTENDING_BACK = 0.06;
const INTENDING_ELSEWHERE = 0.1;
const LAPSE = 0.05;
const LAPSED_NEED = 0.4;

/** No media and no talk lift need above this: most days of dormant people need no more than this comparison. */
function mostNeed(world: World, person: Person, t: number): number {
  const common = world.scales.need * world.calendar.demand[t]! * Math.sqrt(world.calendar.priceEffect[t]!);
  const { primaryDemand } = world.spec;
  const movable = primaryDemand + (1 - primaryDemand) * person.needRate;
  return common * (person.needRate + movable * world.mostLift) * world.mostHeard;
}

/**
 * One day's move between states: hazards (complementary log-log, as in discrete-time duration models) times what
 * media, loyalty, prices, demand and word of mouth do to them. States after Abhishek, Fader & Hosanagar (2012) and
 * Netzer, Lattin & Srinivasan (2008), satiation and loss to others after AMSS (Chan & Perry, Google, 2017). One
 * uniform decides: low values move on, high ones back or elsewhere, so that more media never mean less progress.
 */
export function moveOn(
  world: World,
  person: Person,
  state: PersonState,
  t: number,
  u: number,
  uSatiation: number,
): void {
  const { spec, calendar } = world;
  const day = t - spec.burnInDays;
  const at = state.state;
  if (at === SATIATED) {
    if (day >= state.satiatedUntil) state.state = DORMANT;
    return;
  }
  if (at === DORMANT && u <= 1 - LAPSE && u > mostNeed(world, person, t)) return;
  const lift = mediaLift(world, person, state, LIFT_OF_STATE[at]!);
  const media = lift === 0 ? 1 : Math.exp(lift);
  const heard = state.heard === 0 ? 1 : Math.exp(spec.wordOfMouth * (1 - Math.exp(-state.heard)));
  if (at === DORMANT || at === LAPSED) {
    const common = world.scales.need * calendar.demand[t]! * Math.sqrt(calendar.priceEffect[t]!);
    const own = common * person.needRate;
    const moved = (spec.primaryDemand * common + (1 - spec.primaryDemand) * own) * (media - 1);
    const need = Math.max(0, own + moved) * heard * (at === LAPSED ? LAPSED_NEED : 1);
    if (u < 1 - Math.exp(-need)) state.state = AWARE;
    else if (at === DORMANT && state.customer && day - state.lastOrder > spec.lapseDays && u > 1 - LAPSE) {
      state.state = LAPSED;
    }
    return;
  }
  const tempo = spec.tempo;
  const against = lift === 0 ? 1 : Math.exp(-lift / 2);
  const elsewhere = tempo * spec.competitor * against * (1.2 - state.loyalty);
  let on = 0;
  let back = 0;
  let gone = 0;
  if (at === AWARE) {
    on = AWARE_ON * tempo * media * heard * (0.7 + 0.6 * state.loyalty);
    back = AWARE_BACK * tempo * against;
  } else if (at === CONSIDERING) {
    on = CONSIDERING_ON * tempo * media * heard * (0.6 + 0.8 * state.loyalty) * Math.sqrt(calendar.priceEffect[t]!);
    back = CONSIDERING_BACK * tempo * against;
    gone = CONSIDERING_ELSEWHERE * elsewhere;
  } else {
    back = INTENDING_BACK * tempo;
    gone = INTENDING_ELSEWHERE * elsewhere;
  }
  if (u < 1 - Math.exp(-on)) {
    state.state = at + 1;
  } else if (u > Math.exp(-back)) {
    state.state = at === AWARE ? DORMANT : at === CONSIDERING ? AWARE : CONSIDERING;
  } else if (u > Math.exp(-back - gone)) {
    state.state = SATIATED;
    state.satiatedUntil = day + person.cycle * (0.4 + 0.5 * uSatiation);
  }
}
