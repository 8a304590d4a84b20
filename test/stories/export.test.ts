import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { z } from 'zod';
import { Caller, LAYOUTS, openHouse, type House, type Json } from '../house.ts';
import { clock } from '../service-clock.ts';

const EVENTS = readFileSync(new URL('../compute/fixtures/events.csv', import.meta.url), 'utf8');
const DATE_RANGE = ['2025-01-06', '2025-04-05'];
/** Channels and campaigns that a spreadsheet, a parser or an engine may stumble over. */
const HOSTILE = [
  '=HYPERLINK("http://x")',
  '+1',
  '-2+3',
  '@SUM(A1)',
  '\'quoted\' \\ "twice"',
  '{x:String}',
  'a,b;c',
  'línea',
  '検索 📣',
  '＝1',
];
const HOSTILE_ROWS = HOSTILE.flatMap((name, index) => {
  const cell = `"${name.replaceAll('"', '""')}"`;
  return [`u${index},2026-01-01T10:00:00Z,${cell},${cell},0,0`, `u${index},2026-01-02T10:00:00Z,,,1,${10 + index}`];
});
const HOSTILE_CSV = ['user_id,timestamp,channel,campaign,conversion,revenue', ...HOSTILE_ROWS].join('\n');

type Row = Readonly<Record<string, unknown>>;
const rowsOfCsv = (text: string): Row[] => parse(text, { columns: true, record_delimiter: '\r\n' });

