import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { gzipSync } from 'node:zlib';
import { ProblemError } from '../../schema/problems.ts';
import { heard, open, parseAnswer, type RawAnswer } from '../raw-http.ts';
import { openDoor } from './door.ts';
import { errorOf, RECORDS_PATH as PATH, recording } from './recording-port.ts';

const MEBIBYTE = 1024 ** 2;

test.each([
  ['text/csv; charset=utf-8', 'text/csv'],
  ['text/tab-separated-values', 'text/csv'],
  ['application/x-ndjson', 'application/x-ndjson'],
  ['application/jsonl', 'application/x-ndjson'],
  ['application/vnd.apache.parquet', 'application/vnd.apache.parquet'],
])('a file of %s comes through byte for byte', async (contentType, mediaType) => {
  const port = recording();
  await using door = await openDoor(port);
  const bytes = randomBytes(MEBIBYTE);
  const response = await door.call('POST', PATH, { body: bytes, headers: { 'content-type': contentType } });
  expect(response.status).toBe(202);
  expect(await response.json()).toMatchObject({
    upload_id: 'upload_1',
    status: 'completed',
    failure: null,
    kind: 'touchpoints',
    accepted: 3,
    rejected: 1,
    errors: [{ line: 4, column: 'timestamp' }],
    trust: { verification: { claims_total: 3 } },
  });
  expect(response.headers.get('location')).toBe('https://api.example/v1/data-sources/ds_1/rejects');
  expect(port.received).toHaveLength(1);
  expect(port.received[0]).toMatchObject({ dataSourceId: 'ds_1', mediaType, contentEncoding: 'identity' });
  expect(port.received[0]!.bytes.equals(bytes)).toBe(true);
});

