import { readFileSync } from 'node:fs';
import { NO_CHANNEL } from '../../compute/journey-tables.ts';
import type { EventTable, PathTable } from '../../compute/journey-tables.ts';
import { DAY_S, DEFAULT_RUN_PARAMETERS } from '../../compute/run-options.ts';
import type { RunOptions } from '../../compute/run-options.ts';

/** A path with its counts, before it becomes columns. */
export interface PathRow {
  readonly path: readonly string[];
  readonly conversions: number;
  readonly value: number;
  readonly nulls: number;
}

export interface EventRow {
  readonly user: string;
  readonly timeS: number;
  /** '' = none attached */
  readonly channel: string;
  readonly conversion: boolean;
  readonly value: number;
}

const fixture = (name: string): string => readFileSync(new URL(`./fixtures/${name}`, import.meta.url), 'utf8');
const linesOf = (text: string): string[][] =>
  text
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split(','));

export const reference = <Shape>(name: string): Shape => JSON.parse(fixture(name)) as Shape;

/** Columns of `rows`; rows with the same path are added up, and empty paths left out. */
export function pathTable(
  rows: readonly PathRow[],
  channels: readonly string[] = [...new Set(rows.flatMap((row) => row.path))].toSorted(),
): PathTable {
  const distinct = new Map<string, { path: readonly string[]; conversions: number; value: number; nulls: number }>();
  for (const row of rows) {
    if (row.path.length === 0) continue;
    const key = JSON.stringify(row.path);
    const sum = distinct.get(key) ?? { path: row.path, conversions: 0, value: 0, nulls: 0 };
    sum.conversions += row.conversions;
    sum.value += row.value;
    sum.nulls += row.nulls;
    distinct.set(key, sum);
  }
  return rawPathTable([...distinct.values()], channels);
}

/** Columns of `rows` as they are. */
export function rawPathTable(rows: readonly PathRow[], channels: readonly string[]): PathTable {
  const index = new Map(channels.map((name, i) => [name, i]));
  const offsets = new Uint32Array(rows.length + 1);
  rows.forEach((row, p) => (offsets[p + 1] = offsets[p]! + row.path.length));
  return {
    channels,
    offsets,
    steps: Uint16Array.from(rows.flatMap((row) => row.path.map((name) => index.get(name)!))),
    conversions: Float64Array.from(rows, (row) => row.conversions),
    value: Float64Array.from(rows, (row) => row.value),
    nulls: Float64Array.from(rows, (row) => row.nulls),
  };
}

export function readPathRows(name: string): PathRow[] {
  return linesOf(fixture(name)).map(([path, conversions, value, nulls]) => ({
    path: path!
      .split('>')
      .map((step) => step.trim())
      .filter((step) => step !== ''),
    conversions: Number(conversions),
    value: Number(value),
    nulls: Number(nulls),
  }));
}

export const readEventRows = (): EventRow[] =>
  linesOf(fixture('events.csv')).map(([user, timestamp, channel, , , conversion, revenue]) => ({
    user: user!,
    timeS: Date.parse(timestamp!) / 1000,
    channel: channel!,
    conversion: conversion === '1',
    value: Number(revenue),
  }));

/** FNV-1a, 32 bit, of the UTF-8 bytes. */
export function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}

/** Users in order of first appearance, each user's rows stably sorted by time. */
export function eventTable(rows: readonly EventRow[]): EventTable {
  const users = Map.groupBy(rows, (row) => row.user);
  const sorted = [...users.values()].map((events) => events.toSorted((a, b) => a.timeS - b.timeS));
  const channels = [...new Set(rows.map((row) => row.channel).filter((name) => name !== ''))].toSorted();
  const flat = sorted.flat();
  const userStart = new Uint32Array(sorted.length + 1);
  sorted.forEach((events, user) => (userStart[user + 1] = userStart[user]! + events.length));
  return {
    channels,
    userStart,
    userHash: Uint32Array.from(users.keys(), fnv1a),
    timeS: Float64Array.from(flat, (row) => row.timeS),
    channel: Uint16Array.from(flat, (row) => (row.channel === '' ? NO_CHANNEL : channels.indexOf(row.channel))),
    conversion: Uint8Array.from(flat, (row) => Number(row.conversion)),
    value: Float64Array.from(
      flat.filter((row) => row.conversion),
      (row) => row.value,
    ),
  };
}

export const isUnpaid = (channel: string): boolean => channel === 'direct' || channel.startsWith('organic');

/** The whole table as range; `direct` and `organic*` are the baseline. */
export function wholeRange(events: EventTable, changes: Partial<RunOptions> = {}): RunOptions {
  const last = events.timeS.reduce((latest, t) => Math.max(latest, t), 0);
  return {
    ...DEFAULT_RUN_PARAMETERS,
    rangeStartS: 0,
    rangeEndS: (Math.floor(last / DAY_S) + 1) * DAY_S,
    observedUntilS: last,
    isBaseline: Uint8Array.from(events.channels, (name) => Number(isUnpaid(name))),
    ...changes,
  };
}

/** Journeys as the model description cuts them: the slow, obvious way. */
export function journeysOf(rows: readonly EventRow[], lookbackS: number): PathRow[] {
  const journeys: PathRow[] = [];
  for (const events of Map.groupBy(rows, (row) => row.user).values()) {
    let open: EventRow[] = [];
    for (const event of events.toSorted((a, b) => a.timeS - b.timeS)) {
      if (event.channel !== '') open.push(event);
      if (!event.conversion) continue;
      const path = open.filter((touch) => event.timeS - touch.timeS <= lookbackS).map((touch) => touch.channel);
      journeys.push({ path, conversions: 1, value: event.value, nulls: 0 });
      open = [];
    }
    const last = open.at(-1);
    if (last !== undefined) {
      journeys.push({
        path: open.filter((touch) => last.timeS - touch.timeS <= lookbackS).map((touch) => touch.channel),
        conversions: 0,
        value: 0,
        nulls: 1,
      });
    }
  }
  return journeys;
}
