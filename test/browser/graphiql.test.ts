import type { Browser, Page } from 'playwright-core';
import { openOutgoing } from '../../processes/outgoing.ts';
import { startWorker, type Worker } from '../../processes/worker.ts';
import { createLogger } from '../../platform/telemetry/logs.ts';
import { Caller, openHouse, TEST_SECRET, type House } from '../house.ts';
import { clock } from '../service-clock.ts';
import { openBrowser, openPage, originsOf, type WatchedPage } from './chromium.ts';

const EVENTS =
  'user_id,timestamp,channel,conversion,revenue\n' +
  'u1,2026-05-01T10:00:00Z,email,0,0\n' +
  'u1,2026-05-02T10:00:00Z,email,1,80\n' +
  'u2,2026-05-03T10:00:00Z,direct,0,0\n' +
  'u2,2026-05-03T11:00:00Z,direct,1,20\n';
const DATE_RANGE = ['2026-05-01', '2026-05-31'];
/** Inside the retention of these dates, whenever the tests run. */

let house: House;
let caller: Caller;
let browser: Browser;
let explorer: WatchedPage;
let worker: Worker | undefined;

/** Replaces what is in an editor by pasting, as people do; typing would have the editor close brackets. */
async function paste(page: Page, editor: string, text: string): Promise<void> {
  await page.click(`${editor} .view-lines`);
  await page.keyboard.press('Control+A');
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
  await page.keyboard.press('Control+V');
}

const answer = (page: Page) => page.locator('.graphiql-response');

/** Pastes an operation and runs it, once its name on the tab shows that GraphiQL has taken it in. */
async function run(page: Page, name: string, document: string): Promise<void> {
  await paste(page, '.graphiql-query-editor', document);
  await page.locator('.graphiql-tab', { hasText: name }).waitFor();
  await page.keyboard.press('Control+Enter');
}

beforeAll(async () => {
  // Jobs are taken when a test says so, which makes "live" something that can be seen.
  house = await openHouse('one process', { withWorker: false, clock });
  caller = await Caller.register(house.root);
  browser = await openBrowser();
});

afterAll(async () => {
  await browser?.close();
  await house?.stop();
  await worker?.close();
});

beforeEach(async () => {
  explorer = await openPage(browser);
  await explorer.page.goto(`${house.root}/graphql`);
});

afterEach(async () => {
  await explorer.page.context().close();
});

const withKey = (page: Page) =>
  paste(
    page,
    'section[aria-label="Headers"] .graphiql-editor:not(.hidden)',
    JSON.stringify({ Authorization: `Bearer ${caller.key}` }),
  );

test('a query answers with the key of the Headers tab, and nothing is loaded from elsewhere', async () => {
  const { page, requests, errors } = explorer;
  await withKey(page);
  await run(page, 'Myself', 'query Myself { me { name operatorId } }');
  await answer(page).getByText('"test-agent"').waitFor();
  expect(originsOf(requests)).toEqual([house.root]);
  expect(errors).toEqual([]);
});

test('a mutation gets a nonce from the page, and needs no key where none is needed', async () => {
  const { page } = explorer;
  const sent = page.waitForRequest((request) => request.postData()?.includes('registerAgent') === true);
  await run(
    page,
    'Register',
    'mutation Register { registerAgent(input: { name: "explorer", operatorId: "graphiql" }) { ' +
      'apiKey agent { tier } } }',
  );
  const headers = (await sent).headers();
  expect(headers['x-nonce']).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
  expect(headers).not.toHaveProperty('authorization');
  await answer(page)
    .getByText(/"svc_agent_sk_\w{24}"/)
    .waitFor();
});

test('a subscription shows an analysis live, up to its result', async () => {
  const source = await caller.post('/data-sources/connect', {
    type: 'csv_upload',
    credentials: { filename: 'events.csv', content: EVENTS },
  });
  const started = await caller.post(
    '/attribution',
    { data_source_id: source.body['data_source_id'], date_range: DATE_RANGE, model: 'markov' },
    { prefer: 'respond-async' },
  );
  expect(started.body['status']).toBe('processing');

  const { page, requests } = explorer;
  await withKey(page);
  await run(
    page,
    'Watch',
    `subscription Watch { attributionProgress(id: "${String(started.body['id'])}") { kind message result { revenue ` +
      `platformFeeCents agent { name } } } }`,
  );
  await answer(page).getByText('"Waiting for a worker"').waitFor();

  const logger = createLogger({ level: 'error', format: 'json' });
  worker = await startWorker({
    backing: house.backing,
    config: {
      computeThreads: 1,
      jobConcurrency: 1,
      jobLeaseS: 60,
      publicBaseUrl: 'http://127.0.0.1:4000/v1',
      signingKeyDays: 0,
      auditHeadsFile: house.auditPlaces.headsFile,
      auditArchiveDir: undefined,
      dataDir: '.',
      tierTable: 'three',
      commissionDecay: 'none',
    },
    keyEncryptionKey: TEST_SECRET,
    outgoing: openOutgoing({ webhookAllowPrivate: false }),
    logger,
    clock,
  });
  await answer(page)
    .getByText(/"RESULT"/)
    .waitFor();
  // One field of each subgraph: attribution, agents, billing. The editor's spaces do not break.
  const shown = (await answer(page).innerText()).replaceAll(/\s+/g, ' ');
  expect(shown).toMatch(/"revenue": 100, "platformFeeCents": \d+, "agent": \{ "name": "test-agent" \}/);
  expect(requests.at(-1)).toBe(`${house.root.replace('http', 'ws')}/graphql`);
});
