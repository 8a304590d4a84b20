import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { PRESETS } from '../../../../../../subgraphs/attribution/intake/files/reader/presets/registry.ts';
import { presetBySignature } from '../../../../../../subgraphs/attribution/intake/files/reader/presets/apply-preset.ts';
import { PresetColumns } from '../../../../../../subgraphs/attribution/intake/files/reader/presets/preset-columns.ts';
import { CSV, NDJSON, readContent } from '../read-content.ts';

const csv = (...lines: readonly string[]): string => `${lines.join('\n')}\n`;
const ndjson = (...rows: readonly object[]): string => csv(...rows.map((row) => JSON.stringify(row)));

describe('what a file is', () => {
  test.each(PRESETS.flatMap(({ name, signatures }) => signatures.map((header) => [name, header] as const)))(
    '%s is known by %j and by no other',
    (name, header) => {
      const named = header.map((column) => column.replace(' (*)', ' (EUR)'));
      expect(presetBySignature(new PresetColumns(named, false))?.name).toBe(name);
    },
  );

  test('case, accents and punctuation of names do not count', () => {
    expect(presetBySignature(new PresetColumns(['CAMPAIGN', 'cost ', 'impr'], false))?.name).toBe('google_ads');
    expect(presetBySignature(new PresetColumns(['Campagne', 'Cout', 'Code de devise'], false))?.name).toBe(
      'google_ads',
    );
  });
});

describe('spend', () => {
  test('rows of one day and campaign add up, exactly', async () => {
    const { finding, rows } = await readContent(
      csv(
        'Day,Campaign,Device,Currency code,Cost,Impr.,Clicks',
        '2026-03-01,Brand,Mobile phones,USD,0.10,"1,000",1',
        '2026-03-02,Brand,Mobile phones,USD,5.00,7,2',
        '2026-03-01,Brand,Computers,USD,0.20,500,3',
      ),
    );
    expect(finding).toMatchObject({ preset: 'google_ads', accepted: 3, rejected: 0 });
    expect(rows.map(({ spend, impressions, clicks }) => [spend, impressions, clicks])).toEqual([
      [0.3, 1500, 4],
      [5, 7, 2],
    ]);
  });

  test('so do those of files in our own columns, and a sum beyond all amounts is refused', async () => {
    const { finding, rows } = await readContent(
      csv('date,channel,spend', '2026-03-01,tv,999999999999', '2026-03-01,tv,1', '2026-03-01,tv,1', '2026-03-01,x,2'),
    );
    expect(finding).toMatchObject({ accepted: 3, rejected: 1 });
    expect(finding!.rejects).toMatchObject([{ line: 4, code: 'amount_out_of_range' }]);
    expect(rows.map(({ channel, spend }) => [channel, spend])).toEqual([
      ['tv', 1e12],
      ['x', 2],
    ]);
  });

  test('what adds up is bounded', async () => {
    const lines = Array.from({ length: 400_001 }, (_, row) => `2026-03-01,c${row},1`);
    const { refusal, rows } = await readContent(csv('date,channel,spend', lines.join('\n')));
    expect(refusal).toMatchObject({ code: 'file_limit_exceeded', message: expect.stringContaining('400000') });
    expect(rows).toEqual([]);
  });

  test('no order of rows, and no split of an amount, changes a sum', async () => {
    const row = fc.record({
      day: fc.integer({ min: 1, max: 3 }),
      campaign: fc.constantFrom('a', 'b', ''),
      cents: fc.integer({ min: 0, max: 10_000_000 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 30 }), async (spent) => {
        const { rows } = await readContent(
          csv(
            'date,channel,campaign,spend',
            ...spent.map((r) => `2026-03-0${r.day},tv,${r.campaign},${r.cents / 100}`),
          ),
        );
        const sums = new Map<string, number>();
        for (const { day, campaign, cents } of spent)
          sums.set(`${day}${campaign}`, (sums.get(`${day}${campaign}`) ?? 0) + cents);
        const found = rows.map(({ spend }) => Math.round(Number(spend) * 100));
        expect(found).toEqual([...sums.values()]);
      }),
      { numRuns: 30 },
    );
  });

  test('the day of a time without a zone is that of the clock on the wall', async () => {
    const { finding, rows } = await readContent(
      csv('Campaign Name,Send Time,Total Recipients', 'A,2026-04-01 23:30:00,10.0', 'Draft,,0'),
      CSV,
      { timezone: 'America/Chicago' },
    );
    expect(finding).toMatchObject({ preset: 'klaviyo_campaigns', accepted: 1, skipped: 1, hasZoneless: false });
    expect(rows[0]).toMatchObject({ date: '2026-04-01', channel: 'email', spend: 0, impressions: 10 });
  });
});

