import type { EventTable, PathTable } from '../../compute/journey-tables.ts';
import { solveDense } from '../../compute/numerics/linear-solve.ts';
import { spectralFunction, symmetricEigen } from '../../compute/numerics/symmetric-eigen.ts';
import type { RunOptions } from '../../compute/run-options.ts';

/**
 * What one would write first: objects, string keys, one solve or regression per question. The yardstick of the benches.
 */

interface Journey {
  readonly path: readonly string[];
  readonly conversions: number;
  readonly nulls: number;
}

export const journeysOf = ({ channels, offsets, steps, conversions, nulls }: PathTable): Journey[] =>
  Array.from({ length: conversions.length }, (_, p) => ({
    path: Array.from(steps.subarray(offsets[p], offsets[p + 1]), (step) => channels[step]!),
    conversions: conversions[p]!,
    nulls: nulls[p]!,
  }));

/** Transition counts between k-grams under string keys, a dense solve for each removed channel. */
export function obviousMarkov(journeys: readonly Journey[], channels: readonly string[], order = 1): number[] {
  const counts = new Map<string, Map<string, number>>();
  const members = new Map<string, readonly string[]>([['(start)', []]]);
  for (const { path, conversions, nulls } of journeys) {
    const grams = path.length < order ? [path] : path.slice(order - 1).map((_, i) => path.slice(i, i + order));
    grams.forEach((gram) => members.set(gram.join(), gram));
    const names = grams.map((gram) => gram.join());
    const states = ['(start)', ...names.filter((state, i) => state !== names[i - 1])];
    const add = (from: string, to: string, weight: number): void => {
      const row = counts.get(from) ?? counts.set(from, new Map()).get(from)!;
      row.set(to, (row.get(to) ?? 0) + weight);
    };
    for (let i = 1; i < states.length; i++) add(states[i - 1]!, states[i]!, conversions + nulls);
    add(states.at(-1)!, '(conversion)', conversions);
    add(states.at(-1)!, '(null)', nulls);
  }
  const states = [...members.keys()];
  const number = new Map(states.map((state, i) => [state, i]));
  const probabilityWithout = (removed: string | null): number => {
    const matrix = new Float64Array(states.length ** 2);
    const right = new Float64Array(states.length);
    states.forEach((from, i) => {
      matrix[i * states.length + i] = 1;
      const row = counts.get(from);
      if (row === undefined || (removed !== null && members.get(from)!.includes(removed))) return;
      const out = [...row.values()].reduce((sum, weight) => sum + weight, 0) || 1;
      for (const [to, weight] of row) {
        const j = number.get(to);
        if (j !== undefined && !(removed !== null && members.get(to)!.includes(removed)))
          matrix[i * states.length + j]! -= weight / out;
      }
      right[i] = (row.get('(conversion)') ?? 0) / out;
    });
    return solveDense(matrix, right)![0]!;
  };
  const all = probabilityWithout(null);
  return channels.map((channel) => 1 - probabilityWithout(channel) / all);
}

/** Standard errors: the journeys dealt to 50 groups one by one, the model again without each. */
export function obviousErrors(
  journeys: readonly Journey[],
  creditOf: (rest: readonly Journey[]) => readonly number[],
): number[] {
  const GROUPS = 50;
  const single = journeys.flatMap(({ path, conversions, nulls }) => [
    ...Array.from({ length: conversions }, () => ({ path, conversions: 1, nulls: 0 })),
    ...Array.from({ length: nulls }, () => ({ path, conversions: 0, nulls: 1 })),
  ]);
  const dealt = single.map((journey) => ({ journey, group: Math.floor(Math.random() * GROUPS) }));
  const replicates = Array.from({ length: GROUPS }, (_, group) =>
    creditOf(dealt.filter((each) => each.group !== group).map((each) => each.journey)),
  );
  return replicates[0]!.map((_, c) => {
    const mean = replicates.reduce((sum, replicate) => sum + replicate[c]!, 0) / GROUPS;
    return Math.sqrt(
      ((GROUPS - 1) / GROUPS) * replicates.reduce((sum, replicate) => sum + (replicate[c]! - mean) ** 2, 0),
    );
  });
}

