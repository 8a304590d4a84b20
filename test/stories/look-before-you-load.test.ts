import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Caller, openHouse, type House } from '../house.ts';
import { clock } from '../service-clock.ts';

/*
 * Files as their owner has them: she looks first, answers what only she knows, and loads. The same at both doors.
 */

let house: House;
beforeAll(async () => {
  house = await openHouse('one process', { withWorker: false, clock });
});
afterAll(() => house?.stop());

const CSV = { 'content-type': 'text/csv' };
const AMBIGUOUS = [
  'Bestellnummer;Kunde;Datum;Umsatz',
  'A-1;k1;03.04.2026 10:30;1.258',
  'A-2;k2;04.04.2026 11:00;2.400',
].join('\n');

async function newSource(caller: Caller): Promise<string> {
  const { body } = await caller.post('/data-sources/connect', { type: 'csv_upload', credentials: {} });
  return String(body['data_source_id']);
}

const upload = (
  caller: Caller,
  id: string,
  content: string | Buffer<ArrayBuffer>,
  query = '',
  headers: Record<string, string> = CSV,
) => caller.send('POST', `/data-sources/${id}/records${query}`, content, headers);
const parameters = (values: Readonly<Record<string, unknown>>): string =>
  `?${new URLSearchParams(
    Object.entries(values).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  ).toString()}`;

/** A form with the file and options, as `upload` takes it. */
function formWith(
  order: readonly ('options' | 'file')[],
  options: string,
): readonly [content: string, query: string, headers: Record<string, string>] {
  const boundary = 'b0undary';
  const parts = {
    options: `Content-Disposition: form-data; name="options"\r\n\r\n${options}`,
    file:
      'Content-Disposition: form-data; name="file"; filename="orders.csv"\r\nContent-Type: text/csv\r\n\r\n' +
      AMBIGUOUS,
  };
  const text = `${order.map((part) => `--${boundary}\r\n${parts[part]}\r\n`).join('')}--${boundary}--\r\n`;
  return [text, '', { 'content-type': `multipart/form-data; boundary=${boundary}` }];
}

test('a dry run says how a file would be read, asks what it leaves open, and stores nothing', async () => {
  const caller = await Caller.register(house.root);
  const id = await newSource(caller);
  const { status, body } = await upload(caller, id, AMBIGUOUS, '?dry_run=true');
  expect([status, body]).toMatchObject([
    200,
    {
      kind: 'conversions',
      preset: null,
      mapping: { order_id: 'Bestellnummer', user_id: 'Kunde', timestamp: 'Datum', revenue: 'Umsatz' },
      questions: [
        {
          id: 'decimals:Umsatz',
          column: 'Umsatz',
          code: 'ambiguous_decimals',
          options: [{ value: 'point' }, { value: 'comma' }],
        },
      ],
      accepted: 2,
      sample: [{ line: 2, raw: { Umsatz: '1.258' } }, { line: 3 }],
      join: { orders: 0, users: 0 },
    },
  ]);
  expect((await caller.get(`/data-sources/${id}/status`)).body).toMatchObject({
    records: { conversions: 0 },
    recent_syncs: [],
  });
});

test('without an answer nothing is stored, and the refusal says which answers there are', async () => {
  const caller = await Caller.register(house.root);
  const id = await newSource(caller);
  const refused = await upload(caller, id, AMBIGUOUS);
  expect([refused.status, refused.body['error']]).toMatchObject([
    422,
    {
      type: 'validation_error',
      code: 'ambiguous_decimals',
      param: '/answers/decimals:Umsatz',
      errors: [{ message: expect.stringContaining('"comma" (a comma stands before decimals)') }],
    },
  ]);
  const answers = { 'decimals:Umsatz': 'comma' };
  const taken = await upload(caller, id, AMBIGUOUS, parameters({ answers, timezone: 'Europe/Berlin' }));
  expect([taken.status, taken.body]).toMatchObject([202, { accepted: 2, rejected: 0, warnings: [] }]);
  const shown = await upload(
    caller,
    id,
    AMBIGUOUS,
    parameters({ answers, timezone: 'Europe/Berlin', dry_run: 'true' }),
  );
  expect(shown.body).toMatchObject({
    questions: [],
    sample: [
      { read: { revenue: '1258', timestamp: '2026-04-03T08:30:00.000Z' } },
      { read: { revenue: '2400', timestamp: '2026-04-04T09:00:00.000Z' } },
    ],
  });
});

