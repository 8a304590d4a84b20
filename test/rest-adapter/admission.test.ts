import { RateLimitError, type RateWindow } from '../../services/identity/limits/rate-limits.ts';
import { isSandboxHost } from '../../rest-adapter/sandbox-host.ts';
import { exchange, parseAnswer } from '../raw-http.ts';
import { openDoor, type TestDoor } from './door.ts';

describe('a door with known callers', () => {
  let door: TestDoor;
  beforeAll(async () => {
    door = await openDoor({ config: { sandboxBaseUrl: 'https://sandbox.example/v1', trustedProxyHops: 1 } });
  });
  afterAll(() => door[Symbol.asyncDispose]());

  test('tells the windows that the call was counted in', async () => {
    const { headers } = await door.call('GET', '/v1/agents/me');
    expect(headers.get('ratelimit-policy')).toBe('"minute";q=60;w=60, "day";q=10000;w=86400');
    expect(headers.get('ratelimit')).toBe('"minute";r=41;t=18, "day";r=9120;t=40211');
    expect(['limit', 'remaining', 'reset'].map((name) => headers.get(`x-ratelimit-${name}`))).toEqual([
      '60',
      '41',
      '18',
    ]);
  });

  test('answers in the version that the key pins, unless the request names one', async () => {
    const test = { authorization: 'Bearer test' };
    const pinned = await door.call('GET', '/v1/agents/me', { headers: test });
    expect([pinned.status, pinned.headers.get('svc-api-version'), pinned.headers.get('svc-environment')]).toEqual([
      200,
      '2025-11-01',
      'sandbox',
    ]);
    const named = await door.call('GET', '/v1/agents/me', { headers: { ...test, 'svc-api-version': '2026-02-01' } });
    expect(named.headers.get('svc-api-version')).toBe('2026-02-01');
  });

  test('tells admission where the request came from, and by which host', async () => {
    const seen: unknown[] = [];
    const { admit } = door.admission;
    door.admission.admit = (arrival) => {
      seen.push([arrival.origin, arrival.onSandboxHost, arrival.requestId]);
      return admit(arrival);
    };
    await door.call('GET', '/v1/agents/me', {
      headers: { 'x-forwarded-for': '6.6.6.6, ::ffff:203.0.113.9', 'user-agent': 'probe/1' },
    });
    door.admission.admit = admit;
    expect(seen).toEqual([
      [{ clientAddress: '203.0.113.9', userAgent: 'probe/1' }, false, expect.stringMatching(/^req_/)],
    ]);
  });

  test('links lead to the address that the caller came by', async () => {
    const linkAt = async (host: string): Promise<string | undefined> =>
      parseAnswer(
        await exchange(
          door.url,
          `GET /v1/attribution HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer test\r\nConnection: close\r\n\r\n`,
        ),
      ).headers['link'];
    expect(await linkAt('sandbox.example')).toMatch(/^<https:\/\/sandbox\.example\/v1\/attribution\?/);
    expect(await linkAt('api.example')).toMatch(/^<https:\/\/api\.example\/v1\/attribution\?/);
    expect(await linkAt('elsewhere.example')).toMatch(/^<https:\/\/api\.example\/v1\/attribution\?/);
  });

  test('a limit that is exceeded is a 429 that says when to come back, and uses up no nonce', async () => {
    const windows: readonly RateWindow[] = [
      { name: 'minute', limit: 60, remaining: 12, resetsInS: 18 },
      { name: 'day', limit: 100, remaining: 0, resetsInS: 40_211 },
    ];
    const { admit } = door.admission;
    door.admission.admit = () => Promise.reject(new RateLimitError(windows, windows[1]!));
    const before = door.admission.log.length;
    const response = await door.call('POST', '/v1/attribution', { body: {} });
    door.admission.admit = admit;
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('40211');
    expect(response.headers.get('x-ratelimit-limit')).toBe('100');
    expect(await response.json()).toMatchObject({
      error: { type: 'rate_limit_exceeded', code: 'per_day', retry_after: 40_211 },
    });
    expect(door.admission.log).toHaveLength(before);
  });

  test('what strangers may change is counted before its nonce is, what they may read is not', async () => {
    door.admission.log.length = 0;
    await door.call('POST', '/v1/agents/register', { body: { name: 'x' }, headers: { authorization: null } });
    await door.call('POST', '/v1/verify', { body: {}, headers: { authorization: null } });
    await door.call('GET', '/v1/health', { headers: { authorization: null } });
    expect(door.admission.log).toEqual(['register', 'nonce', 'anonymous', 'nonce']);
  });
});

test.each([
  ['sandbox.example', true],
  ['SANDBOX.example:443', true],
  ['sandbox.example:8443', false],
  ['api.example', false],
  ['sandbox.example.evil', false],
  ['not a host', false],
  [undefined, false],
])('the host %s is the sandbox: %p', (host, expected) => {
  expect(isSandboxHost('https://sandbox.example/v1', host)).toBe(expected);
  expect(isSandboxHost(undefined, host)).toBe(false);
});