describe('files of which nothing can be stored', () => {
  test.each([
    ['Google Ads by campaign', csv('Campaign,Cost,Impr.,Clicks', 'Brand,10,1,1'), 'not_daily', 'Segment > Time > Day'],
    ['Google Ads by week', csv('Week,Campaign,Cost,Impr.', '2026-03-02,Brand,10,1'), 'not_daily', 'Segment'],
    [
      'Meta for a month',
      csv('Campaign name,Reporting starts,Reporting ends,Amount spent (USD)', 'A,2026-02-01,2026-02-28,10'),
      'not_daily',
      'Breakdown > By time > Day',
    ],
    ['a report of GA4', csv('Session source / medium,Sessions', 'google / cpc,5'), 'preset_without_rows', 'BigQuery'],
    [
      "WooCommerce's analytics",
      csv('Date,Order #,N. Revenue (formatted),Customer', '2026-03-20 10:12:03,9100,£1.00,Jo'),
      'preset_without_rows',
      'billing_email',
    ],
  ])('%s is refused with what to export instead', async (_what, content, code, instead) => {
    const { refusal, rows } = await readContent(content);
    expect(refusal).toMatchObject({ code, message: expect.stringContaining(instead) });
    expect(rows).toEqual([]);
  });

  test('a mapping names what it lacks', async () => {
    const { finding } = await readContent(csv('Campaign,Cost,Impr.,When', 'Brand,10,1,2026-03-02'), CSV, {
      preset: 'google_ads',
      mapping: { date: 'When' },
    });
    expect(finding).toMatchObject({ accepted: 1, rejected: 0 });
  });

  test("days count where Meta's report says its whole period, too", async () => {
    const { finding, rows } = await readContent(
      csv(
        'Campaign name,Day,Reporting starts,Reporting ends,Amount spent (EUR)',
        'A,2026-02-03,2026-02-01,2026-02-28,10',
      ),
    );
    expect(finding).toMatchObject({ accepted: 1, currency: 'EUR' });
    expect(rows[0]).toMatchObject({ date: '2026-02-03', channel: 'meta_ads' });
  });
});

describe('touches and orders in one file', () => {
  const event = (user: string, session: number, micros: number, name: string, source = ''): string =>
    `${micros},${name},${user},${session},${source},${source === '' ? '' : 'cpc'}`;
  const HEADER =
    'event_timestamp,event_name,user_pseudo_id,event_params_ga_session_id,' +
    'session_traffic_source_last_click_manual_campaign_source,session_traffic_source_last_click_manual_campaign_medium';
  const START = 1_777_904_760_420_175;

  test('a session is one touch, when its first event happened, in whatever order the file is', async () => {
    const events = [
      event('u1', 1, START, 'session_start', 'google'),
      event('u1', 1, START, 'page_view', 'google'),
      event('u1', 1, START + 60e6, 'scroll', 'google'),
      event('u1', 2, START + 7200e6, 'page_view'),
      event('u2', 1, START + 5e6, 'session_start', 'bing'),
    ];
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(events, { minLength: events.length }), async (shuffled) => {
        const { finding, rows } = await readContent(csv(HEADER, ...shuffled));
        expect(finding).toMatchObject({ preset: 'ga4_bigquery', touchpoints: 3, accepted: 3, skipped: 2, rejected: 0 });
        const touches = rows.map(({ user_id, ts, source }) => `${user_id} ${ts} ${source}`).toSorted();
        expect(touches).toEqual([
          'u1 2026-05-04T14:26:00.420Z google',
          'u1 2026-05-04T16:26:00.420Z (direct)',
          'u2 2026-05-04T14:26:05.420Z bing',
        ]);
      }),
      { numRuns: 20 },
    );
  });

  test('without an id of the session, its session_start counts', async () => {
    const { finding } = await readContent(
      csv('event_timestamp,event_name,user_pseudo_id', `${START},session_start,u1`, `${START},page_view,u1`),
    );
    expect(finding).toMatchObject({ touchpoints: 1, skipped: 1 });
  });

  test('a flattened table may call the origin of the session source, medium and campaign', async () => {
    const { rows } = await readContent(
      csv(
        'event_timestamp,event_name,user_pseudo_id,ga_session_id,source,medium,campaign',
        `${START},session_start,u1,1,facebook,paid_social,may`,
      ),
    );
    expect(rows).toMatchObject([{ source: 'facebook', medium: 'paid_social', campaign: 'may' }]);
  });

  test('the value of each row is in the first column that is filled there', async () => {
    const message = { type: 'page', messageId: 'm', timestamp: '2026-07-01T07:00:00Z', anonymousId: 'a' };
    const context = { campaign: { source: 'google', medium: 'cpc' } };
    const { rows } = await readContent(
      ndjson({ ...message, context, userId: null }, { ...message, context, userId: 'u1' }),
      NDJSON,
    );
    // The second one also says that both are one person.
    const touches = rows.filter(({ table }) => table === 'touchpoints');
    expect(touches.map(({ user_id }) => user_id)).toEqual(['a', 'u1']);
  });

  test('columns that only later rows name are found', async () => {
    const page = { type: 'page', messageId: 'm', timestamp: '2026-07-01T07:00:00Z', anonymousId: 'a' };
    const context = { campaign: { source: 'google', medium: 'cpc' } };
    const { finding, rows } = await readContent(
      ndjson(...Array.from({ length: 300 }, () => ({ ...page, context })), {
        ...page,
        type: 'track',
        event: 'Order Completed',
        userId: 'u1',
        properties: { order_id: 'o1', revenue: 10, currency: 'EUR' },
      }),
      NDJSON,
    );
    expect(finding).toMatchObject({ preset: 'segment', accepted: 301, rejected: 0 });
    expect(rows.at(-1)).toMatchObject({ user_id: 'u1', order_id: 'o1', revenue: 10 });
  });

  test('a page that was opened from another site is a touch, a step within the shop is none', async () => {
    const page = (referrer: string) => ({
      type: 'page',
      messageId: 'm',
      timestamp: '2026-07-01T07:00:00Z',
      anonymousId: 'a',
      context: { page: { url: 'https://www.shop.example/x', referrer } },
    });
    const { finding, rows } = await readContent(
      ndjson(page('https://blog.example.org/'), page('https://shop.example/'), page('')),
      NDJSON,
    );
    expect(finding).toMatchObject({ accepted: 1, skipped: 2 });
    expect(rows).toMatchObject([{ referrer: 'blog.example.org' }]);
  });
});

