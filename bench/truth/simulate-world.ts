import { NO_CHANNEL } from '../../compute/journey-tables.ts';
import type { EventTable } from '../../compute/journey-tables.ts';
import { seededRandom } from '../../compute/numerics/random.ts';
import { DAY_S } from '../../compute/run-options.ts';
import { fnv1a32 } from '../../subgraphs/attribution/analysis/journeys/user-hash.ts';
import { Kind } from './candidate-history.ts';
import type { CandidateHistory } from './candidate-history.ts';
import { HistoryDraw } from './draw-history.ts';
import { EventColumns } from './event-columns.ts';
import { Replay } from './replay.ts';
import type { ReplayOutcome } from './replay.ts';
import { paidChannels } from './world-spec.ts';
import type { WorldSpec } from './world-spec.ts';

/** 2025-01-01, where every world begins. */
export const WORLD_START_S = Date.UTC(2025, 0, 1) / 1000;

/** What the world loses when something is switched off, in the window. */
export interface Lost {
  readonly conversions: number;
  readonly revenue: number;
}

/** Known by re-simulation with the same random numbers. */
export interface WorldTruth {
  readonly conversions: number;
  readonly revenue: number;
  /** all paid channels off: what advertising brought in total */
  readonly total: Lost;
  /** per channel, it alone off and all others on; zeros for unpaid channels */
  readonly switchOff: readonly Lost[];
  /** per channel: the positive switch-off effects on revenue, normalised; zeros where nothing works */
  readonly share: readonly number[];
  readonly touches: readonly number[];
}

export interface World {
  readonly spec: WorldSpec;
  readonly events: EventTable;
  readonly truth: WorldTruth;
}

/** Adds up, user by user, what a variant of the world loses against the world itself. */
class Loss {
  conversions = 0;
  revenue = 0;

  add(factual: ReplayOutcome, without: ReplayOutcome): void {
    this.conversions += factual.orders - without.orders;
    this.revenue += factual.revenue - without.revenue;
  }

  rounded(): Lost {
    return { conversions: this.conversions, revenue: Math.round(this.revenue * 100) / 100 };
  }
}

/**
 * Simulates a population and, for every user, what would have happened with each paid channel switched off and with all
 * of them off: the same candidates, the same marks. Only users whom a channel touched are replayed without it.
 */
export function simulateWorld(spec: WorldSpec): World {
  const draw = new HistoryDraw(spec, seededRandom(spec.seed));
  const replay = new Replay(spec);
  const paid = paidChannels(spec);
  const nothingOff = new Uint8Array(spec.channels.length);
  const allOff = Uint8Array.from(spec.channels, (channel) => Number(channel.paid));
  const oneOff = spec.channels.map((_, c) => Uint8Array.from(spec.channels, (__, other) => Number(other === c)));
  const columns = new EventColumns();
  const total = new Loss();
  const losses = spec.channels.map(() => new Loss());
  const touches = spec.channels.map(() => 0);
  const factual: ReplayOutcome = { orders: 0, revenue: 0 };
  const without: ReplayOutcome = { orders: 0, revenue: 0 };
  const touchedBy = new Uint32Array(spec.channels.length);
  const encoder = new TextEncoder();
  let conversions = 0;
  let revenue = 0;
  for (let user = 0; user < spec.users; user++) {
    const history = draw.next();
    replay.run(history, nothingOff, factual);
    touchedBy.set(replay.touches);
    appendUser(columns, history, replay.happened, fnv1a32(encoder.encode(`u${user}`)));
    conversions += factual.orders;
    revenue += factual.revenue;
    for (let c = 0; c < touches.length; c++) touches[c]! += touchedBy[c]!;
    const touching = paid.filter((c) => touchedBy[c]! > 0);
    if (touching.length === 0) continue;
    for (const c of touching) {
      replay.run(history, oneOff[c]!, without);
      losses[c]!.add(factual, without);
    }
    replay.run(history, allOff, without);
    total.add(factual, without);
  }
  const switchOff = losses.map((loss) => loss.rounded());
  const positive = switchOff.reduce((sum, lost) => sum + Math.max(0, lost.revenue), 0);
  return {
    spec,
    events: columns.table(spec.channels.map(({ name }) => name)),
    truth: {
      conversions,
      revenue: Math.round(revenue * 100) / 100,
      total: total.rounded(),
      switchOff,
      share: switchOff.map((lost) => (positive > 0 ? Math.max(0, lost.revenue) / positive : 0)),
      touches,
    },
  };
}

function appendUser(
  columns: EventColumns,
  { count, order, timeDays, channel, kind, value }: CandidateHistory,
  happened: Uint8Array,
  hash: number,
): void {
  let any = false;
  for (let n = 0; n < count; n++) {
    const i = order[n]!;
    if (happened[i] === 0) continue;
    any = true;
    const isOrder = kind[i]! >= Kind.organicOrder;
    columns.event(WORLD_START_S + Math.floor(timeDays[i]! * DAY_S), channel[i] ?? NO_CHANNEL, isOrder, value[i]!);
  }
  if (any) columns.endUser(hash);
}
