import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { createAccount } from '../../services/identity/accounts/account-store.ts';
import { UNBOUND } from '../../services/identity/keys/key-bond.ts';
import { newUuid } from '../../platform/identifiers.ts';
import { Caller, openHouse, type House } from '../house.ts';
import { openBrowser, openPage, type WatchedPage } from './chromium.ts';

let house: House;
let browser: Browser;
let watched: WatchedPage;
/** The application that asks: it listens on this machine, as native ones do. */
let application: Server;
let callback: string;
const arrivals: IncomingMessage[] = [];
let address: string;
let key: string;

beforeAll(async () => {
  house = await openHouse('one process', { withWorker: false, isPublic: true });
  application = createServer((request, response) => {
    if (request.url?.startsWith('/callback') === true) arrivals.push(request);
    response.setHeader('content-type', 'text/html');
    response.end('<link rel="icon" href="data:,">Back in the application');
  }).listen(0, '127.0.0.1');
  await once(application, 'listening');
  callback = `http://127.0.0.1:${(application.address() as AddressInfo).port}/callback`;
  const agent = await Caller.register(house.root);
  const { body } = await agent.send(
    'PATCH',
    '/agents/me',
    JSON.stringify({ name: 'spring-shop-agent', redirect_uris: ['http://127.0.0.1/callback'], public: true }),
    { 'content-type': 'application/json' },
  );
  const query = {
    response_type: 'code',
    client_id: String(body['agent_id']),
    redirect_uri: callback,
    state: 's',
    scope: 'attribution:read attribution:write billing:read',
    code_challenge: createHash('sha256').update('v').digest('base64url'),
    code_challenge_method: 'S256',
  };
  address = `${house.root}/v1/oauth/authorize?${new URLSearchParams(query)}`;
  const accountId = newUuid();
  key = await house.backing.database.asTenant(accountId, async (em) => {
    await createAccount(em, { accountId, operatorId: randomUUID(), operatorEmail: null });
    return house.keys.issue(em, { accountId, agentId: null, kind: 'svc_live_sk', bond: UNBOUND });
  });
  browser = await openBrowser();
});

afterAll(async () => {
  await browser?.close();
  application?.close();
  await house?.stop();
});

beforeEach(async () => {
  arrivals.length = 0;
  watched = await openPage(browser);
  await watched.page.goto(address);
});

afterEach(async () => {
  await watched.page.context().close();
});

test('allowing leads back to the application with a code, and the key shows nowhere', async () => {
  const { page, requests, errors } = watched;
  await page.getByLabel('Your secret key').fill(key);
  await page.getByRole('button', { name: 'Allow', exact: true }).click();
  await page.waitForURL(`${callback}?**`);
  const location = new URL(page.url());
  expect(location.searchParams.get('code')).toMatch(/^svc_ac_/);
  expect([location.searchParams.get('state'), location.searchParams.get('iss')]).toEqual(['s', house.root]);
  expect(arrivals).toHaveLength(1);
  expect(arrivals[0]!.headers.referer).toBeUndefined();
  expect(requests.join('\n')).not.toContain(key);
  expect(errors).toEqual([]);
});

test('not allowing leads back without one', async () => {
  const { page } = watched;
  await page.getByRole('button', { name: 'Don’t allow' }).click();
  await page.waitForURL(`${callback}?**`);
  expect(new URL(page.url()).searchParams.get('error')).toBe('access_denied');
});

test('a wrong key is told beside the field, which is empty again; the right one then works', async () => {
  const { page } = watched;
  await page.getByLabel('Your secret key').fill('svc_live_sk_ABCDEFGHIJKLMNOPQRSTUVWX');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('There is no such key').waitFor();
  expect(await page.getByLabel('Your secret key').inputValue()).toBe('');
  await page.getByLabel('Your secret key').fill(key);
  await page.keyboard.press('Enter');
  await page.waitForURL(`${callback}?code=**`);
});

test('another site can neither frame the page nor answer it', async () => {
  const { page } = watched;
  const other = `${callback.replace('127.0.0.1', 'localhost').replace('callback', 'other')}`;
  await page.goto(other);
  const refusal = page.waitForEvent(
    'console',
    (message) => message.type() === 'error' && message.text().includes("frame-ancestors 'none'"),
  );
  await page.setContent(`<iframe src="${address}"></iframe>`);
  await refusal;
  await page.setContent(
    `<form method="post" action="${address.replaceAll('&', '&amp;')}"><input name="key" value="${key}"><button ` +
      `name="decision" value="allow">Win a prize</button></form>`,
  );
  await page.getByRole('button').click();
  await page.getByRole('alert').getByText('sent from another page').waitFor();
  expect(arrivals).toEqual([]);
});

test('it fits a phone and follows the reader into the dark', async () => {
  const { page } = watched;
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
  const background = 'getComputedStyle(document.body).backgroundColor';
  const light = await page.evaluate(background);
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await page.evaluate(background)).not.toBe(light);
});