describe('objects in JSON', () => {
  const row = (more: object) => ({ user_id: 'u', timestamp: '2026-07-01T07:00:00Z', channel: 'email', ...more });

  test('their members can be named, and one that says the same as an own column is left to that', async () => {
    const { finding, rows } = await readContent(
      ndjson(row({ user: { id: 'other' }, utm: { name: 'spring' } })),
      NDJSON,
      {
        mapping: { campaign: 'utm.name' },
      },
    );
    expect(finding).toMatchObject({ accepted: 1 });
    expect(rows[0]).toMatchObject({ user_id: 'u', campaign: 'spring' });
  });

  test('deep and wide ones are read like any other', async () => {
    let deep: object = {};
    for (let level = 0; level < 500; level += 1) deep = { a: deep };
    const wide = Object.fromEntries(Array.from({ length: 3_000 }, (_, n) => [`k${n}`, { v: n }]));
    const list = Array.from({ length: 3_000 }, (_, n) => ({ key: `k${n}`, value: { int_value: n } }));
    const { finding } = await readContent(ndjson(row({ deep }), row({ wide }), row({ list }), row({})), NDJSON);
    expect(finding).toMatchObject({ accepted: 4, rejected: 0 });
  });
});

describe('files of vendors that are damaged', () => {
  const FOLDERS = join(import.meta.dirname, '..', 'vendor-files');
  const files = readdirSync(FOLDERS).flatMap((folder) =>
    readdirSync(join(FOLDERS, folder))
      .filter((name) => /\.(csv|json)$/.test(name) && name !== 'expected.json')
      .map((name) => join(FOLDERS, folder, name)),
  );

  test('are read or refused: cut off anywhere, without a column, without rows', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...files),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.constantFrom('cut', 'header', 'renamed', 'empty', 'wished'),
        fc.constantFrom(...PRESETS.map(({ name }) => name)),
        async (path, share, damage, preset) => {
          const content = readFileSync(path);
          const at = Math.floor(share * content.length);
          const headEnd = content.indexOf('\n') + 1;
          const damaged = {
            cut: content.subarray(0, at),
            header: Buffer.concat([content.subarray(0, Math.floor(share * headEnd)), content.subarray(headEnd - 1)]),
            renamed: Buffer.concat([content.subarray(0, at), Buffer.from('x'), content.subarray(at)]),
            empty: content.subarray(0, headEnd),
            wished: content,
          }[damage];
          const wishes = damage === 'wished' ? { preset } : {};
          const { finding, refusal } = await readContent(damaged, path.endsWith('.json') ? NDJSON : CSV, wishes);
          expect(finding ?? refusal).toBeDefined();
        },
      ),
      { numRuns: 300 },
    );
  });
});
