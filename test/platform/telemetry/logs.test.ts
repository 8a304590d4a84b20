import { createLogger } from '../../../platform/telemetry/logs.ts';

function capture(format: 'json' | 'pretty' = 'json', level = 'debug') {
  const lines: string[] = [];
  const logger = createLogger({
    level,
    format,
    bindings: { role: 'test' },
    destination: { write: (line) => void lines.push(line) },
  });
  return { logger, lines, last: () => JSON.parse(lines.at(-1)!) as Record<string, unknown> };
}

describe('logs', () => {
  test('a line is one JSON object with time, level and the bindings', () => {
    const { logger, last } = capture();
    logger.info({ count: 3 }, 'counted');
    expect(last()).toMatchObject({ level: 'info', role: 'test', count: 3, msg: 'counted' });
    expect(last()['time']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  test('below the level nothing is written', () => {
    const { logger, lines } = capture('json', 'warn');
    logger.info('quiet');
    expect(lines).toEqual([]);
  });

  test('errors come with their cause and stack', () => {
    const { logger, last } = capture();
    logger.error({ err: new Error('outer', { cause: new Error('inner') }) }, 'failed');
    expect(JSON.stringify(last()['err'])).toContain('inner');
  });

  const sentinel = 'SENTINEL0123456789abcdef';
  test.each([
    ['a header', { headers: { authorization: `Bearer ${sentinel}` } }],
    ['a header of a request', { req: { headers: { authorization: `Bearer ${sentinel}`, cookie: sentinel } } }],
    ['a member', { apiKey: sentinel, client_secret: sentinel, refresh_token: sentinel, password: sentinel }],
    ['a nested member', { body: { credentials: { token: sentinel } } }],
    ['a member two levels down', { source: { connection: { secretKey: sentinel } } }],
    ['a URL with a password', { target: `postgresql://app:${sentinel}@db/lift` }],
    ['a live key in any text', { note: `key svc_live_sk_${sentinel} was used` }],
    ['an access token in any text', { note: `svc_at_${sentinel}` }],
    ['an authorization code in any text', { note: `svc_ac_${sentinel}` }],
    ['a webhook secret in any text', { note: `whsec_${sentinel}` }],
    ['the message of an error', { err: new Error(`cannot use svc_test_sk_${sentinel}`) }],
  ])('the secret in %s never reaches the log', (_where, members) => {
    for (const format of ['json', 'pretty'] as const) {
      const { logger, lines } = capture(format);
      logger.error(members, 'something happened');
      expect(lines).toHaveLength(1);
      expect(lines[0]).not.toContain(sentinel);
      expect(lines[0]).toContain('something happened');
    }
  });

  test('for people: time, level, message, members and stack, one after the other', () => {
    const { logger, lines } = capture('pretty');
    logger.warn({ attempt: 2, err: new Error('no luck') }, 'trying again');
    expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d\.\d{3} /);
    const [firstLine, ...rest] = lines[0]!.slice('12:00:00.000 '.length).split('\n');
    expect(firstLine).toBe('\u001B[33mWARN \u001B[0m trying again role=test attempt=2');
    expect(rest[0]).toBe('Error: no luck');
    expect(rest[1]).toMatch(/^ +at /);
  });
});
