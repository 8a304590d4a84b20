import * as fc from 'fast-check';
import { redirectUriFault } from '../../../../schema/redirect-uri.ts';
import { isRegisteredRedirectUri, redirectWith } from '../../../../services/identity/oauth/redirect-uri.ts';

test.each([
  'https://app.example/callback',
  'https://app.example/',
  'https://app.example:8443/a?b=c',
  'http://127.0.0.1/callback',
  'http://127.0.0.1:51004/',
  'http://localhost:3000/callback?x=%20y',
  'https://[2001:db8::1]/callback',
])('%s may be registered', (uri) => {
  expect(redirectUriFault(uri)).toBeNull();
});

test.each([
  ['http://app.example/callback', 'https'],
  ['http://127.0.0.2/callback', 'https'],
  ['http://localhost.app.example/', 'https'],
  ['javascript:alert(1)', 'https'],
  ['data:text/html,x', 'https'],
  ['app:/callback', 'https'],
  ['/callback', 'absolute'],
  ['https://app.example/#', 'fragment'],
  ['https://app.example/callback#top', 'fragment'],
  ['https://user@app.example/', 'user'],
  ['https://app.example@evil.example/', 'user'],
  ['https://app.example', 'must be written https://app.example/'],
  ['HTTPS://app.example/', 'must be written https://app.example/'],
  ['https://app.example:443/', 'must be written https://app.example/'],
  ['https://app.example/a/../b', 'must be written https://app.example/b'],
  ['https:\\\\app.example\\', 'must be written'],
  [' https://app.example/', 'must be written'],
  ['https://app.exa\nmple/', 'must be written'],
])('%j is refused: %s', (uri, reason) => {
  expect(redirectUriFault(uri)).toContain(reason);
});

test('a request’s address is compared byte for byte', () => {
  const registered = ['https://app.example/callback', 'https://app.example/other?a=b'];
  for (const uri of registered) expect(isRegisteredRedirectUri(registered, uri)).toBe(true);
  for (const uri of [
    'https://app.example/callback/',
    'https://app.example/callback?x=1',
    'https://app.example:8443/callback',
    'https://APP.example/callback',
    'https://app.example/%63allback',
    'https://app.example.evil.example/callback',
    '',
  ]) {
    expect(isRegisteredRedirectUri(registered, uri)).toBe(false);
  }
});

test('on this machine any port will do, and nothing else is left open', () => {
  const registered = ['http://127.0.0.1/callback', 'http://localhost:3000/callback'];
  for (const uri of [
    'http://127.0.0.1:51004/callback',
    'http://127.0.0.1/callback',
    'http://localhost/callback',
    'http://localhost:1/callback',
  ])
    expect(isRegisteredRedirectUri(registered, uri)).toBe(true);
  for (const uri of [
    'http://127.0.0.1:99999/callback',
    'http://127.0.0.1:51004/other',
    'http://127.0.0.1:80@evil.example/callback',
    'http://127.0.0.1.evil.example/callback',
    'http://127.0.0.1:/callback',
    'https://127.0.0.1/callback',
    'http://localhost:3000/callback#a',
  ]) {
    expect(isRegisteredRedirectUri(registered, uri)).toBe(false);
  }
  expect(isRegisteredRedirectUri(['https://app.example/callback'], 'https://app.example:1/callback')).toBe(false);
});

test('whatever passes leads to a host that was registered', () => {
  const part = fc.constantFrom(
    'http://',
    'https://',
    '127.0.0.1',
    'localhost',
    'evil.example',
    ':',
    '80',
    '@',
    '/',
    '\\',
    '?',
    '#',
    'callback',
    '.',
    '%2f',
    ' ',
  );
  fc.assert(
    fc.property(
      fc.array(part, { minLength: 3, maxLength: 9 }).map((parts) => parts.join('')),
      (uri) => {
        if (!isRegisteredRedirectUri(['http://127.0.0.1/callback', 'https://app.example/callback'], uri)) return;
        const url = new URL(uri);
        expect([url.protocol, url.hostname, url.pathname, url.search, url.hash, url.username]).toEqual([
          'http:',
          '127.0.0.1',
          '/callback',
          '',
          '',
          '',
        ]);
      },
    ),
    { numRuns: 5000, examples: [['http://127.0.0.1:80/callback']] },
  );
});

test('what is added to an address leaves its own query alone', () => {
  expect(redirectWith('https://app.example/cb', { code: 'a b', state: undefined })).toBe(
    'https://app.example/cb?code=a+b',
  );
  expect(redirectWith('https://app.example/cb?x=%20y', { code: 'c', iss: 'https://api.example' })).toBe(
    'https://app.example/cb?x=%20y&code=c&iss=https%3A%2F%2Fapi.example',
  );
});