/** Credit by the five rules, one journey after the other, a map per rule. */
export function obviousRules(journeys: readonly Journey[]): readonly Map<string, number>[] {
  const rules: ((i: number, length: number) => number)[] = [
    (i, length) => Number(i === length - 1),
    (i) => Number(i === 0),
    (_, length) => 1 / length,
    (i, length) => (length <= 2 ? 1 / length : i === 0 || i === length - 1 ? 0.4 : 0.2 / (length - 2)),
    (i, length) => 2 ** ((i - length + 1) / 7),
  ];
  return rules.map((weight) => {
    const credit = new Map<string, number>();
    for (const { path, conversions } of journeys) {
      if (conversions === 0) continue;
      const weights = path.map((_, i) => weight(i, path.length));
      const all = weights.reduce((sum, each) => sum + each, 0);
      path.forEach((channel, i) => credit.set(channel, (credit.get(channel) ?? 0) + (conversions * weights[i]!) / all));
    }
    return credit;
  });
}

/** A row of zeros and ones per path, correlations column by column, then Johnson's steps. */
export function obviousRelativeWeights(journeys: readonly Journey[], channels: readonly string[]): number[] {
  const rows = journeys.map(({ path, conversions, nulls }) => ({
    x: channels.map((channel) => Number(path.includes(channel))),
    y: conversions,
    n: conversions + nulls,
  }));
  const journeysInAll = rows.reduce((sum, { n }) => sum + n, 0);
  const columns = [...channels.map((_, c) => rows.map(({ x, n }) => [x[c]!, n] as const)), null];
  const mean = columns.map(
    (column) =>
      (column === null ? rows.reduce((sum, { y }) => sum + y, 0) : column.reduce((sum, [x, n]) => sum + x * n, 0)) /
      journeysInAll,
  );
  const covariance = (a: number, b: number): number => {
    const [left, right] = [columns[a]!, columns[b]];
    return (
      left.reduce((sum, [x, n], i) => sum + (right == null ? x * rows[i]!.y : x * right[i]![0] * n), 0) /
        journeysInAll -
      mean[a]! * mean[b]!
    );
  };
  const size = channels.length;
  const deviation = channels.map((_, c) => Math.sqrt(covariance(c, c)));
  const ofY = Math.sqrt(mean[size]! * (1 - mean[size]!));
  const eigen = symmetricEigen(
    Float64Array.from(
      { length: size * size },
      (_, e) => covariance(Math.floor(e / size), e % size) / deviation[Math.floor(e / size)]! / deviation[e % size]!,
    ),
    size,
  );
  const [root, inverse] = [
    spectralFunction(eigen, Math.sqrt),
    spectralFunction(eigen, (value) => 1 / Math.sqrt(value)),
  ];
  const r = channels.map((_, c) => covariance(c, size) / deviation[c]! / ofY);
  const beta = channels.map((_, a) => channels.reduce((sum, __, b) => sum + inverse[a * size + b]! * r[b]!, 0));
  return channels.map((_, a) => channels.reduce((sum, __, b) => sum + (root[a * size + b]! * beta[b]!) ** 2, 0));
}

export function obviousShapley(journeys: readonly Journey[]): Map<string, number> {
  const credit = new Map<string, number>();
  for (const { path, conversions } of journeys) {
    if (conversions === 0) continue;
    const set = new Set(path);
    for (const channel of set) credit.set(channel, (credit.get(channel) ?? 0) + conversions / set.size);
  }
  return credit;
}

