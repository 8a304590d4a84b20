import type { Data, RecordBatch } from 'apache-arrow';

/** The bytes of a primitive, string or list column of a block, without any row becoming an object. */

function columnOf(batch: RecordBatch, name: string): Data {
  const data = batch.getChild(name)?.data[0];
  if (data === undefined) throw new TypeError(`the block has no column "${name}"`);
  return data;
}

const offsetsOf = (data: Data): Int32Array => data.valueOffsets as Int32Array;

/** Concatenated UTF-8 texts and where each starts (rows + 1 entries). */
export function textColumn(batch: RecordBatch, name: string): { bytes: Uint8Array; offsets: Int32Array } {
  const data = columnOf(batch, name);
  return { bytes: data.values as Uint8Array, offsets: offsetsOf(data) };
}

/** Concatenated elements of a list column and where each row's start (rows + 1 entries). */
function listColumn(batch: RecordBatch, name: string): { elements: Data; offsets: Int32Array } {
  const data = columnOf(batch, name);
  return { elements: data.children[0]!, offsets: offsetsOf(data) };
}

/** Lists of 16-bit integers, concatenated, and where each row's list starts. */
export function uint16Lists(batch: RecordBatch, name: string): { elements: Uint16Array; offsets: Int32Array } {
  const { elements, offsets } = listColumn(batch, name);
  return { elements: elements.values as Uint16Array, offsets };
}

/** 64-bit integers as pairs of 32-bit words, the lower one first: no BigInt per element. */
export function wordLists(batch: RecordBatch, name: string): { words: Uint32Array; offsets: Int32Array } {
  const { elements, offsets } = listColumn(batch, name);
  const values = elements.values as BigInt64Array | BigUint64Array;
  return { words: new Uint32Array(values.buffer, values.byteOffset, values.length * 2), offsets };
}

/** A column of floats as it lies in the batch, without a copy. */
export function float64Column(batch: RecordBatch, name: string): Float64Array {
  return columnOf(batch, name).values as Float64Array;
}
