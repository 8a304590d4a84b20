import { estimateWorld, METHODS } from './estimate-world.ts';
import type { Estimate, Method } from './estimate-world.ts';
import { simulateWorld } from './simulate-world.ts';
import { paidChannels } from './world-spec.ts';
import type { WorldSpec } from './world-spec.ts';

/** A world and what every method said of it: all that the report needs. Arrays follow `channels`, the paid ones. */
export interface WorldRecord {
  readonly name: string;
  readonly family: string;
  readonly seed: number;
  readonly users: number;
  readonly days: number;
  readonly events: number;
  readonly conversions: number;
  readonly revenue: number;
  readonly channels: readonly string[];
  /** touches of each channel */
  readonly touches: readonly number[];
  /** true incremental revenue: each channel switched off alone, and all of them */
  readonly truth: readonly number[];
  readonly truthTotal: number;
  readonly estimates: Readonly<Record<Method, Estimate>>;
  readonly deltaR: number;
  readonly warnings: readonly string[];
}

const rounded = (values: readonly number[]): number[] => values.map((value) => Math.round(value * 100) / 100);

/** Simulates a world and asks every method. */
export async function recordOf(spec: WorldSpec): Promise<WorldRecord> {
  const world = simulateWorld(spec);
  const estimates = await estimateWorld(world);
  const paid = paidChannels(spec);
  const { truth, events } = world;
  const kept = METHODS.map((method): [Method, Estimate] => {
    const { credit, low, high } = estimates[method];
    return [
      method,
      {
        credit: rounded(credit),
        ...(low === undefined || high === undefined ? {} : { low: rounded(low), high: rounded(high) }),
      },
    ];
  });
  return {
    name: spec.name,
    family: spec.family,
    seed: spec.seed,
    users: spec.users,
    days: spec.days,
    events: events.timeS.length,
    conversions: truth.conversions,
    revenue: truth.revenue,
    channels: paid.map((c) => spec.channels[c]!.name),
    touches: paid.map((c) => truth.touches[c]!),
    truth: paid.map((c) => truth.switchOff[c]!.revenue),
    truthTotal: truth.total.revenue,
    estimates: Object.fromEntries(kept) as Record<Method, Estimate>,
    deltaR: estimates.deltaR,
    warnings: estimates.warnings,
  };
}
