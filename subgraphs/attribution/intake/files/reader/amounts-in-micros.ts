import type { CanonicalColumn } from '../../../../../schema/origins/canonical-columns.ts';
import type { CellPart, PlacedSource } from './row-cells.ts';

const AMOUNTS: ReadonlySet<CanonicalColumn> = new Set(['spend', 'cost', 'revenue', 'refunded', 'cogs']);
/** `cost_micros`, `Cost (micros)`, `costMicros`: APIs of advertisers count in millionths. */
const IN_MICROS = /micros?(?!\p{L})/iu;
const MILLIONTHS = 'e-6';
const DIGIT = /\d/u;

/** What is no plain number stays none with an exponent behind it. */
const inMillionths: CellPart = (cell) => {
  const text = Buffer.from(cell.data.subarray(cell.start, cell.end)).toString().trim();
  if (DIGIT.test(text)) cell.put(Buffer.from(text + MILLIONTHS));
};

/** Where a value stands, by the name of its column: amounts in millionths are read as such. */
export const namedSource = (canonical: CanonicalColumn, name: string, place: number): PlacedSource =>
  AMOUNTS.has(canonical) && IN_MICROS.test(name) ? { place, part: inMillionths } : { place };
