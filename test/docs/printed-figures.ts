import type { Table } from './markdown.ts';

/** What a page's worked example must say: its tables cell by cell, and every decimal number that its text may hold. */
export interface Worked {
  readonly page: string;
  readonly heading: string;
  readonly tables: readonly Table[];
  readonly figures: readonly number[];
}

export const print = (value: number, decimals: number): string => {
  const text = Math.abs(value).toFixed(decimals);
  return value < 0 && Number(text) !== 0 ? `−${text}` : text;
};
export const shares = (values: ArrayLike<number>): string[] => Array.from(values, (value) => print(value, 4));
export const amounts = (values: ArrayLike<number>): string[] => Array.from(values, (value) => print(value, 2));
export const total = (values: ArrayLike<number>): number => Array.from(values).reduce((sum, value) => sum + value, 0);
/** One row per channel: its name, then a cell of each column. */
export const byChannel = (channels: readonly string[], ...columns: readonly (readonly string[])[]): string[][] =>
  channels.map((channel, c) => [channel, ...columns.map((column) => column[c]!)]);

export const RULES = [
  ['last', 'last click'],
  ['first', 'first click'],
  ['linear', 'linear'],
  ['position', 'position'],
  ['timeDecay', 'time decay'],
] as const;