test('what was said of a file holds for the next one with its columns, until something else is said', async () => {
  const caller = await Caller.register(house.root);
  const id = await newSource(caller);
  const next = (order: string) => `Bestellnummer;Kunde;Datum;Umsatz\n${order};k9;05.04.2026 10:30;3.100\n`;
  const revenueOf = async (content: string, said: Readonly<Record<string, unknown>> = {}) => {
    const { body } = await upload(caller, id, content, parameters({ ...said, dry_run: 'true' }));
    const { sample, questions } = body as unknown as {
      sample: readonly { read: { revenue: string } }[];
      questions: readonly unknown[];
    };
    return questions.length > 0 ? 'asked' : sample[0]!.read.revenue;
  };
  const comma = { answers: { 'decimals:Umsatz': 'comma' } };
  expect(await revenueOf(next('B-1'))).toBe('asked');
  // Looking alone changes nothing.
  expect(await revenueOf(next('B-1'), comma)).toBe('3100');
  expect(await revenueOf(next('B-1'))).toBe('asked');

  await upload(caller, id, AMBIGUOUS, parameters(comma));
  const taken = await upload(caller, id, next('B-1'));
  expect([taken.status, taken.body]).toMatchObject([
    202,
    {
      accepted: 1,
      warnings: expect.arrayContaining([expect.stringContaining('{"answers":{"decimals:Umsatz":"comma"}}')]),
    },
  ]);
  expect(await revenueOf(next('B-2'))).toBe('3100');
  // Other columns are another file, and what is said of one stands alone.
  expect(await revenueOf(next('B-2').replace('Kunde', 'Kundennummer'))).toBe('asked');
  expect(await revenueOf(next('B-2'), { timezone: 'Europe/Berlin' })).toBe('asked');
  expect(await revenueOf(next('B-2'), { mapping: {} })).toBe('asked');

  await upload(caller, id, next('B-2'), parameters({ locale: 'en-GB' }));
  expect(await revenueOf(next('B-3'))).toBe('3.1');
  // Another source knows nothing of it.
  const other = await newSource(caller);
  expect((await upload(caller, other, next('B-3'))).status).toBe(422);
});

test('what is said of a file is checked, each fault at its place', async () => {
  const caller = await Caller.register(house.root);
  const id = await newSource(caller);
  const faults = async (query: string) => {
    const { status, body } = await upload(caller, id, AMBIGUOUS, query);
    const { errors } = body['error'] as unknown as { errors: readonly { param: string; code: string }[] };
    return [status, ...errors.map(({ param, code }) => `${param} ${code}`)];
  };
  expect(await faults('?mapping=nonsense')).toEqual([422, 'query:mapping invalid_json']);
  expect(await faults(parameters({ timezone: 'Mars/Base' }))).toEqual([422, 'query:timezone invalid_value']);
  expect(await faults(parameters({ presett: 'shopify_orders' }))).toEqual([422, 'query:presett unknown_parameter']);
  expect(await faults(parameters({ mapping: { order: 'Bestellnummer' } }))).toEqual([
    422,
    expect.stringContaining('invalid_mapping'),
  ]);
  expect(await faults(parameters({ mapping: { order_id: 'Nummer' } }))).toEqual([422, 'query:mapping unknown_column']);
  expect(await faults(parameters({ preset: 'nobody_knows' }))).toEqual([422, 'query:preset unknown_preset']);
  const { body } = await upload(caller, id, AMBIGUOUS, parameters({ constants: { chanel: 'tv', currency: 'EUR' } }));
  expect(body['error']!['message']).toMatch(
    /^constants: "chanel" is no canonical column; did you mean channel\? There/,
  );

  const inForm = async (options: string) => {
    const answer = await upload(caller, id, ...formWith(['options', 'file'], options));
    const { code, param } = answer.body['error']!;
    return [answer.status, code, param];
  };
  expect(await inForm('{"mapping":{"order_id":"Nummer"}}')).toEqual([
    422,
    'invalid_mapping',
    '/options/mapping/order_id',
  ]);
  expect(await inForm('{"preset":"nobody_knows"}')).toEqual([422, 'unknown_preset', '/options/preset']);
  expect(await inForm('{"preset":')).toEqual([422, 'invalid_json', '/options']);
  const nothingSaid = await upload(caller, id, ...formWith(['options', 'file'], '{"locale":"de-DE","currency":null}'));
  expect(nothingSaid.status).toBe(202);

  const { errors } = await caller.graphql(
    `query ($input: InspectRecordsInput!) { inspectRecords(input: $input) { inspection { kind } } }`,
    { input: { dataSourceId: id, content: AMBIGUOUS, options: { mapping: { order_id: 'Nummer' } } } },
  );
  expect(errors?.[0]?.extensions).toMatchObject({ reason: 'invalid_mapping', param: '/options/mapping/order_id' });
});

