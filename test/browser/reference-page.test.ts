import type { Browser, Page } from 'playwright-core';
import { Caller, openHouse, type House } from '../house.ts';
import { openBrowser, openPage, originsOf, type WatchedPage } from './chromium.ts';

let house: House;
let browser: Browser;
let reference: WatchedPage;

beforeAll(async () => {
  house = await openHouse('one process', { withWorker: false });
  browser = await openBrowser();
});

afterAll(async () => {
  await browser?.close();
  await house?.stop();
});

beforeEach(async () => {
  reference = await openPage(browser);
  // Everything that the page asks for by itself has been asked for, so that tests see their own requests alone.
  await reference.page.goto(`${house.root}/docs`, { waitUntil: 'networkidle' });
});

afterEach(async () => {
  await reference.page.context().close();
});

/** Opens an operation, and answers with its panel, ready to be filled in. */
async function tryOut(page: Page, method: string, path: string) {
  const panel = page.locator(`.opblock-${method}`, { has: page.locator(`[data-path="${path}"]`) });
  await panel.locator('.opblock-summary').click();
  await panel.getByRole('button', { name: 'Try it out' }).click();
  return panel;
}

const statusOf = (panel: Awaited<ReturnType<typeof tryOut>>) =>
  panel.locator('.live-responses-table .response-col_status').last();

test('every operation of the contract is listed, from this server alone', async () => {
  const { page, requests, errors } = reference;
  const { paths, webhooks } = (await (await fetch(`${house.root}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, unknown>>;
    webhooks: Record<string, Record<string, unknown>>;
  };
  const operations = [...Object.values(paths), ...Object.values(webhooks)].flatMap((path) =>
    Object.keys(path).filter((key) => /^(?:get|put|post|patch|delete)$/.test(key)),
  );
  await page.locator('.opblock').first().waitFor();
  expect(await page.locator('.opblock').count()).toBe(operations.length);
  expect(originsOf(requests)).toEqual([house.root]);
  expect(errors).toEqual([]);
});

test('“Try it out” registers an agent, with a nonce that nobody typed', async () => {
  const panel = await tryOut(reference.page, 'post', '/agents/register');
  await panel.locator('textarea.body-param__text').fill(JSON.stringify({ name: 'reader', operator_id: 'swagger-ui' }));
  await panel.getByRole('button', { name: 'Execute' }).click();
  await statusOf(panel).getByText('201').waitFor();
  expect(await panel.locator('.live-responses-table .response-col_description').last().innerText()).toContain(
    '"api_key": "svc_agent_sk_',
  );
});

test('“Try it out” sends no idempotency key that nobody typed: a second, different call is no conflict', async () => {
  const panel = await tryOut(reference.page, 'post', '/agents/register');
  for (const operator of ['swagger-first', 'swagger-second']) {
    await panel.locator('textarea.body-param__text').fill(JSON.stringify({ name: 'reader', operator_id: operator }));
    const [response] = await Promise.all([
      reference.page.waitForResponse((each) => each.url().endsWith('/agents/register')),
      panel.getByRole('button', { name: 'Execute' }).click(),
    ]);
    expect([response.status(), response.request().headers()['svc-idempotency-key']]).toEqual([201, undefined]);
  }
});

test('the filter box finds operations by any words of theirs', async () => {
  const { page } = reference;
  await page.locator('.operation-filter-input').fill('deliver AGAIN');
  await page.locator('.opblock:visible').nth(1).waitFor({ state: 'detached' });
  expect(await page.locator('.opblock-summary-path:visible').allInnerTexts()).toEqual([
    expect.stringContaining('redeliver'),
  ]);
  await page.locator('.operation-filter-input').fill('nothing of the kind');
  await page.locator('.opblock:visible').first().waitFor({ state: 'detached' });
});

test('leads to the guides, which show formulas and pictures', async () => {
  const { page, requests, errors } = reference;
  await page.getByRole('link', { name: 'Guides' }).click();
  await page.getByRole('link', { name: /^PRAV/ }).click();
  await page.locator('math').first().waitFor();
  expect(await page.locator('img').evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
  expect(originsOf(requests)).toEqual([house.root]);
  expect(errors).toEqual([]);
});

test('a key given under Authorize goes with the requests', async () => {
  const { page } = reference;
  const caller = await Caller.register(house.root);
  await page.locator('.btn.authorize').click();
  await page.locator('.auth-container input').first().fill(String(caller.key));
  await page.locator('.auth-container button[type=submit]').first().click();
  await page.locator('.btn-done').first().click();
  const panel = await tryOut(page, 'get', '/agents/me');
  await panel.getByRole('button', { name: 'Execute' }).click();
  await statusOf(panel).getByText('200').waitFor();
});

test('opened under another name of this machine, it still asks the server that it came from', async () => {
  // A page of its own: the other one may still be loading.
  const { page, requests } = await openPage(browser);
  const otherName = house.root.replace('127.0.0.1', 'localhost');
  await page.goto(`${otherName}/docs`);
  const panel = await tryOut(page, 'get', '/health');
  await panel.getByRole('button', { name: 'Execute' }).click();
  await statusOf(panel).getByText('200').waitFor();
  expect(originsOf(requests)).toEqual([otherName]);
  await page.context().close();
});
