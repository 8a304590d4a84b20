import { crc32, deflateSync, gzipSync } from 'node:zlib';

export interface GzipShape {
  readonly how: string;
  readonly body: Buffer;
  readonly rows?: number;
}

export interface MultipartShape {
  readonly how: string;
  readonly body: Buffer;
  readonly contentType: string;
}

const HEADER = 'user_id,timestamp,channel\n';
const LINE = 'u1,2025-06-01T10:00:00Z,email\n';
const GOOD = Buffer.from(HEADER + LINE.repeat(3));
const MIB = 1 << 20;
const BOUNDARY = 'liftgraph-hostile';

/** So many copies behind one another. */
const times = (bytes: Buffer, count: number): Buffer => Buffer.concat(Array.from({ length: count }, () => bytes));
const edited = (bytes: Buffer, place: number, value: number): Buffer => {
  const copy = Buffer.from(bytes);
  copy.writeInt32LE(value, place < 0 ? copy.length + place : place);
  return copy;
};

/** A member with every optional field of RFC 1952: extra bytes, a name, a comment, and a checksum of them. */
function memberWithFields(): Buffer {
  const extra = Buffer.alloc(2 + 65_535, 7);
  extra.writeUInt16LE(65_535);
  const head = Buffer.concat([
    Buffer.of(0x1f, 0x8b, 8, 0b11110, 0, 0, 0, 0, 0, 255),
    extra,
    Buffer.from(`${'n'.repeat(100_000)}\0${'c'.repeat(100_000)}\0`),
  ]);
  const check = Buffer.alloc(2);
  check.writeUInt16LE(crc32(head) & 0xffff);
  return Buffer.concat([head, check, gzipSync(GOOD).subarray(10)]);
}

/** What gzip can be besides a file that somebody compressed; each is sent as CSV. */
export function gzipShapes(): readonly GzipShape[] {
  const good = gzipSync(GOOD);
  return [
    { how: 'a file', body: good, rows: 3 },
    { how: 'two members', body: Buffer.concat([gzipSync(HEADER), gzipSync(LINE)]), rows: 1 },
    {
      how: 'ten thousand members of a line each',
      body: Buffer.concat([gzipSync(HEADER), times(gzipSync(LINE), 10_000)]),
      rows: 10_000,
    },
    { how: 'a hundred thousand empty members', body: Buffer.concat([times(gzipSync(''), 100_000), good]), rows: 3 },
    { how: 'every optional field', body: memberWithFields(), rows: 3 },
    { how: 'nothing', body: Buffer.alloc(0) },
    { how: 'a file of nothing', body: gzipSync('') },
    { how: 'what is not compressed', body: GOOD },
    { how: 'gzip in gzip', body: gzipSync(good) },
    { how: 'deflate', body: deflateSync(GOOD) },
    { how: 'the first half', body: good.subarray(0, good.length >> 1) },
    { how: 'no checksum', body: good.subarray(0, -8) },
    { how: 'another checksum', body: edited(good, -8, 1) },
    { how: 'another length', body: edited(good, -4, 1) },
    { how: 'zeros behind it', body: Buffer.concat([good, Buffer.alloc(MIB)]) },
    { how: 'noise behind it', body: Buffer.concat([good, Buffer.from('noise'.repeat(1_000))]) },
    { how: 'a gigabyte of zeros', body: times(gzipSync(Buffer.alloc(16 * MIB)), 64) },
    { how: 'a gigabyte of line ends', body: times(gzipSync(Buffer.alloc(16 * MIB, '\n')), 64) },
    {
      how: 'a gigabyte of commas, after a good file',
      body: Buffer.concat([good, times(gzipSync(Buffer.alloc(16 * MIB, ',')), 64)]),
    },
    { how: 'a gigabyte inside of gzip inside of gzip', body: gzipSync(times(gzipSync(Buffer.alloc(16 * MIB)), 64)) },
  ];
}

/** A form with one file. */
export function multipartOf(file: Buffer, type: string): { readonly body: Buffer; readonly contentType: string } {
  const disposition = 'content-disposition: form-data; name="file"; filename="file"';
  const head = `--${BOUNDARY}\r\n${disposition}\r\ncontent-type: ${type}\r\n\r\n`;
  return {
    body: Buffer.concat([Buffer.from(head), file, Buffer.from(`\r\n--${BOUNDARY}--\r\n`)]),
    contentType: `multipart/form-data; boundary=${BOUNDARY}`,
  };
}

/** What a form can be besides one with a file. */
export function multipartShapes(): readonly MultipartShape[] {
  const { body, contentType } = multipartOf(GOOD, 'text/csv');
  const text = body.toString();
  const form = (how: string, content: string, type = contentType): MultipartShape => ({
    how,
    body: Buffer.from(content),
    contentType: type,
  });
  const field = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="a"\r\n\r\nx\r\n`;
  return [
    form('nothing', ''),
    form('no boundary told', text, 'multipart/form-data'),
    form('an empty boundary', text, 'multipart/form-data; boundary='),
    form('another boundary', text, 'multipart/form-data; boundary=other'),
    form('a boundary of 10,000 letters', text, `multipart/form-data; boundary=${'x'.repeat(10_000)}`),
    form('a boundary of dashes', `${'-'.repeat(100_000)}`, 'multipart/form-data; boundary=----'),
    form('no end', text.slice(0, -BOUNDARY.length - 8)),
    form('no file', `${field}--${BOUNDARY}--\r\n`),
    form('ten thousand fields, then a file', field.repeat(10_000) + text),
    form('ten thousand files', text.slice(0, -BOUNDARY.length - 8).repeat(10_000)),
    form('no name', text.replace('; name="file"; filename="file"', '')),
    form('a name of 100,000 letters', text.replace('filename="file"', `filename="${'x'.repeat(100_000)}"`)),
    form('a name that leads elsewhere', text.replace('filename="file"', 'filename="../../etc/passwd\0.csv"')),
    form('ten thousand headers', text.replace('\r\n\r\n', `\r\n${'x-header: y\r\n'.repeat(10_000)}\r\n`)),
    form('a header without end', `--${BOUNDARY}\r\n${'x'.repeat(1_000_000)}`),
    form('a form in a form', multipartOf(body, contentType).body.toString()),
    form('what is no type', text.replace('text/csv', 'no type at all;;;=')),
    form('what it does not take', text.replace('text/csv', 'image/png')),
    form('a transfer encoding', text.replace('content-type', 'content-transfer-encoding: base64\r\ncontent-type')),
    form('a type in a charset', text.replace('text/csv', 'text/csv; charset=utf-16')),
    {
      how: 'lengths that almost are boundaries',
      body: times(Buffer.from(`\r\n--${BOUNDARY.slice(0, -1)}`), 50_000),
      contentType,
    },
  ];
}
