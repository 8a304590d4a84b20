import { readFileSync } from 'node:fs';
import type { EventTable, PathTable } from '../../compute/journey-tables.ts';
import { spectralFunction, symmetricEigen } from '../../compute/numerics/symmetric-eigen.ts';
import { DEFAULT_RUN_PARAMETERS } from '../../compute/run-options.ts';
import { eventTable, journeysOf, pathTable, readEventRows, wholeRange } from '../../test/compute/reference-data.ts';
import type { EventRow, PathRow } from '../../test/compute/reference-data.ts';
import { figures } from '../../test/compute/run-in-thread.ts';

const cellsOf = (file: string): string[][] =>
  readFileSync(new URL(`../../docs/concepts/${file}`, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split(','));

/** Rows of docs/concepts/journeys.csv: six paths over three channels. */
export const journeyRows = (): PathRow[] =>
  cellsOf('journeys.csv').map(([path, conversions, value, nulls]) => ({
    path: path!.split(' > '),
    conversions: Number(conversions),
    value: Number(value),
    nulls: Number(nulls),
  }));

/** Rows of docs/concepts/visits.csv: 250 users in 45 days. */
export const visitRows = (): EventRow[] =>
  cellsOf('visits.csv').map(([user, timestamp, channel, conversion, revenue]) => ({
    user: user!,
    timeS: Date.parse(timestamp!) / 1000,
    channel: channel!,
    conversion: conversion === '1',
    value: Number(revenue),
  }));

/** What the four path models and the comparison rules say of journeys.csv. */
export function pathExample() {
  const rows = journeyRows();
  const paths = pathTable(rows, ['video', 'search', 'email']);
  return {
    rows,
    paths,
    channels: paths.channels,
    ...pathModels(paths),
    rules: figures('comparison', { paths, unattributed: { conversions: 0, value: 0 } }).rules,
    transitions: transitionsOf(rows, paths.channels),
    subsets: subsetsOf(rows, paths.channels),
    counterparts: counterpartsOf(rows, paths.channels),
  };
}

const pathModels = (paths: PathTable) => ({
  markov: figures('markov', { paths, order: 1 }),
  shapley: figures('shapley', { paths }),
  dominance: figures('dominance', { paths, seed: 1 }),
  rwa: figures('rwa', { paths }),
});

/** Every model on events: the path models on the journeys that are cut from them. */
function everyModel(rows: readonly EventRow[], events: EventTable) {
  const options = wholeRange(events);
  const paths = pathTable(journeysOf(rows, DEFAULT_RUN_PARAMETERS.lookbackS));
  const comparison = figures('comparison', { events, options });
  const members = { ...pathModels(paths), prav: figures('prav', { events, options }) };
  const totals = { conversions: events.value.length, revenue: events.value.reduce((sum, value) => sum + value, 0) };
  const { isBaseline, confidenceLevel } = options;
  const causal = figures('causal', {
    channels: events.channels,
    isBaseline,
    confidenceLevel,
    totals,
    members,
    comparison,
    spend: new Float64Array(events.channels.length),
    isOwnedMedia: new Uint8Array(events.channels.length),
    experiments: [],
    measurements: figures('credit_measurement', { events, options }),
  });
  return { rows, events, options, totals, channels: events.channels, isBaseline, comparison, ...members, causal };
}

/** What every model says of visits.csv, whose users are few enough to add up by hand. */
export const visitExample = () => {
  const rows = visitRows();
  return everyModel(rows, eventTable(rows));
};

/** What every model says of the 2,600 simulated users of test/compute/fixtures/events.csv. */
export const sampleExample = () => {
  const rows = readEventRows();
  return everyModel(rows, eventTable(rows));
};

/** Share of the journeys that go from a state of the first-order chain to another; equal neighbours count once. */
export function transitionsOf(
  rows: readonly PathRow[],
  channels: readonly string[],
): (from: string, to: string) => number {
  const flows = new Map<string, number>();
  const add = (from: string, to: string, weight: number): void => {
    for (const key of [`${from} ${to}`, from]) flows.set(key, (flows.get(key) ?? 0) + weight);
  };
  for (const { path, conversions, nulls } of rows) {
    const states = path.filter((channel, i) => channel !== path[i - 1]);
    ['start', ...states].slice(0, -1).forEach((from, i) => add(from, states[i]!, conversions + nulls));
    add(states.at(-1)!, 'conversion', conversions);
    add(states.at(-1)!, 'null', nulls);
  }
  if (channels.some((channel) => !flows.has(channel))) throw new Error('a channel is on no path');
  return (from, to) => (flows.get(`${from} ${to}`) ?? 0) / flows.get(from)!;
}

/** R² of regressing conversion on each subset of channels; subsets are coded by bits, in the order of the channels. */
function subsetsOf(rows: readonly PathRow[], channels: readonly string[]): number[] {
  const { between, withConversion } = correlationsOf(rows, channels);
  return Array.from({ length: 2 ** channels.length }, (_, code) => {
    const members = channels.flatMap((_, i) => ((code >> i) & 1 ? [i] : []));
    return explainedBy(
      members.map((a) => members.map((b) => between[a * channels.length + b]!)),
      members.map((a) => withConversion[a]!),
    );
  });
}

/** rᵀR⁻¹r by Gaussian elimination of the bordered matrix. */
function explainedBy(correlations: readonly (readonly number[])[], withOutcome: readonly number[]): number {
  const rows = correlations.map((row, i) => [...row, withOutcome[i]!]);
  let explained = 0;
  rows.forEach((pivot, k) => {
    explained += pivot.at(-1)! ** 2 / pivot[k]!;
    for (let i = k + 1; i < rows.length; i++) {
      const factor = rows[i]![k]! / pivot[k]!;
      rows[i] = rows[i]!.map((entry, j) => entry - factor * pivot[j]!);
    }
  });
  return explained;
}

/** Λ = R^½ and β = Λ⁻¹r of the relative weights, and the correlations they come from. */
function counterpartsOf(rows: readonly PathRow[], channels: readonly string[]) {
  const { between, withConversion } = correlationsOf(rows, channels);
  const size = channels.length;
  const eigen = symmetricEigen(between, size, () => undefined);
  const root = spectralFunction(eigen, Math.sqrt);
  const inverse = spectralFunction(eigen, (value) => 1 / Math.sqrt(value));
  const beta = Array.from({ length: size }, (_, k) =>
    withConversion.reduce((sum, r, j) => sum + inverse[k * size + j]! * r, 0),
  );
  return { between, withConversion, root, beta };
}

/**
 * Correlations among the presence of the channels (row-major), and of each with conversion: (n·n_ab − n_a·n_b) /
 * √(n_a(n − n_a)·n_b(n − n_b)).
 */
function correlationsOf(rows: readonly PathRow[], channels: readonly string[]) {
  const count = (where: (row: PathRow) => boolean, of = (row: PathRow) => row.conversions + row.nulls): number =>
    rows.filter(where).reduce((sum, row) => sum + of(row), 0);
  const all = count(() => true);
  const correlation = (a: number, b: number, both: number): number =>
    (all * both - a * b) / Math.sqrt(a * (all - a) * b * (all - b));
  const present = channels.map((channel) => count(({ path }) => path.includes(channel)));
  const converted = count(
    () => true,
    (row) => row.conversions,
  );
  return {
    between: Float64Array.from({ length: channels.length ** 2 }, (_, i) => {
      const [a, b] = [Math.floor(i / channels.length), i % channels.length];
      return correlation(
        present[a]!,
        present[b]!,
        count(({ path }) => path.includes(channels[a]!) && path.includes(channels[b]!)),
      );
    }),
    withConversion: channels.map((channel, c) =>
      correlation(
        present[c]!,
        converted,
        count(
          ({ path }) => path.includes(channel),
          (row) => row.conversions,
        ),
      ),
    ),
  };
}
