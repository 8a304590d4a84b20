import { withIncrementalShare } from './incremental-share.ts';
import { draftOf } from './world-families.ts';
import type { Family, Taste } from './world-families.ts';
import type { WorldSpec } from './world-spec.ts';

const REPORT_SEED = 64_251_000;
const TUNING_SEED = 77_000_000;

/**
 * How many worlds of each family are simulated at every size. Drawn from ranges that were settled on other seeds, and
 * then left alone.
 */
const SIZED_COUNTS: Readonly<Record<Family, number>> = {
  plain: 8,
  strong_selection: 5,
  halo: 5,
  order_effects: 3,
  long_stock: 3,
  short_stock: 3,
  announced_orders: 2,
  placebo_ideal: 2,
  reference_style: 5,
  nothing_works: 6,
};
/**
 * Of the bars' size there are four times as many, so that a mean over them is no matter of luck (decisions 028 and
 * 031).
 */
const REPORT_COUNTS = Object.fromEntries(
  Object.entries(SIZED_COUNTS).map(([family, count]) => [family, 4 * count]),
) as Record<Family, number>;
/** Customers of every world on which the bars are measured (decision 028). */
export const REPORT_USERS = 150_000;
/** The other sizes at which the report shows the same worlds: their first customers alone. */
export const SMALLER_SIZES = [10_000, 20_000, 40_000, 75_000] as const;
const REPORT_TASTE: Taste = {
  users: [REPORT_USERS, REPORT_USERS],
  days: [60, 120],
  propensitySpread: [0.3, 0.9],
  episodesPerUser: [0.2, 0.7],
  episodeDecayDays: [4, 12],
  organicOrdersPerUser: [0.03, 0.1],
  incrementalShare: [0.3, 0.65],
  effectOnInterest: [0, 0.5],
  satiation: [0, 0.9],
  closingClickShare: [0.7, 0.95],
  touches: [0.6, 1.2],
  nullShare: 0.2,
};

const TUNING_COUNTS: Readonly<Record<Family, number>> = {
  plain: 2,
  strong_selection: 1,
  halo: 1,
  order_effects: 1,
  long_stock: 1,
  short_stock: 1,
  announced_orders: 1,
  placebo_ideal: 0,
  reference_style: 1,
  nothing_works: 2,
};
const TUNING_TASTE: Taste = {
  users: [50_000, 120_000],
  days: [60, 110],
  propensitySpread: [0.2, 1.1],
  episodesPerUser: [0.15, 0.9],
  episodeDecayDays: [3, 14],
  organicOrdersPerUser: [0.025, 0.12],
  incrementalShare: [0.2, 0.7],
  effectOnInterest: [0, 0.6],
  satiation: [0.2, 1],
  closingClickShare: [0.6, 0.95],
  touches: [0.5, 1.4],
  nullShare: 0.25,
};

/** A world by name. */
export interface NamedWorld {
  readonly name: string;
  /** before its effects are scaled to what advertising is to bring */
  readonly draft: WorldSpec;
  /** scaled, which takes a pilot simulation */
  readonly spec: () => WorldSpec;
}

function worldsOf(
  counts: Readonly<Record<Family, number>>,
  prefix: string,
  taste: Taste,
  seed: number,
  size?: number,
): NamedWorld[] {
  const named = (family: Family, index: number, own: number): NamedWorld => {
    const { spec, incrementalShare } = draftOf(family, index, own, taste);
    const name = `${prefix}${family}_${index}`;
    const draft = size === undefined ? { ...spec, name } : { ...spec, name: `${name}_of_${size}`, users: size };
    return { name: draft.name, draft, spec: () => withIncrementalShare(draft, incrementalShare) };
  };
  return (Object.entries(counts) as [Family, number][]).flatMap(([family, count], f) =>
    Array.from({ length: count }, (_, i) => named(family, i + 1, seed + 1_000 * f + i)),
  );
}

/** What the report measures every model and its bars on. Never used for tuning. */
export const reportWorlds = (): NamedWorld[] => worldsOf(REPORT_COUNTS, '', REPORT_TASTE, REPORT_SEED);

/**
 * The first of the report's worlds with fewer customers: users are drawn one after the other, so these are the same
 * people. No bar counts them.
 */
export const smallerWorlds = (): NamedWorld[] =>
  SMALLER_SIZES.flatMap((size) => worldsOf(SIZED_COUNTS, '', REPORT_TASTE, REPORT_SEED, size));

/** Other seeds and other ranges: for whoever improves an estimator. */
export const tuningWorlds = (): NamedWorld[] => worldsOf(TUNING_COUNTS, 'tuning_', TUNING_TASTE, TUNING_SEED);

export const everyWorld = (): NamedWorld[] => [...reportWorlds(), ...smallerWorlds(), ...tuningWorlds()];
