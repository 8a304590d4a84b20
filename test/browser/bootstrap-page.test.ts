import type { Browser } from 'playwright-core';
import { Caller, openHouse, type House } from '../house.ts';
import { openBrowser, openPage, originsOf } from './chromium.ts';

const TOKEN = 'a-token-that-only-the-operator-knows';

let house: House;
let browser: Browser;
beforeAll(async () => {
  house = await openHouse('one process', { withWorker: false, bootstrapToken: TOKEN });
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await house?.stop();
});

test('a person makes the first account, after a slip, and the keys work', async () => {
  const { page, requests, errors } = await openPage(browser);
  await page.goto(`${house.root}/bootstrap`);
  await page.getByLabel('Token').fill('not the token');
  await page.getByLabel('E-mail').fill('ops@shop.example');
  await page.getByLabel('Name').fill('Spring & Sons');
  await page.getByRole('button', { name: 'Make the account' }).click();
  expect(await page.getByRole('alert').innerText()).toContain('This is not the token');
  // What was entered stays, but for the token.
  expect(await page.getByLabel('Name').inputValue()).toBe('Spring & Sons');
  expect(await page.getByLabel('Token').inputValue()).toBe('');

  await page.getByLabel('Token').fill(TOKEN);
  await page.getByRole('button', { name: 'Make the account' }).click();
  const live = await page.locator('#live').innerText();
  expect(live).toMatch(/^svc_live_sk_[A-Za-z0-9]{24}$/);
  expect((await new Caller(house.root, live).get('/keys')).status).toBe(200);
  expect(originsOf(requests)).toEqual([house.root]);
  // The refusal itself is all that the browser reports.
  expect(errors.filter((error) => !error.includes('403'))).toEqual([]);
});

test.each([320, 375, 1300])('nothing sticks out at a width of %i', async (width) => {
  const { page } = await openPage(browser);
  await page.setViewportSize({ width, height: 800 });
  await page.goto(`${house.root}/bootstrap`);
  expect(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(0);
});