/** Gram matrix once, then one regression per subset of channels. */
export function obviousDominance(journeys: readonly Journey[], channels: readonly string[]): number[] {
  const size = channels.length;
  const pairs = new Float64Array(size * size);
  const withOutcome = new Float64Array(size);
  let weight = 0;
  let converted = 0;
  for (const { path, conversions, nulls } of journeys) {
    const present = channels.map((channel) => path.includes(channel));
    weight += conversions + nulls;
    converted += conversions;
    present.forEach((here, i) => {
      if (!here) return;
      withOutcome[i]! += conversions;
      present.forEach((there, j) => there && (pairs[i * size + j]! += conversions + nulls));
    });
  }
  const covariance = (i: number, j: number): number =>
    pairs[i * size + j]! / weight - (pairs[i * size + i]! / weight) * (pairs[j * size + j]! / weight);
  const toOutcome = (i: number): number =>
    withOutcome[i]! / weight - (pairs[i * size + i]! / weight) * (converted / weight);
  const spread = (converted / weight) * (1 - converted / weight);
  const r2 = Float64Array.from({ length: 2 ** size }, (_, code) => {
    const subset = channels.map((__, i) => i).filter((i) => (code >> i) & 1);
    if (subset.length === 0) return 0;
    const right = Float64Array.from(subset, toOutcome);
    const beta = solveDense(Float64Array.from(subset.flatMap((i) => subset.map((j) => covariance(i, j)))), right);
    return beta === null ? 0 : beta.reduce((sum, b, k) => sum + b * right[k]!, 0) / spread;
  });
  return channels.map((_, x) => {
    const gains = Array.from({ length: size }, () => ({ sum: 0, count: 0 }));
    for (let code = 0; code < 2 ** size; code++) {
      if ((code >> x) & 1) continue;
      const level = gains[channels.filter((__, i) => (code >> i) & 1).length]!;
      level.sum += r2[code | (1 << x)]! - r2[code]!;
      level.count++;
    }
    return gains.reduce((sum, level) => sum + level.sum / level.count, 0) / size;
  });
}

/** κ by filtering each user's events anew for each touch, and the whole of it again for each jackknife group. */
export function obviousKappas(
  { channels, userStart, userHash, timeS, channel, conversion }: EventTable,
  { isBaseline, horizonS: H, gapS: g, placeboWindowS: w, groups, observedUntilS }: RunOptions,
): number[] {
  const users = Array.from({ length: userHash.length }, (_, u) =>
    Array.from({ length: userStart[u + 1]! - userStart[u]! }, (__, k) => {
      const i = userStart[u]! + k;
      return {
        t: timeS[i]!,
        channel: channels[channel[i]!] ?? '',
        converts: conversion[i] === 1,
        unpaid: conversion[i] === 0 && isBaseline[channel[i]!] === 1,
      };
    }),
  );
  const last = observedUntilS - H;
  const overlap = (from: number, to: number, first: number): number =>
    Math.max(0, Math.min(to, last) - Math.max(from, first));
  const kappaOf = (kept: typeof users): number => {
    let [time, yTime, vTime, n, y, v] = [0, 0, 0, 0, 0, 0];
    for (const events of kept) {
      const first = events[0]!.t;
      time += Math.max(0, last - first);
      for (const { t } of events.filter((event) => event.converts)) yTime += overlap(t - H, t, first);
      for (const { t } of events.filter((event) => event.unpaid)) vTime += overlap(t - g - w, t - g, first);
      for (const { t: s } of events.filter((event) => event.unpaid && event.t <= last)) {
        n++;
        y += events.filter((event) => event.converts && event.t > s && event.t <= s + H).length;
        v += events.filter((event) => event.unpaid && event.t > s + g && event.t <= s + g + w).length;
      }
    }
    return Math.max(0, (y - (n * yTime) / time) / (v - (n * vTime) / time));
  };
  return [
    kappaOf(users),
    ...Array.from({ length: groups }, (_, group) => kappaOf(users.filter((__, u) => userHash[u]! % groups !== group))),
  ];
}
