import { NO_CHANNEL } from '../../compute/journey-tables.ts';
import type { EventTable, PathTable } from '../../compute/journey-tables.ts';
import type { RunData } from '../../subgraphs/attribution/analysis/attributions/analyze.ts';

const ROOT = 0;
/** More than any channel index: a node and a step make one number. */
const STEP_ROOM = 65_536;

/** Distinct paths as a tree: a node stands for the steps from the root to it. */
class PathTree {
  private readonly child = new Map<number, number>();
  private readonly parent: number[] = [ROOT];
  private readonly step: number[] = [NO_CHANNEL];
  readonly conversions: number[] = [0];
  readonly value: number[] = [0];
  readonly nulls: number[] = [0];

  /** The node of `channel[begin .. end)`. */
  nodeOf(channel: Uint16Array, begin: number, end: number): number {
    let node = ROOT;
    for (let i = begin; i < end; i++) {
      const key = node * STEP_ROOM + channel[i]!;
      let next = this.child.get(key);
      if (next === undefined) {
        next = this.parent.push(node) - 1;
        this.step.push(channel[i]!);
        this.conversions.push(0);
        this.value.push(0);
        this.nulls.push(0);
        this.child.set(key, next);
      }
      node = next;
    }
    return node;
  }

  /** The paths that journeys ended on; the empty one is left out. */
  table(channels: readonly string[]): PathTable {
    const nodes = this.parent.flatMap((_, node) =>
      node !== ROOT && this.conversions[node]! + this.nulls[node]! > 0 ? [node] : [],
    );
    const offsets = new Uint32Array(nodes.length + 1);
    const steps: number[] = [];
    nodes.forEach((end, p) => {
      const path: number[] = [];
      for (let node = end; node !== ROOT; node = this.parent[node]!) path.push(this.step[node]!);
      for (const step of path.toReversed()) steps.push(step);
      offsets[p + 1] = steps.length;
    });
    const column = (of: readonly number[]): Float64Array => Float64Array.from(nodes, (node) => of[node]!);
    return {
      channels,
      offsets,
      steps: Uint16Array.from(steps),
      conversions: column(this.conversions),
      value: column(this.value),
      nulls: column(this.nulls),
    };
  }
}

/**
 * Journeys of a whole event table, cut as the columnar store cuts them: behind every conversion, whose own click is its
 * last touch; a path is what lies within the lookback of the journey's last event. Without conversion: the touches
 * after the last one.
 */
export function journeysOf(events: EventTable, lookbackS: number): Pick<RunData, 'paths' | 'totals'> {
  const { userStart, timeS, channel, conversion, value } = events;
  const tree = new PathTree();
  const totals = {
    journeys: 0,
    convertingJourneys: 0,
    touches: 0,
    conversions: 0,
    revenue: 0,
    turnover: 0,
    unattributedConversions: 0,
    unattributedRevenue: 0,
  };
  for (let user = 0; user < userStart.length - 1; user++) {
    const stop = userStart[user + 1]!;
    let begin = userStart[user]!;
    for (let i = begin; i < stop; i++) {
      if (conversion[i] === 0) {
        totals.touches++;
        if (i + 1 < stop) continue;
      }
      while (timeS[begin]! < timeS[i]! - lookbackS) begin++;
      const node = tree.nodeOf(channel, begin, channel[i] === NO_CHANNEL ? i : i + 1);
      if (conversion[i] === 0) {
        tree.nulls[node]!++;
        totals.journeys++;
      } else {
        const earned = value[totals.conversions++]!;
        totals.revenue += earned;
        totals.turnover += Math.abs(earned);
        tree.conversions[node]!++;
        tree.value[node]! += earned;
        if (node !== ROOT) {
          totals.journeys++;
          totals.convertingJourneys++;
        }
      }
      begin = i + 1;
    }
  }
  totals.unattributedConversions = tree.conversions[ROOT]!;
  totals.unattributedRevenue = tree.value[ROOT]!;
  return { paths: tree.table(events.channels), totals };
}
