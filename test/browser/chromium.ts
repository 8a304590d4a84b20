import { chromium, type Browser, type Page } from 'playwright-core';

/** Where the Debian package `chromium` puts it. */
const CHROMIUM = '/usr/bin/chromium';
/** Less than Jest's, so that a failure says which element was waited for. */
const PATIENCE_MS = 10_000;
/** No traffic of Chromium's own, and no GPU, which servers lack. */
const QUIET = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A headless browser with a fresh profile, which goes when it is closed. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, headless: true, args: QUIET });
}

/** A page, and what went on behind it. */
export interface WatchedPage {
  readonly page: Page;
  /** Addresses of everything that was asked for, WebSockets included; `data:` and `blob:` are no requests. */
  readonly requests: readonly string[];
  /** Errors that the page's script ran into, and what the browser refused to load. */
  readonly errors: readonly string[];
}

export async function openPage(browser: Browser): Promise<WatchedPage> {
  const context = await browser.newContext({
    viewport: { width: 1300, height: 900 },
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const requests: string[] = [];
  const errors: string[] = [];
  page.on('request', (request) => void (/^(?:data|blob):/.test(request.url()) || requests.push(request.url())));
  page.on('websocket', (socket) => requests.push(socket.url()));
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => void (message.type() === 'error' && errors.push(message.text())));
  return { page, requests, errors };
}

/** Origins, each once: where a page went. */
export function originsOf(requests: readonly string[]): string[] {
  return [...new Set(requests.map((address) => new URL(address).origin))];
}
