import { readFileSync } from 'node:fs';
import readWorkbook from 'read-excel-file/node';
import { Caller, LAYOUTS, openHouse, type House, type Json } from '../house.ts';
import { clock } from '../service-clock.ts';
import { withTestKey } from '../test-key.ts';

const EVENTS = readFileSync(new URL('../compute/fixtures/events.csv', import.meta.url), 'utf8');
const DATE_RANGE = ['2025-01-06', '2025-04-05'];
/** Sandbox shops are made while the test waits. */
const PATIENCE_MS = 120_000;

/** What a reader sees between tags. */
const wordsOf = (page: string): string =>
  page
    .replace(/<style[^>]*>[\s\S]*?<\/style>/g, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ');

describe.each(LAYOUTS)('the report of an analysis, %s', (layout) => {
  let house: House;
  let caller: Caller;
  let source: string;
  let analysis: Json;

  const run = async (body: object) =>
    (await caller.post('/attribution', { data_source_id: source, date_range: DATE_RANGE, ...body })).body;
  const download = async (of: Json, query = '', who = caller) => {
    const response = await who.open('GET', `/attribution/${String(of['id'])}/report${query}`);
    return { response, text: await response.text() };
  };

  beforeAll(async () => {
    house = await openHouse(layout, { clock });
    caller = await Caller.register(house.root);
    const connected = await caller.post('/data-sources/connect', {
      type: 'csv_upload',
      credentials: { content: EVENTS },
      baseline_channels: ['direct', 'organic*'],
    });
    source = String(connected.body['data_source_id']);
    analysis = await run({ granularity: 'monthly' });
  });
  afterAll(() => house?.stop());

  test('is one page with the figures of the answer, as an attachment with its trust headers', async () => {
    const { response, text } = await download(analysis);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(response.headers.get('content-disposition')).toBe(
      `attachment; filename="liftgraph-${String(analysis['id'])}-report.html"`,
    );
    expect(response.headers.get('svc-hrei-score')).toMatch(/^[\d.]+$/);
    expect(text).toMatch(/^<!doctype html>[\s\S]*<\/html>\s*$/);
    expect(text).not.toMatch(/<script|<link|\ssrc=/i);
    const words = wordsOf(text);
    expect(words).toContain(`${source} · ${String(analysis['id'])}`);
    expect(words).not.toContain('sandbox');
    const format = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
    for (const { channel, attributed_revenue: credit } of analysis['channel_impact'] as unknown as Json[])
      expect(words).toMatch(new RegExp(`${String(channel)}.*${format.format(Math.abs(Number(credit)))}`));
    expect(wordsOf((await download(analysis, '?format=html')).text)).toBe(words);
  });

  test('shows the channels that the analysis was restricted to, and no other', async () => {
    const restricted = await run({ channels: ['video'], model: 'shapley' });
    const words = wordsOf((await download(restricted)).text);
    const others = (analysis['channel_impact'] as unknown as Json[])
      .map(({ channel }) => String(channel))
      .filter((channel) => channel !== 'video' && channel !== 'direct');
    expect(others.length).toBeGreaterThan(2);
    expect(others.filter((channel) => words.includes(channel))).toEqual([]);
    expect(words).toContain('video');
  });

  test('comes as a workbook', async () => {
    const response = await caller.open('GET', `/attribution/${String(analysis['id'])}/report?format=xlsx`);
    expect([
      response.status,
      response.headers.get('content-type'),
      response.headers.get('content-disposition'),
    ]).toEqual([
      200,
      'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
      `attachment; filename="liftgraph-${String(analysis['id'])}-report.xlsx"`,
    ]);
    const sheets = await readWorkbook(Buffer.from(await response.arrayBuffer()));
    const channels = new Map(sheets.find(({ sheet }) => sheet === 'Channels')!.data.map((row) => [row[0], row[4]]));
    for (const impact of analysis['channel_impact'] as unknown as Json[])
      if (impact['is_baseline'] === (false as unknown as Json))
        expect([impact['channel'], channels.get(String(impact['channel']))]).toEqual([
          impact['channel'],
          impact['attributed_revenue'],
        ]);
  });

  test('the graph says where it is, once there are figures', async () => {
    const asked = async (of: Json) =>
      (await caller.graphql(`{ attribution(id: "${String(of['id'])}") { reportUrl } }`))['data'];
    const url = (await asked(analysis)) as unknown as { attribution: { reportUrl: string } };
    expect(new URL(url.attribution.reportUrl).pathname).toBe(`/v1/attribution/${String(analysis['id'])}/report`);
    expect(await asked(await run({ date_range: ['2026-06-01', '2026-06-30'] }))).toEqual({
      attribution: { reportUrl: null },
    });
  });

  test('is told by the audit log, as every download', async () => {
    await download(analysis);
    const { body } = await caller.get('/audit/events?event_type=data.exported');
    expect((body['events'] as unknown as Json[])[0]).toMatchObject({
      target: { type: 'attribution', id: analysis['id'] },
      details: { level: 'report', format: 'html' },
    });
  });

  test('what cannot be had is refused in words that help', async () => {
    const refusal = async (of: Json, query = '', who = caller) => {
      const { response, text } = await download(of, query, who);
      expect(response.headers.get('content-disposition')).toBeNull();
      return [response.status, (JSON.parse(text) as Json)['error']] as const;
    };
    expect(await refusal(analysis, '?format=pdf')).toMatchObject([
      422,
      { type: 'validation_error', param: 'query:format' },
    ]);
    const failed = await run({ date_range: ['2026-06-01', '2026-06-30'] });
    expect(await refusal(failed)).toMatchObject([409, { type: 'conflict', code: 'not_ready' }]);
    expect(await refusal(analysis, '', await Caller.register(house.root))).toMatchObject([
      404,
      { type: 'resource_not_found' },
    ]);
  });

  test(
    'of the sandbox says that it is',
    async () => {
      const tester = await withTestKey(house, caller);
      const { body } = await tester.post(
        '/attribution',
        { data_source_id: 'ds_sandbox_shopify', date_range: ['2026-06-01', '2026-07-31'] },
        { prefer: 'wait=60' },
      );
      const { response, text } = await download(body, '', tester);
      expect([response.status, response.headers.get('svc-environment')]).toEqual([200, 'sandbox']);
      expect(wordsOf(text)).toContain(
        `${String(body['data_source_id'])} · ${String(body['id'])} · sandbox, not real business`,
      );
    },
    PATIENCE_MS,
  );
});