test('an answer that is none of those offered is refused, and not passed over', async () => {
  const caller = await Caller.register(house.root);
  const id = await newSource(caller);
  for (const query of ['', '&dry_run=true']) {
    const { status, body } = await upload(
      caller,
      id,
      AMBIGUOUS,
      parameters({ answers: { 'decimals:Umsatz': 'commas' } }) + query,
    );
    expect([status, body['error']]).toMatchObject([422, { code: 'invalid_answer', param: '/answers/decimals:Umsatz' }]);
    expect(body['error']!['message']).toMatch(/"commas" is no answer to decimals:Umsatz.*"comma" \(a comma stands/);
  }
});

test.each(['Asia/Kolkata', 'Europe/Kyiv', 'America/Argentina/Buenos_Aires', 'US/Eastern', 'GMT', 'Etc/UTC'])(
  '%s is a time zone: every name of the database is',
  async (timezone) => {
    const caller = await Caller.register(house.root);
    const { status, body } = await caller.post('/data-sources/connect', {
      type: 'csv_upload',
      credentials: {},
      timezone,
    });
    expect(status).toBe(201);
    const shown = await upload(
      caller,
      String(body['data_source_id']),
      AMBIGUOUS,
      parameters({ timezone, locale: 'de-DE', dry_run: 'true' }),
    );
    expect(shown.status).toBe(200);
  },
);

test.each(['+02:00', 'Mars/Base', 'Berlin', ''])('%j is no time zone', async (timezone) => {
  const caller = await Caller.register(house.root);
  const id = await newSource(caller);
  const { body } = await upload(caller, id, AMBIGUOUS, parameters({ timezone, dry_run: 'true' }));
  expect(body['error']).toMatchObject({ param: 'query:timezone' });
});

test('a form takes the options ahead of its file; a workbook is a file like any other', async () => {
  const caller = await Caller.register(house.root);
  const id = await newSource(caller);
  const answers = JSON.stringify({ answers: { 'decimals:Umsatz': 'comma' } });
  const form = (order: readonly ('options' | 'file')[]) => upload(caller, id, ...formWith(order, answers));
  expect((await form(['options', 'file'])).body).toMatchObject({ kind: 'conversions', accepted: 2 });
  expect((await form(['file', 'options'])).body['error']).toMatchObject({ code: 'options_first', param: '/options' });

  const folder = join(import.meta.dirname, '../subgraphs/attribution/intake/files/vendor-files/xlsx-spend');
  const workbook = await readFile(join(folder, 'spend.xlsx'));
  const sent = await upload(caller, await newSource(caller), workbook, '', {
    'content-type': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  });
  expect([sent.status, sent.body]).toMatchObject([202, { kind: 'spend', accepted: 36, rejected: 0 }]);
});

test('over GraphQL rows are looked at and sent with the same options', async () => {
  const caller = await Caller.register(house.root);
  const id = await newSource(caller);
  const looked = await caller.graphql(
    `query ($input: InspectRecordsInput!) { inspectRecords(input: $input) {
       inspection { kind certainty questions { id code options { value } } sample { read } accepted join { orders } }
     } }`,
    { input: { dataSourceId: id, content: AMBIGUOUS, options: { locale: 'de-DE' } } },
  );
  expect(looked.data).toMatchObject({
    inspectRecords: {
      inspection: { kind: 'conversions', questions: [], accepted: 2, sample: [{ read: { revenue: '1258' } }, {}] },
    },
  });
  const rows = [{ Bestellnummer: 'A-1', Kunde: 'k1', Datum: '2026-04-03T10:30:00Z', Umsatz: 1258 }];
  const added = await caller.graphql(
    `mutation ($input: AddRecordsInput!) { addRecords(input: $input) { ingest { kind accepted } } }`,
    { input: { dataSourceId: id, records: rows, options: { constants: { currency: 'EUR' } } } },
  );
  expect(added.data).toEqual({ addRecords: { ingest: { kind: 'conversions', accepted: 1 } } });
  const both = await caller.graphql(
    `query ($input: InspectRecordsInput!) { inspectRecords(input: $input) { inspection { kind } } }`,
    {
      input: { dataSourceId: id, content: 'a', records: rows },
    },
  );
  expect(both.errors?.[0]).toMatchObject({ extensions: { code: 'VALIDATION_ERROR', param: '/content' } });
});

test("another account's source cannot be looked through", async () => {
  const [caller, stranger] = [await Caller.register(house.root), await Caller.register(house.root)];
  const id = await newSource(caller);
  expect((await upload(stranger, id, AMBIGUOUS, '?dry_run=true')).status).toBe(404);
  const { errors } = await stranger.graphql(
    `query ($input: InspectRecordsInput!) { inspectRecords(input: $input) { inspection { kind } } }`,
    { input: { dataSourceId: id, content: AMBIGUOUS } },
  );
  expect(errors?.[0]).toMatchObject({ extensions: { code: 'RESOURCE_NOT_FOUND' } });
});
