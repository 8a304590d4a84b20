import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { startCli } from '../processes/cli/run-cli.ts';
import { openBrowser, openPage, type WatchedPage } from './chromium.ts';

const EVENTS = fileURLToPath(new URL('../compute/fixtures/events.csv', import.meta.url));

let folder: string;
let address: string;
let browser: Browser;
let report: WatchedPage;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'liftgraph-report-'));
  const { code, stderr } = await startCli(['analyze', EVENTS, '--report', 'report.html'], {
    cwd: folder,
    temporary: folder,
  }).result;
  if (code !== 0) throw new Error(`no report: ${stderr}`);
  address = pathToFileURL(join(folder, 'report.html')).href;
  browser = await openBrowser();
});

afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

beforeEach(async () => {
  report = await openPage(browser);
});

afterEach(async () => {
  await report.page.context().close();
});

test('the report opens from disk: one file, no other request, nothing refused', async () => {
  const { page, requests, errors } = report;
  await page.goto(address, { waitUntil: 'networkidle' });
  expect(await page.locator('h1').innerText()).toBe('What can be said of your marketing');
  expect(requests).toEqual([address]);
  expect(errors).toEqual([]);
});

test('its four plots are drawn, each as wide as the text', async () => {
  const { page } = report;
  await page.goto(address);
  const text = (await page.locator('main').boundingBox())!;
  const plots = await page.locator('figure svg').all();
  expect(plots).toHaveLength(4);
  for (const plot of plots) {
    const box = (await plot.boundingBox())!;
    expect(box.width).toBeGreaterThan(text.width * 0.8);
    expect(box.height).toBeGreaterThan(100);
  }
});

test('on a phone nothing sticks out of the page', async () => {
  const { page } = report;
  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto(address);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
});

test('it follows the reader into the dark', async () => {
  const { page } = report;
  await page.goto(address);
  const background = 'getComputedStyle(document.body).backgroundColor';
  await page.emulateMedia({ colorScheme: 'light' });
  const light = await page.evaluate(background);
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await page.evaluate(background)).not.toBe(light);
});
