import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { Caller, LAYOUTS, openHouse, type House } from '../house.ts';
import { open } from '../raw-http.ts';
import { clock } from '../service-clock.ts';

const DATE_RANGE = ['2026-01-01', '2026-01-31'];
const ROWS = 12_000;
const STEPS = 24;
/** Short names in the file, long ones by the rules of the source: a small upload makes a large export. */
const PATHS = Array.from({ length: ROWS }, (_, row) => {
  const path = Array.from({ length: STEPS }, (_, step) => (((row >> step) & 1) === 1 ? 'a' : 'b'));
  return `${path.join(' > ')},1,1`;
});
const FILE = gzipSync(`path,conversions,revenue\n${PATHS.join('\n')}`);
const RULES = ['a', 'b'].map((channel) => ({ match: { channel }, channel: channel.repeat(100) }));
/** Less than ROWS · STEPS · 100, and more than any other level has. */
const MAX_EXPORT_BYTES = 40_000_000;
/** As patient as a busy machine needs it to be; whoever tests the pace sets it. */
const slowestReader = { bytesPerS: 1_000_000, patienceMs: 60_000, longestMs: 3_600_000 };

describe.each(LAYOUTS)('exports that nobody reads, %s', (layout) => {
  let house: House;
  let caller: Caller;
  let source: string;
  let analysis: string;
  const left: AbortController[] = [];

  const account = async () => {
    const own = await Caller.register(house.root);
    const { body } = await own.post('/data-sources/connect', {
      type: 'csv_upload',
      credentials: { content: 'path,conversions,revenue,nulls\na > b,5,100,10\nb,2,50,10\na,3,20,30\n' },
    });
    const id = String(body['data_source_id']);
    const run = await own.post('/attribution', { data_source_id: id, date_range: DATE_RANGE, model: 'markov' });
    return { own, source: id, analysis: String(run.body['id']) };
  };
  const exported = (query = 'format=json&level=paths') => `/attribution/${analysis}/export?${query}`;
  /** Asks, and reads nothing but the head of the answer. */
  const ask = async (query?: string) => {
    const leaving = new AbortController();
    left.push(leaving);
    const response = await fetch(`${house.root}/v1${exported(query)}`, {
      headers: { authorization: `Bearer ${caller.key}` },
      signal: leaving.signal,
    });
    return { response, leave: () => leaving.abort() };
  };
  /** Until places that were given back are free. */
  const untilTaken = async (query?: string) => {
    for (;;) {
      const asked = await ask(query);
      if (asked.response.status === 200) return asked;
      await asked.response.arrayBuffer();
      await sleep(50);
    }
  };

  beforeAll(async () => {
    house = await openHouse(layout, {
      clock,
      maxExportBytes: MAX_EXPORT_BYTES,
      config: { slowestReader },
    });
    ({ own: caller, source, analysis } = await account());
    const rules = JSON.stringify({ rules: RULES });
    const json = { 'content-type': 'application/json' };
    await caller.send('PUT', `/data-sources/${source}/channel-rules`, rules, json);
    const headers = { 'content-type': 'text/csv', 'content-encoding': 'gzip' };
    await caller.send('POST', `/data-sources/${source}/records`, FILE, headers);
  });
  afterEach(() => {
    slowestReader.patienceMs = 60_000;
    for (const leaving of left.splice(0)) leaving.abort();
  });
  afterAll(() => house?.stop());

  test('an account has four open, and the next is refused until a reader has his or goes', async () => {
    const opened = [];
    for (let index = 0; index < 4; index += 1) opened.push(await untilTaken());
    const refused = await caller.get(exported('format=csv&level=channels'));
    expect([refused.status, refused.headers.get('retry-after'), refused.body['error']]).toMatchObject([
      429,
      '2',
      {
        type: 'rate_limit_exceeded',
        code: 'concurrency',
        message: expect.stringMatching(/^4 of your exports are open/),
      },
    ]);
    const neighbour = await account();
    expect((await neighbour.own.open('GET', `/attribution/${neighbour.analysis}/export`)).status).toBe(200);

    opened[0]!.leave();
    const bytes = (await (await untilTaken()).response.arrayBuffer()).byteLength;
    expect(bytes).toBeGreaterThan(ROWS * STEPS * 100);
    await (await untilTaken('level=channels')).response.arrayBuffer();
  });

  test('one that fails, or whose client leaves before it begins, keeps no place', async () => {
    for (let round = 0; round < 6; round += 1) {
      expect((await caller.get(exported('level=periods'))).status).toBe(422);
      const socket = open(house.root);
      socket.write(`GET /v1${exported()} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${String(caller.key)}\r\n\r\n`);
      await sleep(5 * round);
      socket.destroy();
    }
    for (let index = 0; index < 4; index += 1) await untilTaken();
  });

  test('a reader below the pace is cut, and his place is free', async () => {
    slowestReader.patienceMs = 3_000;
    const reader = (await untilTaken()).response.body!.getReader();
    const startedMs = performance.now();
    await expect(
      (async () => {
        while (!(await reader.read()).done) await sleep(500);
      })(),
    ).rejects.toThrow();
    expect(performance.now() - startedMs).toBeLessThan(40_000);
    for (let index = 0; index < 4; index += 1) await untilTaken();
  });

  test('a file has a bound, which other levels and formats keep within', async () => {
    const more = gzipSync(`path,conversions,revenue\n${PATHS.map((row) => `a > a > b > ${row}`).join('\n')}`);
    const headers = { 'content-type': 'text/csv', 'content-encoding': 'gzip' };
    await caller.send('POST', `/data-sources/${source}/records`, more, headers);
    for (const format of ['json', 'ndjson', 'csv']) {
      const { status, body } = await caller.get(exported(`format=${format}&level=paths`));
      expect([format, status, body['error']]).toMatchObject([
        format,
        422,
        {
          type: 'validation_error',
          code: 'export_too_large',
          param: 'query:level',
          message: expect.stringMatching(/Ask for Parquet, for another level, or for an analysis of a shorter range/),
        },
      ]);
    }
    for (const query of ['format=parquet&level=paths', 'format=json&level=channels']) {
      const { response } = await untilTaken(query);
      expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(0);
    }
  });
});
