import type { Random } from '../../../compute/numerics/random.ts';
import { below, oneOf, TURNING_POINTS, type Mutated } from './byte-mutations.ts';
import { encodeSite, thriftSites, type ThriftSite } from './thrift-sites.ts';

/** Behind the footer: its length in four bytes, then the magic number. */
const TAIL_BYTES = 8;
const MOST_EDITS = 3;
/** Codecs, encodings, types and kinds of pages are numbers below this; a little beyond it they mean nothing. */
const ENUMERATED = 20;
/** Fields of the footer that are offsets into the file, and those of them that tell where pages begin. */
const OFFSETS = /^4\.\d+\.(?:5|1\.\d+\.(?:2|4|6|3\.(?:9|10|11|14)))$/;
const PAGE_OFFSETS = /^(4\.\d+\.1\.\d+)\.3\.(?:9|11)$/;
const COMPRESSED_SIZE = 7;

interface Footer {
  readonly start: number;
  readonly sites: readonly ThriftSite[];
}

function footerOf(file: Buffer): Footer {
  const start = file.length - TAIL_BYTES - file.readUInt32LE(file.length - TAIL_BYTES);
  return { start, sites: thriftSites(file, start).sites };
}

/** What can be told of a page header; nothing when an edit has left none there. */
function headerAt(file: Buffer, at: number): ReturnType<typeof thriftSites> {
  try {
    return thriftSites(file, at);
  } catch {
    return { sites: [], end: at };
  }
}

interface PageSite extends ThriftSite {
  /** Path in the footer of the column chunk that the page is of. */
  readonly chunk: string;
}

/** Every number of every page header. */
function pageSites(file: Buffer, { sites }: Footer): PageSite[] {
  const valueOf = (path: string): number | undefined => {
    const site = sites.find((each) => each.path === path);
    return site === undefined ? undefined : Number(site.value);
  };
  const chunks = new Set(sites.map(({ path }) => PAGE_OFFSETS.exec(path)?.[1]).filter((chunk) => chunk !== undefined));
  return [...chunks].flatMap((chunk) => {
    let at = Math.min(...[9, 11].map((field) => valueOf(`${chunk}.3.${field}`) ?? Infinity));
    const end = at + (valueOf(`${chunk}.3.${COMPRESSED_SIZE}`) ?? 0);
    const found: PageSite[] = [];
    while (at >= 0 && at < end) {
      const header = headerAt(file, at);
      found.push(...header.sites.map((site) => ({ ...site, chunk })));
      at = Math.max(at + 1, header.end + Number(header.sites.find(({ path }) => path === '3')?.value ?? Infinity));
    }
    return found;
  });
}

function replaced(file: Buffer, site: ThriftSite, bytes: Uint8Array): Buffer {
  return Buffer.concat([file.subarray(0, site.start), bytes, file.subarray(site.end)]);
}

/** The file with another value in its footer; the footer's own length stays right. */
function withFooterValue(file: Buffer, site: ThriftSite, value: bigint): Buffer {
  const bytes = encodeSite(site, value);
  const edited = replaced(file, site, bytes);
  const lengthAt = edited.length - TAIL_BYTES;
  edited.writeUInt32LE(file.readUInt32LE(file.length - TAIL_BYTES) + bytes.length - (site.end - site.start), lengthAt);
  return edited;
}

/** The file with another value in a page header; what lies behind it is still found, since offsets and sizes follow. */
function withPageValue(file: Buffer, site: PageSite, value: bigint): Buffer {
  const bytes = encodeSite(site, value);
  const shift = bytes.length - (site.end - site.start);
  let edited = replaced(file, site, bytes);
  if (shift === 0) return edited;
  const moving = ({ path, value: old }: ThriftSite): boolean =>
    path === `${site.chunk}.3.${COMPRESSED_SIZE}` || (OFFSETS.test(path) && Number(old) > site.start);
  // One at a time: each may make the footer longer, and moves those behind it.
  for (const { path, value: old } of footerOf(file).sites.filter(moving)) {
    const now = footerOf(edited).sites.find((each) => each.path === path)!;
    edited = withFooterValue(edited, now, old + BigInt(shift));
  }
  return edited;
}

function anotherValue({ kind, value }: ThriftSite, random: Random): bigint {
  if (kind === 'boolean') return value ^ 3n;
  if (value >= 0n && value < ENUMERATED && random() < 0.4) return BigInt(below(ENUMERATED, random));
  const near = [value + 1n, value - 1n, value * 2n, value / 2n, -value, value + BigInt(below(1_000, random))];
  return oneOf([...TURNING_POINTS, ...near, ...near], random);
}

/**
 * A Parquet file after one to three edits of its structure: sizes, counts, encodings, codecs, offsets and types in the
 * footer and in page headers.
 */
export function restructured(original: Buffer, random: Random): Mutated {
  let bytes = original;
  const how: string[] = [];
  for (let left = 1 + below(MOST_EDITS, random); left > 0; left -= 1) {
    // An earlier edit may have left nothing that can be walked.
    const edited = edit(bytes, random);
    if (edited === null) break;
    bytes = edited.bytes;
    how.push(edited.how);
  }
  return { bytes, how: how.join(', ') };
}

function edit(file: Buffer, random: Random): Mutated | null {
  try {
    const footer = footerOf(file);
    if (random() < 0.1) return footerLength(file, random);
    if (random() < 0.5) {
      const site = oneOf(footer.sites, random);
      const value = anotherValue(site, random);
      return { bytes: withFooterValue(file, site, value), how: `footer ${site.path}: ${site.value} to ${value}` };
    }
    const site = oneOf(pageSites(file, footer), random);
    const value = anotherValue(site, random);
    return {
      bytes: withPageValue(file, site, value),
      how: `page of ${site.chunk}, ${site.path}: ${site.value} to ${value}`,
    };
  } catch {
    return null;
  }
}

function footerLength(file: Buffer, random: Random): Mutated {
  const value = Number(
    BigInt.asUintN(32, oneOf([...TURNING_POINTS, BigInt(file.length), BigInt(file.length - TAIL_BYTES)], random)),
  );
  const bytes = Buffer.from(file);
  bytes.writeUInt32LE(value, bytes.length - TAIL_BYTES);
  return { bytes, how: `length of the footer: ${value}` };
}

/** The file with these values in all page headers of their kind: by field, as the format's definition numbers them. */
export function withPageFields(file: Buffer, values: Readonly<Record<string, bigint>>): Buffer {
  const wanted = ({ path }: ThriftSite): boolean => values[path] !== undefined;
  return pageSites(file, footerOf(file))
    .filter(wanted)
    .reduceRight((edited, { chunk, path, start }) => {
      const site = pageSites(edited, footerOf(edited)).find(
        (each) => each.start === start && each.path === path && each.chunk === chunk,
      );
      return site === undefined ? edited : withPageValue(edited, site, values[path]!);
    }, file);
}