describe('a body in HTTP chunks', () => {
  const send = async (door: { readonly url: string }, chunk: string, count: number): Promise<RawAnswer> => {
    const socket = open(door.url);
    const answer = heard(socket, (text) => text.includes('}}'));
    socket.write(
      `POST ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer test\r\nX-Nonce: ${randomUUID()}\r\nContent-Type: ` +
        `text/csv\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    socket.write(`${`${chunk.length.toString(16)}\r\n${chunk}\r\n`.repeat(count)}0\r\n\r\n`);
    return parseAnswer(await answer);
  };

  test('of a line each is taken', async () => {
    const port = recording();
    await using door = await openDoor(port);
    expect(await send(door, 'user-1,2026-01-05T10:00:00Z,email,0.40\n', 20_000)).toMatchObject({ status: 202 });
    expect(port.received[0]!.bytes.length).toBe(20_000 * 39);
  });

  test('of a byte each is refused, and its connection cut', async () => {
    await using door = await openDoor(recording());
    const { status, body } = await send(door, 'x', 200_000);
    expect({ status, body }).toMatchObject({ status: 400, body: expect.stringContaining('tiny_chunks') });
  });
});

test('gzip is passed through for the port to unpack', async () => {
  const port = recording();
  await using door = await openDoor(port);
  const bytes = gzipSync('a,b\n1,2\n');
  await (
    await door.call('POST', PATH, { body: bytes, headers: { 'content-type': 'text/csv', 'content-encoding': 'gzip' } })
  ).text();
  expect(port.received[0]).toMatchObject({ contentEncoding: 'gzip' });
  expect(port.received[0]!.bytes.equals(bytes)).toBe(true);
});

test('rows arrive while the client still sends, and wait while the port is busy', async () => {
  const firstChunk = Promise.withResolvers<void>();
  await using door = await openDoor({
    async ingestRecords(_context, _id, { body }) {
      let bytes = 0;
      for await (const chunk of body) {
        bytes += chunk.length;
        firstChunk.resolve();
      }
      return {
        status: 'completed',
        failure: null,
        kind: 'touchpoints',
        accepted: bytes,
        rejected: 0,
        errors: [],
        warnings: [],
      };
    },
  });
  const stream = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(Buffer.from('a,b\n'));
      await firstChunk.promise;
      controller.enqueue(Buffer.from('1,2\n'));
      controller.close();
    },
  });
  const response = await door.call('POST', PATH, { body: stream, headers: { 'content-type': 'text/csv' } });
  expect(await response.json()).toMatchObject({ accepted: 8 });
});

test('a port that reads slowly is not taken for a client that stalls', async () => {
  await using door = await openDoor({
    config: { bodyTimeoutMs: 50 },
    async ingestRecords(_context, _id, { body }) {
      let bytes = 0;
      for await (const chunk of body) {
        if (bytes === 0) await new Promise((resolve) => setTimeout(resolve, 120));
        bytes += chunk.length;
      }
      return {
        status: 'completed',
        failure: null,
        kind: 'touchpoints',
        accepted: bytes,
        rejected: 0,
        errors: [],
        warnings: [],
      };
    },
  });
  const response = await door.call('POST', PATH, {
    body: Buffer.alloc(MEBIBYTE),
    headers: { 'content-type': 'text/csv' },
  });
  expect(await response.json()).toMatchObject({ accepted: MEBIBYTE });
});

describe('rows as JSON', () => {
  test('an array is passed on as it came, so that no number loses digits', async () => {
    const port = recording();
    await using door = await openDoor(port);
    const body = '[ {"order_id": 12345678901234567890, "revenue": 1.10} ]';
    await (await door.call('POST', PATH, { body, headers: { 'content-type': 'application/json' } })).text();
    expect(port.received[0]).toMatchObject({ mediaType: 'application/json', contentEncoding: 'identity' });
    expect(port.received[0]!.bytes.toString()).toBe(body);
  });

  test('the records member is passed on as an array', async () => {
    const port = recording();
    await using door = await openDoor(port);
    await (await door.call('POST', PATH, { body: { records: [{ a: 1 }] } })).text();
    expect(JSON.parse(port.received[0]!.bytes.toString())).toEqual([{ a: 1 }]);
    const misspelt = await door.call('POST', PATH, { body: { records: [{ a: 1 }], dry_run: true } });
    expect(await errorOf(misspelt)).toMatchObject({ code: 'unknown_member', param: '/dry_run' });
    expect(port.received).toHaveLength(1);
  });

  test.each([
    ['1001 rows', Array.from({ length: 1001 }, () => ({}))],
    ['rows that are no objects', [1]],
    ['neither array nor records', { rows: [] }],
    ['1001 records', { records: Array.from({ length: 1001 }, () => ({})) }],
  ])('%s are refused', async (_what, body) => {
    const port = recording();
    await using door = await openDoor(port);
    const response = await door.call('POST', PATH, { body });
    expect(response.status).toBe(422);
    expect(await errorOf(response)).toMatchObject({ type: 'validation_error' });
    expect(port.received).toEqual([]);
  });

  test('broken JSON is 400, JSON over 1 MiB 413, compressed JSON 415', async () => {
    await using door = await openDoor();
    const send = (body: string | Buffer, headers: Record<string, string> = {}) =>
      door.call('POST', PATH, { body, headers: { 'content-type': 'application/json', ...headers } });
    expect((await send('[{')).status).toBe(400);
    expect((await send(`[${' '.repeat(MEBIBYTE)}]`)).status).toBe(413);
    expect((await send(gzipSync('[]'), { 'content-encoding': 'gzip' })).status).toBe(415);
  });
});

describe('limits and failures', () => {
  test.each([
    ['a declared length', () => Buffer.alloc(5 * MEBIBYTE)],
    ['a stream', () => new Blob([Buffer.alloc(5 * MEBIBYTE)]).stream()],
  ])('%s over UPLOAD_MAX_BYTES is 413', async (_how, body) => {
    await using door = await openDoor();
    const response = await door.call('POST', PATH, { body: body(), headers: { 'content-type': 'text/csv' } });
    expect(response.status).toBe(413);
    expect((await errorOf(response)).type).toBe('payload_too_large');
  });

  test('a form over UPLOAD_MAX_BYTES is 413', async () => {
    await using door = await openDoor();
    const data = new FormData();
    data.set('file', new Blob([Buffer.alloc(5 * MEBIBYTE)], { type: 'text/csv' }), 'a.csv');
    expect((await door.call('POST', PATH, { body: data })).status).toBe(413);
  });

  test('the limit is what the client hears, whatever the port makes of it', async () => {
    await using door = await openDoor({
      async ingestRecords(_context, _id, { body }) {
        try {
          let bytes = 0;
          for await (const chunk of body) bytes += chunk.length;
          return {
            status: 'completed',
            failure: null,
            kind: 'touchpoints',
            accepted: bytes,
            rejected: 0,
            errors: [],
            warnings: [],
          };
        } catch (cause) {
          throw new Error('the load failed', { cause });
        }
      },
    });
    const response = await door.call('POST', PATH, {
      body: new Blob([Buffer.alloc(5 * MEBIBYTE)]).stream(),
      headers: { 'content-type': 'text/csv' },
    });
    expect(response.status).toBe(413);
  });

  test('a port that refuses at the first chunk answers while the body is still on its way', async () => {
    await using door = await openDoor({
      async ingestRecords(_context, _id, { body }) {
        for await (const chunk of body)
          throw new ProblemError(
            'validation_error',
            `unknown columns: ${Buffer.from(chunk).toString('latin1', 0, 3)}`,
            { code: 'unrecognised_columns', param: '/content' },
          );
        throw new Error('there was no chunk');
      },
    });
    const response = await door.call('POST', PATH, {
      body: Buffer.alloc(3 * MEBIBYTE, 'x,'),
      headers: { 'content-type': 'text/csv' },
    });
    expect(response.status).toBe(422);
    expect(await errorOf(response)).toMatchObject({
      code: 'unrecognised_columns',
      message: 'unknown columns: x,x',
      errors: [{ param: '' }],
    });
  });

  test('a connection serves on after a refusal, even when the port leaves its reading unfinished', async () => {
    await using door = await openDoor({
      async ingestRecords(_context, _id, { body }) {
        await body[Symbol.asyncIterator]().next();
        throw new ProblemError('validation_error', 'unknown columns', {
          code: 'unrecognised_columns',
          param: '/content',
        });
      },
    });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const statusOf = async (method: string, path: string, body = Buffer.alloc(0)): Promise<number | undefined> => {
      const request = httpRequest(`${door.url}${path}`, {
        method,
        agent,
        headers: { authorization: 'Bearer all', 'x-nonce': `nonce-${body.length}-bytes`, 'content-type': 'text/csv' },
      });
      request.end(body);
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      await response.resume().toArray();
      return response.statusCode;
    };
    expect(await statusOf('POST', PATH, Buffer.alloc(3 * MEBIBYTE, 'x,'))).toBe(422);
    expect(await statusOf('GET', '/v1/health')).toBe(200);
    agent.destroy();
  });

  test.each([['image/png'], [''], ['text/csv; charset=iso-8859-1'], ['application/x-ndjson;charset="UTF-16"']])(
    'Content-Type %j is 415',
    async (contentType) => {
      await using door = await openDoor();
      const response = await door.call('POST', PATH, {
        body: Buffer.from('x'),
        headers: { 'content-type': contentType === '' ? null : contentType },
      });
      expect(response.status).toBe(415);
      expect((await errorOf(response)).message).toContain('text/csv');
    },
  );

  test('an unknown Content-Encoding is 415', async () => {
    await using door = await openDoor();
    const response = await door.call('POST', PATH, {
      body: Buffer.from('x'),
      headers: { 'content-type': 'text/csv', 'content-encoding': 'br' },
    });
    expect(response.status).toBe(415);
  });

  test('a client that goes away ends the port’s stream with an error', async () => {
    const reading = Promise.withResolvers<void>();
    const outcome = Promise.withResolvers<unknown>();
    await using door = await openDoor({
      async ingestRecords(_context, _id, { body }) {
        try {
          for await (const _ of body) reading.resolve();
        } catch (error) {
          outcome.resolve(error);
          throw error;
        }
        throw new Error('the body ended as if it were complete');
      },
    });
    const request = httpRequest(`${door.url}${PATH}`, {
      method: 'POST',
      headers: {
        authorization: 'Bearer all',
        'x-nonce': 'nonce-cut-1',
        'content-type': 'text/csv',
        'content-length': '100',
      },
    });
    request.on('error', () => undefined);
    request.write('a,b\n');
    await reading.promise;
    request.destroy();
    expect(await outcome.promise).toMatchObject({ type: 'invalid_request', problem: { code: 'incomplete_body' } });
    expect(door.logs.filter(({ level }) => level >= 50)).toEqual([]);
  });

  test('memory stays flat: a port sees every byte of a body larger than any buffer', async () => {
    const hash = createHash('sha256');
    let largest = 0;
    await using door = await openDoor({
      config: { uploadMaxBytes: 64 * MEBIBYTE },
      async ingestRecords(_context, _id, { body }) {
        for await (const chunk of body) {
          largest = Math.max(largest, chunk.length);
          hash.update(chunk);
        }
        return {
          status: 'completed',
          failure: null,
          kind: 'touchpoints',
          accepted: 1,
          rejected: 0,
          errors: [],
          warnings: [],
        };
      },
    });
    const block = randomBytes(MEBIBYTE);
    const expected = createHash('sha256');
    let sent = 0;
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (sent === 48) return controller.close();
        sent += 1;
        expected.update(block);
        controller.enqueue(block);
      },
    });
    const response = await door.call('POST', PATH, { body: stream, headers: { 'content-type': 'text/csv' } });
    expect(response.status).toBe(202);
    expect(hash.digest('hex')).toBe(expected.digest('hex'));
    expect(largest).toBeLessThan(2 * MEBIBYTE);
  });
});
