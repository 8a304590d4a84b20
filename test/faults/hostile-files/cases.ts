import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { seededRandom, type Random } from '../../../compute/numerics/random.ts';
import { below, mutated, oneOf } from './byte-mutations.ts';
import { multipartOf } from './containers.ts';
import { parquetFiles } from './parquet-files.ts';
import { restructured } from './parquet-mutations.ts';
import { addRecords, connect, CSV, GZIP, JSON_TYPE, NDJSON, PARQUET, sent, SHAPES } from './shapes.ts';
import type { Format, Upload } from './shapes.ts';
import { goodCsv, goodRows, hostileCsv, hostileRows, ndjsonOf } from './text-files.ts';
import { goodWorkbooks, WORKBOOK } from './workbook-shapes.ts';

export interface HostileCase extends Upload {
  readonly format: Format;
  readonly index: number;
}

/** A good file of any format, as its type and bytes. */
function anyFile(random: Random): { readonly type: string; readonly bytes: Buffer } {
  const choice = below(3, random);
  if (choice === 0) return { type: CSV['content-type'], bytes: Buffer.from(goodCsv(random).text) };
  if (choice === 1) return { type: NDJSON['content-type'], bytes: Buffer.from(ndjsonOf(goodRows(random)).text) };
  return { type: PARQUET['content-type'], bytes: oneOf(Object.values(parquetFiles), random) };
}

/** Good files with damage in them, or files by the rules with hostile contents. */
const MUTATIONS: Readonly<Record<Format, (random: Random) => Upload>> = {
  csv: (random) => {
    const { text, rows } = hostileCsv(random);
    if (random() < 0.5) return sent('hostile cells', text, CSV, rows);
    const { bytes, how } = mutated(Buffer.from(text), random);
    return sent(how, bytes, CSV);
  },
  ndjson: (random) => {
    const { text, rows } = ndjsonOf(hostileRows(random));
    if (random() < 0.5) return sent('hostile values', text, NDJSON, rows);
    const { bytes, how } = mutated(Buffer.from(text), random);
    return sent(how, bytes, NDJSON);
  },
  json: (random) => {
    const rows = hostileRows(random);
    const text = JSON.stringify(random() < 0.5 ? rows : { records: rows });
    if (random() < 0.7) return sent('hostile values', text, JSON_TYPE, rows.length);
    const { bytes, how } = mutated(Buffer.from(text), random);
    return sent(how, bytes, JSON_TYPE);
  },
  graphql: (random) => {
    const rows = hostileRows(random);
    const upload = addRecords('hostile values', rows, rows.length);
    if (random() < 0.8) return upload;
    const { bytes, how } = mutated(upload.body, random);
    return { ...sent(how, bytes, JSON_TYPE), door: 'graphql' };
  },
  parquet: (random) => {
    const [name, file] = oneOf(Object.entries(parquetFiles), random);
    const { bytes, how } = (random() < 0.6 ? restructured : mutated)(file, random);
    return sent(`${name}: ${how}`, bytes, PARQUET);
  },
  xlsx: (random) => {
    const [name, file] = oneOf(Object.entries(goodWorkbooks), random);
    const { bytes, how } = mutated(file, random);
    return sent(`${name}: ${how}`, bytes, WORKBOOK);
  },
  gzip: (random) => {
    const { type, bytes } = anyFile(random);
    const headers = { 'content-type': type, ...GZIP };
    if (random() < 0.3) return { how: `${type}: damage inside`, headers, body: gzipSync(mutated(bytes, random).bytes) };
    const { bytes: body, how } = mutated(gzipSync(bytes, { level: below(10, random) }), random);
    return { how: `${type}: ${how}`, headers, body };
  },
  multipart: (random) => {
    const { type, bytes } = anyFile(random);
    const { body, contentType } = multipartOf(random() < 0.3 ? mutated(bytes, random).bytes : bytes, type);
    const { bytes: damaged, how } = mutated(body, random);
    return { how: `${type}: ${how}`, headers: { 'content-type': contentType }, body: damaged };
  },
  connect: (random) => {
    const { text, rows } = hostileCsv(random);
    if (random() < 0.5) return connect('hostile cells', { content: text }, rows);
    const { bytes, how } = mutated(Buffer.from(text), random);
    if (random() < 0.5) return connect(how, { content: bytes.toString('utf8') });
    return connect(how, { content: bytes.toString('base64'), encoding: 'base64' });
  },
};

/** How many shapes there are of a format; they come before the mutations. */
export function shapesOf(format: Format): number {
  return SHAPES[format].length;
}

/** A case by its number, the same for the same seed. */
export function hostileCase(format: Format, seed: number, index: number): HostileCase {
  const random = seededRandom(createHash('sha256').update(`${seed}/${format}/${index}`).digest().readInt32LE());
  return { format, index, ...(SHAPES[format][index] ?? MUTATIONS[format])(random) };
}