describe.each(LAYOUTS)('export, %s', (layout) => {
  let house: House;
  let caller: Caller;
  let analysis: Json;
  let hostile: Json;

  const connect = async (content: string, baseline = ['direct', 'organic*']) =>
    String(
      (
        await caller.post('/data-sources/connect', {
          type: 'csv_upload',
          credentials: { content },
          baseline_channels: baseline,
        })
      ).body['data_source_id'],
    );
  const run = async (body: object) =>
    (await caller.post('/attribution', { include: ['time_series', 'campaigns'], ...body })).body;
  const download = async (of: Json, query: string) => {
    const response = await caller.open('GET', `/attribution/${String(of['id'])}/export?${query}`);
    const bytes = Buffer.from(await response.arrayBuffer());
    return { response, bytes, text: bytes.toString() };
  };
  const jsonOf = async (of: Json, level: string) =>
    JSON.parse((await download(of, `format=json&level=${level}`)).text) as Row[];

  beforeAll(async () => {
    house = await openHouse(layout, { clock });
    caller = await Caller.register(house.root);
    analysis = await run({ data_source_id: await connect(EVENTS), date_range: DATE_RANGE, granularity: 'monthly' });
    hostile = await run({
      data_source_id: await connect(HOSTILE_CSV),
      date_range: ['2026-01-01', '2026-01-31'],
      model: 'shapley',
      granularity: 'weekly',
    });
  });
  afterAll(() => house?.stop());

  test('channels: the figures of the answer, as an attachment with its trust headers', async () => {
    const { response, text } = await download(analysis, '');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
    expect(response.headers.get('content-disposition')).toBe(
      `attachment; filename="liftgraph-${String(analysis['id'])}-channels.csv"`,
    );
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect([response.headers.get('svc-hrei-score'), response.headers.get('svc-hrei-risk')]).toEqual(
      await caller
        .open('GET', `/attribution/${String(analysis['id'])}`)
        .then(({ headers }) => [headers.get('svc-hrei-score'), headers.get('svc-hrei-risk')]),
    );
    const impact = analysis['channel_impact'] as unknown as Row[];
    const rows = rowsOfCsv(text);
    expect(
      rows.map((row) => [
        row['channel'],
        Number(row['attributed_revenue']),
        Number(row['lastclick_revenue']),
        Number(row['rank']),
        row['currency'],
      ]),
    ).toEqual(
      impact.map((each) => [
        each['channel'],
        each['attributed_revenue'],
        each['lastclick_revenue'],
        each['rank'],
        'USD',
      ]),
    );
    const {
      confidence_interval: interval,
      identification,
      ...shown
    } = impact[0]! as Row & {
      confidence_interval: { lower: number; upper: number };
      identification: { status: string };
    };
    expect((await jsonOf(analysis, 'channels'))[0]).toEqual({
      ...shown,
      interval_lower: interval.lower,
      interval_upper: interval.upper,
      identification: identification.status,
      currency: 'USD',
    });
  });

  test('periods and campaigns sum to the channels', async () => {
    const sums = (rows: readonly Row[]) =>
      Object.fromEntries(
        [...Map.groupBy(rows, (row) => String(row['channel']))]
          .map(([channel, own]) => [
            channel,
            Math.round(own.reduce((sum, row) => sum + 100 * Number(row['attributed_revenue']), 0)),
          ])
          .toSorted(),
      );
    const [channels, periods, campaigns] = await Promise.all(
      ['channels', 'periods', 'campaigns'].map((level) => jsonOf(analysis, level)),
    );
    expect(sums(periods!)).toEqual(sums(channels!));
    expect(sums(campaigns!)).toEqual(sums(channels!));
    expect(periods!.slice(0, 2)).toMatchObject([
      { period_start: '2025-01-01', partial: true },
      { period_start: '2025-01-01', partial: true },
    ]);
  });

  test('paths: every journey of the analysis, the same in every format; the CSV can be uploaded again', async () => {
    const paths = await jsonOf(analysis, 'paths');
    const total = (name: string) => paths.reduce((sum, row) => sum + Number(row[name]), 0);
    expect(total('conversions')).toBe(Number(analysis['conversions']));
    expect(Math.round(100 * total('revenue'))).toBe(Math.round(100 * Number(analysis['revenue'])));
    const diagnostics = (await caller.get(`/attribution/${String(analysis['id'])}?include=diagnostics`)).body[
      'diagnostics'
    ]!;
    const touched = paths.filter((row) => (row['path'] as string[]).length > 0);
    expect(touched.reduce((sum, row) => sum + Number(row['journeys']), 0)).toBe(Number(diagnostics['journeys']));

    const lines = (await download(analysis, 'format=ndjson&level=paths')).text;
    expect(
      lines
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Row),
    ).toEqual(paths);
    const { text } = await download(analysis, 'level=paths');
    expect(rowsOfCsv(text).map((row) => [row['path'], Number(row['journeys']), Number(row['revenue'])])).toEqual(
      paths.map((row) => [(row['path'] as string[]).join(' > '), row['journeys'], row['revenue']]),
    );

    const { bytes, response } = await download(analysis, 'format=parquet&level=paths');
    expect(response.headers.get('content-type')).toBe('application/vnd.apache.parquet');
    expect([bytes.subarray(0, 4).toString(), bytes.subarray(-4).toString()]).toEqual(['PAR1', 'PAR1']);

    const again = await connect(
      text.replace(
        /^"path","journeys","conversions","revenue","nulls"\r\n/,
        'path,touched,conversions,revenue,nulls\r\n',
      ),
    );
    const repeated = await run({ data_source_id: again, date_range: DATE_RANGE, model: 'markov' });
    const original = await run({
      data_source_id: String(analysis['data_source_id']),
      date_range: DATE_RANGE,
      model: 'markov',
    });
    expect(repeated['channel_impact']).toMatchObject(
      (original['channel_impact'] as unknown as Row[]).map(({ channel, attributed_revenue }) => ({
        channel,
        attributed_revenue,
      })),
    );
    expect((await download(repeated, 'level=periods')).response.status).toBe(422);
  });

  test('Parquet is read back by the engine, row by row', async () => {
    const { bytes } = await download(hostile, 'format=parquet&level=campaigns');
    const { clickhouse } = house.backing;
    await clickhouse.command(
      'CREATE TABLE taken_back (channel String, campaign Nullable(String), attributed_revenue Float64) ENGINE = Memory',
    );
    await clickhouse.insert('INSERT INTO taken_back FORMAT Parquet', bytes);
    const rows = await clickhouse.rows(
      'SELECT * FROM taken_back',
      z.object({ channel: z.string(), campaign: z.string().nullable(), attributed_revenue: z.number() }),
    );
    await clickhouse.command('DROP TABLE taken_back');
    expect(rows).toEqual(
      (await jsonOf(hostile, 'campaigns')).map(({ channel, campaign, attributed_revenue }) => ({
        channel,
        campaign,
        attributed_revenue,
      })),
    );
  });

  test('any name survives; in CSV none is a formula', async () => {
    for (const level of ['channels', 'campaigns', 'periods', 'paths']) {
      const names = (await jsonOf(hostile, level)).map((row) =>
        level === 'paths' ? (row['path'] as string[]).join(' > ') : String(row['channel']),
      );
      expect(new Set(names)).toEqual(new Set(HOSTILE));
      const cells = rowsOfCsv((await download(hostile, `level=${level}`)).text)
        .flatMap((row) => [row['channel'] ?? row['path'], row['campaign'] ?? ''])
        .map(String);
      for (const name of HOSTILE) expect(cells).toContain(/^[=+\-@＝]/.test(name) ? `'${name}` : name);
      expect(cells.filter((cell) => /^[=+\-@＝]/.test(cell))).toEqual([]);
    }
  });

  test('restricted to channels, it holds these, and the paths that touch one', async () => {
    const restricted = await run({
      data_source_id: String(analysis['data_source_id']),
      date_range: DATE_RANGE,
      channels: ['video'],
      model: 'shapley',
    });
    for (const level of ['channels', 'periods', 'campaigns'])
      expect(new Set((await jsonOf(restricted, level)).map((row) => row['channel']))).toEqual(new Set(['video']));
    const paths = await jsonOf(restricted, 'paths');
    expect(paths.every((row) => (row['path'] as string[]).includes('video'))).toBe(true);
    expect(paths).toEqual(
      (await jsonOf(analysis, 'paths')).filter((row) => (row['path'] as string[]).includes('video')),
    );
  });

  test('what cannot be had is refused in words that help', async () => {
    const refusal = async (of: Json, query: string) => {
      const { response, text } = await download(of, query);
      expect(response.headers.get('content-disposition')).toBeNull();
      return [response.status, (JSON.parse(text) as Json)['error']] as const;
    };
    expect(await refusal(analysis, 'format=xlsx')).toMatchObject([
      422,
      { type: 'validation_error', param: 'query:format' },
    ]);
    expect(await refusal(analysis, 'level=users')).toMatchObject([
      422,
      { type: 'validation_error', param: 'query:level' },
    ]);
    const source = String(analysis['data_source_id']);
    const failed = await run({ data_source_id: source, date_range: ['2026-06-01', '2026-06-30'] });
    expect(await refusal(failed, '')).toMatchObject([
      409,
      { type: 'conflict', code: 'not_ready', message: expect.stringMatching(/no figures: There is no conversion in/) },
    ]);
    expect(await refusal({ id: 'attr_0351EFUQxpVTZ7WdNYMSuY' } as unknown as Json, '')).toMatchObject([
      404,
      { type: 'resource_not_found' },
    ]);
    await caller.delete(`/data-sources/${String(hostile['data_source_id'])}`);
    expect(await refusal(hostile, 'level=paths')).toMatchObject([
      409,
      { type: 'data_source_unavailable', code: 'deleted' },
    ]);
    expect((await download(hostile, 'level=channels')).response.status).toBe(200);
  });
});
