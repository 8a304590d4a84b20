import { crc32, inflateRawSync } from 'node:zlib';

/*
 * The files of a ZIP archive (APPNOTE.TXT 6.3.10), as its directory has them. What else lies in the archive is
 * nobody's: whoever reads it from front to back waits for what such bytes promise.
 */

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const END_64 = 0x06064b50;
const LOCATOR_64 = 0x07064b50;
const LOCAL_BYTES = 30;
const CENTRAL_BYTES = 46;
const END_BYTES = 22;
const LOCATOR_BYTES = 20;
const LONGEST_COMMENT = 0xffff;
/** In place of a number that stands among the extra fields, since it has more than 32 bits. */
const IN_EXTRA = 0xffffffff;
const EXTRA_64 = 1;
const ENCRYPTED = 1;
const STORED = 0;
const DEFLATED = 8;
const VERSION = 20;

/** The archive is damaged, or packed in a way that workbooks never are. */
export class UnreadableZipError extends Error {
  override readonly name = 'UnreadableZipError';
}

/** What was asked for unfolds to more than it may. */
export class ZipTooLargeError extends Error {
  override readonly name = 'ZipTooLargeError';
}

/**
 * Unpacks the files that are wanted.
 * @param maxBytes of all of them together
 * @throws UnreadableZipError, ZipTooLargeError
 */
export function unzipped(
  archive: Buffer,
  isWanted: (name: string) => boolean,
  maxBytes: number,
): ReadonlyMap<string, Buffer> {
  const files = new Map<string, Buffer>();
  let left = maxBytes;
  try {
    for (const entry of entriesOf(archive)) {
      if (!isWanted(entry.name)) continue;
      const content = contentOf(archive, entry, left);
      left -= content.length;
      files.set(entry.name, content);
    }
  } catch (error) {
    if (error instanceof ZipTooLargeError || error instanceof UnreadableZipError) throw error;
    // Whatever lies beyond the end, or is no deflated data.
    throw new UnreadableZipError('the archive is damaged');
  }
  return files;
}

interface Entry {
  readonly name: string;
  readonly flags: number;
  readonly method: number;
  readonly packedBytes: number;
  readonly at: number;
}

function* entriesOf(archive: Buffer): Generator<Entry> {
  let { at, count } = directoryOf(archive);
  for (; count > 0; count -= 1) {
    if (archive.readUInt32LE(at) !== CENTRAL) throw new UnreadableZipError('the directory is damaged');
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((place) => archive.readUInt16LE(at + place));
    const extraAt = at + CENTRAL_BYTES + nameBytes!;
    const numbers = [24, 20, 42].map((place) => archive.readUInt32LE(at + place));
    const [, packedBytes, localAt] = withExtra(numbers, archive.subarray(extraAt, extraAt + extraBytes!));
    yield {
      name: archive.toString('utf8', at + CENTRAL_BYTES, extraAt),
      flags: archive.readUInt16LE(at + 8),
      method: archive.readUInt16LE(at + 10),
      packedBytes: packedBytes!,
      at: localAt!,
    };
    at = extraAt + extraBytes! + commentBytes!;
  }
}

function directoryOf(archive: Buffer): { at: number; count: number } {
  const end = endOf(archive);
  const [count, at] = [archive.readUInt16LE(end + 10), archive.readUInt32LE(end + 16)];
  if (count !== 0xffff && at !== IN_EXTRA) return { at, count };
  if (archive.readUInt32LE(end - LOCATOR_BYTES) !== LOCATOR_64) return { at, count };
  const end64 = Number(archive.readBigUInt64LE(end - LOCATOR_BYTES + 8));
  if (archive.readUInt32LE(end64) !== END_64) throw new UnreadableZipError('the end is damaged');
  return {
    at: Number(archive.readBigUInt64LE(end64 + 48)),
    count: Number(archive.readBigUInt64LE(end64 + 32)),
  };
}

function endOf(archive: Buffer): number {
  const least = Math.max(0, archive.length - END_BYTES - LONGEST_COMMENT);
  for (let at = archive.length - END_BYTES; at >= least; at -= 1) if (archive.readUInt32LE(at) === END) return at;
  throw new UnreadableZipError('there is no end of a directory');
}

/** Numbers in the order in which extra fields have those that are too large for their places. */
function withExtra(numbers: readonly number[], extra: Buffer): readonly number[] {
  if (!numbers.includes(IN_EXTRA)) return numbers;
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== EXTRA_64) continue;
    let next = at + 4;
    return numbers.map((number) => (number === IN_EXTRA ? Number(extra.readBigUInt64LE((next += 8) - 8)) : number));
  }
  return numbers;
}

function contentOf(archive: Buffer, { flags, method, packedBytes, at }: Entry, maxBytes: number): Buffer {
  if (archive.readUInt32LE(at) !== LOCAL || (flags & ENCRYPTED) !== 0)
    throw new UnreadableZipError('a file is damaged or encrypted');
  const from = at + LOCAL_BYTES + archive.readUInt16LE(at + 26) + archive.readUInt16LE(at + 28);
  const packed = archive.subarray(from, from + packedBytes);
  if (packed.length < packedBytes) throw new UnreadableZipError('a file ends too early');
  if (method !== STORED && method !== DEFLATED) throw new UnreadableZipError('a file is packed in an unknown way');
  try {
    const content = method === STORED ? packed : inflateRawSync(packed, { maxOutputLength: Math.max(1, maxBytes) });
    if (content.length > maxBytes) throw new ZipTooLargeError();
    return content;
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? new ZipTooLargeError() : error;
  }
}

/** An archive of files that are not packed, for whoever takes nothing else. */
export function zipped(files: ReadonlyMap<string, Uint8Array>): Uint8Array<ArrayBuffer> {
  const names = [...files].map(([name, content]) => ({ name: Buffer.from(name), content }));
  const bytes = names.reduce(
    (sum, { name, content }) => sum + LOCAL_BYTES + CENTRAL_BYTES + 2 * name.length + content.length,
    END_BYTES,
  );
  const archive = new Uint8Array(bytes);
  const out = Buffer.from(archive.buffer);
  const heads: Buffer[] = [];
  let at = 0;
  for (const { name, content } of names) {
    // What the local head and the directory say alike: version, flags, method, time, sum, sizes, length of the name.
    const said = Buffer.alloc(26);
    said.writeUInt16LE(VERSION, 0);
    said.writeUInt32LE(crc32(content), 10);
    said.writeUInt32LE(content.length, 14);
    said.writeUInt32LE(content.length, 18);
    said.writeUInt16LE(name.length, 22);
    const head = Buffer.alloc(CENTRAL_BYTES);
    head.writeUInt32LE(CENTRAL, 0);
    said.copy(head, 6);
    head.writeUInt32LE(at, 42);
    heads.push(head, name);
    out.writeUInt32LE(LOCAL, at);
    said.copy(out, at + 4);
    name.copy(out, at + LOCAL_BYTES);
    out.set(content, at + LOCAL_BYTES + name.length);
    at += LOCAL_BYTES + name.length + content.length;
  }
  const directory = Buffer.concat(heads);
  out.set(directory, at);
  const end = at + directory.length;
  out.writeUInt32LE(END, end);
  out.writeUInt16LE(names.length, end + 8);
  out.writeUInt16LE(names.length, end + 10);
  out.writeUInt32LE(directory.length, end + 12);
  out.writeUInt32LE(at, end + 16);
  return archive;
}
