import { dayIndex } from './auction.ts';
import { childKey, uniform } from './random.ts';
import { DRAW, type ChanceSink, type Person } from './person.ts';
import type { ChannelWorld, World } from './world.ts';

/** Part of the day's demand against the highest, by which arrivals are thinned. */
function demandShare(world: World, time: number): number {
  return (world.demand[dayIndex(world, time)] as number) / highestDemand(world);
}

const highest = new WeakMap<World, number>();

/** The largest of the days' demand. */
export function highestDemand(world: World): number {
  let most = highest.get(world);
  if (most === undefined) {
    most = world.demand.reduce((a, b) => Math.max(a, b), 0);
    highest.set(world, most);
  }
  return most;
}

/** Whether an arrival at the highest day's rate is one at this day's. */
export function keptByDemand(world: World, time: number, key: number): boolean {
  return uniform(key, DRAW.keep) < demandShare(world, time);
}

/** Episodes of need: exogenous, known to the person alone, guessed at by platforms. */
export function drawEpisodes(world: World, person: Person): void {
  const key = childKey(person.key, 1);
  const rate = world.episodeRate * world.baseScale * highestDemand(world) * Math.pow(person.interest, 0.8);
  const end = world.days;
  let time = -world.burn - 2 * world.episodeDays;
  person.episodes = 0;
  for (let k = 0; k < 400 && person.episodes < 32; k++) {
    const episodeKey = childKey(key, k);
    time -= Math.log(uniform(episodeKey, DRAW.time)) / rate;
    if (time >= end) return;
    if (!keptByDemand(world, time, episodeKey)) continue;
    const length = world.episodeDays * (0.3 - 0.7 * Math.log(uniform(episodeKey, DRAW.hour)));
    person.episodeStart[person.episodes] = time;
    person.episodeEnd[person.episodes] = time + length;
    person.episodes++;
  }
}

/** Further ad chances of people whom third-party data show to be in need: they come with demand, and cause none. */
export function intentChances(world: World, person: Person, c: number, sink: ChanceSink): void {
  const channel = world.channels[c] as ChannelWorld;
  const key = childKey(person.key, 200 + c);
  for (let i = 0; i < person.episodes; i++) {
    const start = person.episodeStart[i] as number;
    const length = (person.episodeEnd[i] as number) - start;
    let at = 0;
    for (let k = 0; k < 12; k++) {
      const chanceKey = childKey(key, 16 * i + k);
      at -= (Math.log(uniform(chanceKey, DRAW.time)) * length) / channel.intentRate;
      if (at >= length) break;
      const time = person.onDay(Math.floor(start + at), uniform(chanceKey, DRAW.hour));
      if (time > start && time >= -world.burn && time < world.days) sink.chance(time, chanceKey);
    }
  }
}
