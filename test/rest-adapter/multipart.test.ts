import { randomBytes, randomUUID } from 'node:crypto';
import { heard, open, parseAnswer } from '../raw-http.ts';
import { openDoor } from './door.ts';
import { errorOf, RECORDS_PATH as PATH, recording } from './recording-port.ts';

const MEBIBYTE = 1024 ** 2;

function form(...files: [name: string, file: Blob, fileName: string][]): FormData {
  const data = new FormData();
  for (const file of files) data.append(...file);
  return data;
}

describe('multipart/form-data', () => {
  test.each([
    ['stalls', '', 'body_timeout'],
    ['is too large', 'x'.repeat(2000), 'body_too_large'],
  ])('a file whose form %s ends for its reader, too', async (_what, more, code) => {
    const { promise: ended, resolve: end } = Promise.withResolvers<unknown>();
    await using door = await openDoor({
      config: { bodyTimeoutMs: 100, uploadMaxBytes: 1000 },
      async ingestRecords(_context, _id, { body }) {
        try {
          for await (const chunk of body) void chunk;
          throw new Error('the file is not whole');
        } catch (error) {
          end(error);
          throw error;
        }
      },
    });
    const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n';
    const socket = open(door.url);
    const answer = heard(socket, (text) => text.includes('"error"'));
    socket.write(
      `POST ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer test\r\nX-Nonce: ${randomUUID()}\r\nContent-Type: ` +
        `multipart/form-data; boundary=b\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    for (const part of [`${head}a,b\n`, more].filter(Boolean))
      socket.write(`${part.length.toString(16)}\r\n${part}\r\n`);
    expect(JSON.parse(parseAnswer(await answer).body)).toMatchObject({ error: { code } });
    expect(await ended).toMatchObject({ problem: { code } });
  });

  test('the file is streamed', async () => {
    const port = recording();
    await using door = await openDoor(port);
    const bytes = randomBytes(MEBIBYTE);
    const response = await door.call('POST', PATH, {
      body: form(['file', new Blob([bytes], { type: 'text/csv' }), 'touches.csv']),
    });
    expect(response.status).toBe(202);
    expect(await response.json()).toMatchObject({ accepted: 3 });
    expect(port.received).toHaveLength(1);
    expect(port.received[0]).toMatchObject({
      mediaType: 'text/csv',
      contentEncoding: 'identity',
      fileName: 'touches.csv',
    });
    expect(port.received[0]!.bytes.equals(bytes)).toBe(true);
  });

  test.each<[string, string, (data: FormData) => void]>([
    ['a second file', 'one_file', (data) => data.append('more', new Blob([randomBytes(300_000)]), 'more.csv')],
    ['another part', 'unknown_member', (data) => data.append('more', '{"dry_run":true}')],
  ])('%s behind the file refuses the form before anything is stored', async (_what, code, addTo) => {
    let isWhole = false;
    await using door = await openDoor({
      async ingestRecords(_context, _id, { body }) {
        for await (const chunk of body) void chunk;
        isWhole = true;
        throw new Error('the file came to its end');
      },
    });
    const data = form(['file', new Blob(['a,b\n1,2\n'], { type: 'text/csv' }), 'touches.csv']);
    addTo(data);
    const response = await door.call('POST', PATH, { body: data });
    expect([response.status, await response.json()]).toMatchObject([
      422,
      { error: { type: 'validation_error', code, param: '/more' } },
    ]);
    expect(isWhole).toBe(false);
  });

  test.each(['', '; filename="b.csv"'])('a part without a name%s is refused like any other', async (fileName) => {
    await using door = await openDoor(recording());
    const file = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\na,b\r\n';
    const nameless = `--b\r\nContent-Disposition: form-data${fileName}\r\n\r\nx\r\n--b--\r\n`;
    const response = await fetch(`${door.url}${PATH}`, {
      method: 'POST',
      headers: {
        authorization: 'Bearer test',
        'x-nonce': randomUUID(),
        'content-type': 'multipart/form-data; boundary=b',
      },
      body: `${file}${nameless}`,
    });
    expect([response.status, await response.json()]).toMatchObject([422, { error: { type: 'validation_error' } }]);
  });

  test('another part ahead of the file does, too', async () => {
    await using door = await openDoor(recording());
    const data = new FormData();
    data.append('note', '{}');
    data.append('file', new Blob(['a,b\n'], { type: 'text/csv' }), 'touches.csv');
    expect(await errorOf(await door.call('POST', PATH, { body: data }))).toMatchObject({
      code: 'unknown_member',
      param: '/note',
    });
  });

  test.each([
    ['application/vnd.ms-excel', 'touches.CSV', 'text/csv', 'identity'],
    ['application/gzip', 'touches.ndjson.gz', 'application/x-ndjson', 'gzip'],
    ['application/octet-stream', 'touches.parquet', 'application/vnd.apache.parquet', 'identity'],
  ])('%s named %s is known by its name', async (type, fileName, mediaType, contentEncoding) => {
    const port = recording();
    await using door = await openDoor(port);
    await (await door.call('POST', PATH, { body: form(['file', new Blob(['x'], { type }), fileName]) })).text();
    expect(port.received[0]).toMatchObject({ mediaType, contentEncoding, fileName });
  });

  test('a port that does not read to the end still gets its answer out', async () => {
    await using door = await openDoor({
      ingestRecords: async () => ({
        status: 'completed',
        failure: null,
        kind: 'touchpoints',
        accepted: 0,
        rejected: 0,
        errors: [],
        warnings: [],
      }),
    });
    const response = await door.call('POST', PATH, {
      body: form(['file', new Blob([randomBytes(MEBIBYTE)], { type: 'text/csv' }), 'a.csv']),
    });
    expect(response.status).toBe(202);
    await response.text();
  });

  test.each([
    ['a form without a file', () => form(), 400, 'missing_file'],
    [
      'a file of an unknown type',
      () => form(['file', new Blob(['x'], { type: 'image/png' }), 'a.png']),
      415,
      undefined,
    ],
  ])('%s is refused', async (_what, body, status, code) => {
    await using door = await openDoor();
    const response = await door.call('POST', PATH, { body: body() });
    expect(response.status).toBe(status);
    expect((await errorOf(response)).code).toBe(code);
  });

  test.each([
    ['application/json', 'rows'],
    ['image/png', 'rows.png'],
  ])('a part of %s is told what a part may be, and where rows as JSON go', async (type, name) => {
    await using door = await openDoor();
    const response = await door.call('POST', PATH, { body: form(['rows', new Blob(['[]'], { type }), name]) });
    const { param, message } = await errorOf(response);
    expect([response.status, param]).toEqual([415, '/rows']);
    expect(message).toBe(
      'rows: a file in a form must be text/csv, application/x-ndjson, application/vnd.apache.parquet or a workbook ' +
        '(.xlsx), by its media type or its name. Send rows as JSON without a form, as application/json.',
    );
  });

  test.each([
    ['without a boundary', 'multipart/form-data', 'x'],
    [
      'with a boundary of 71 characters',
      `multipart/form-data; boundary=${'b'.repeat(71)}`,
      `--${'b'.repeat(71)}\r\nContent-Disposition: form-data; name="f"; ` +
        `filename="a.csv"\r\n\r\na,b\n\r\n--${'b'.repeat(71)}--`,
    ],
    [
      'cut off in a file',
      'multipart/form-data; boundary=b',
      '--b\r\nContent-Disposition: form-data; name="f"; filename="a.csv"\r\nContent-Type: text/csv\r\n\r\na,b\n1,',
    ],
    ['that is something else', 'multipart/form-data; boundary=b', 'a,b\n1,2\n'],
  ])('a form %s is 400', async (_what, contentType, body) => {
    await using door = await openDoor(recording());
    const response = await door.call('POST', PATH, { body, headers: { 'content-type': contentType } });
    expect(response.status).toBe(400);
    expect((await errorOf(response)).type).toBe('invalid_request');
  });

  test.each([
    ['plain', 'boundary=b=1'],
    ['quoted', 'charset=utf-8; boundary="b=1"'],
  ])('a %s boundary is read', async (_what, parameters) => {
    const port = recording();
    await using door = await openDoor(port);
    const body = '--b=1\r\nContent-Disposition: form-data; name="f"; filename="a.csv"\r\n\r\na,b\n\r\n--b=1--';
    const response = await door.call('POST', PATH, {
      body,
      headers: { 'content-type': `multipart/form-data; ${parameters}` },
    });
    expect(response.status).toBe(202);
    expect(port.received).toHaveLength(1);
  });

  test.each([
    ['before the file', (parts: string, file: string) => parts + file],
    ['behind the file', (parts: string, file: string) => file + parts],
  ])('a form of a hundred thousand parts %s is 400 without being read to its end', async (_where, form) => {
    await using door = await openDoor(recording());
    const file = '--b\r\nContent-Disposition: form-data; name="f"; filename="a.csv"\r\n\r\na,b\n\r\n';
    const response = await door.call('POST', PATH, {
      body: form('--b\r\n\r\n'.repeat(100_000), file) + '--b--',
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
    });
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({ type: 'invalid_request', code: 'too_many_parts' });
  });

  test('a form that is cut off before the port begins to read is 400', async () => {
    const port = recording();
    const body =
      '--b\r\nContent-Disposition: form-data; name="f"; filename="a.csv"\r\nContent-Type: text/csv\r\n\r\na,b\n1,';
    await using door = await openDoor({
      async ingestRecords(context, id, upload) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        return port.ingestRecords(context, id, upload);
      },
    });
    const response = await door.call('POST', PATH, {
      body,
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
    });
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({ type: 'invalid_request', code: 'malformed_multipart' });
    expect(port.received).toEqual([]);
  });
});
