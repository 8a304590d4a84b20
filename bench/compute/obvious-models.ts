import type { EventTable, PathTable } from '../../compute/journey-tables.ts';
import { solveDense } from '../../compute/numerics/linear-solve.ts';
import type { RunOptions } from '../../compute/run-options.ts';

/** What one would write first: objects, string keys, one solve or regression per question. The yardstick of the benches. */

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

/** Transition counts under string keys, a dense solve for each removed channel. */
export function obviousMarkov(journeys: readonly Journey[], channels: readonly string[]): number[] {
  const counts = new Map<string, number>();
  for (const { path, conversions, nulls } of journeys) {
    const states = ['(start)', ...path.filter((step, i) => step !== path[i - 1])];
    const add = (from: string, to: string, weight: number): void => void counts.set(`${from}>${to}`, (counts.get(`${from}>${to}`) ?? 0) + weight);
    for (let i = 1; i < states.length; i++) add(states[i - 1]!, states[i]!, conversions + nulls);
    add(states.at(-1)!, '(conversion)', conversions);
    add(states.at(-1)!, '(null)', nulls);
  }
  const states = ['(start)', ...channels];
  const ends = [...states, '(conversion)', '(null)'];
  const probabilityWithout = (removed: string | null): number => {
    const matrix = new Float64Array(states.length ** 2);
    const right = new Float64Array(states.length);
    states.forEach((from, i) => {
      const out = ends.reduce((sum, to) => sum + (counts.get(`${from}>${to}`) ?? 0), 0) || 1;
      states.forEach((to, j) => (matrix[i * states.length + j] = Number(i === j) - (to === removed ? 0 : (counts.get(`${from}>${to}`) ?? 0) / out)));
      right[i] = from === removed ? 0 : (counts.get(`${from}>(conversion)`) ?? 0) / out;
    });
    return solveDense(matrix, right)![0]!;
  };
  const all = probabilityWithout(null);
  return channels.map((channel) => 1 - probabilityWithout(channel) / all);
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
  const covariance = (i: number, j: number): number => pairs[i * size + j]! / weight - (pairs[i * size + i]! / weight) * (pairs[j * size + j]! / weight);
  const toOutcome = (i: number): number => withOutcome[i]! / weight - (pairs[i * size + i]! / weight) * (converted / weight);
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
export function obviousKappas({ channels, userStart, userHash, timeS, channel, conversion }: EventTable, { isBaseline, horizonS: H, gapS: g, placeboWindowS: w, groups, observedUntilS }: RunOptions): number[] {
  const users = Array.from({ length: userHash.length }, (_, u) =>
    Array.from({ length: userStart[u + 1]! - userStart[u]! }, (__, k) => {
      const i = userStart[u]! + k;
      return { t: timeS[i]!, channel: channels[channel[i]!] ?? '', converts: conversion[i] === 1, unpaid: conversion[i] === 0 && isBaseline[channel[i]!] === 1 };
    }),
  );
  const last = observedUntilS - H;
  const overlap = (from: number, to: number, first: number): number => Math.max(0, Math.min(to, last) - Math.max(from, first));
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
  return [kappaOf(users), ...Array.from({ length: groups }, (_, group) => kappaOf(users.filter((__, u) => userHash[u]! % groups !== group)))];
}
