import { bodyInVersion, VERSION_CHANGES } from '../../rest-adapter/versions/version-chain.ts';
import type { VersionChange } from '../../rest-adapter/versions/version-change.ts';
import { API_VERSIONS } from '../../schema/value-lists.ts';
import { resolveApiVersion } from '../../rest-adapter/versions.ts';
import { openDoor, type TestDoor } from './door.ts';

/**
 * A change as a later version may bring one: `revenue` was called `turnover` until 2025-11-01, and a text before that.
 */
const PLANTED: readonly VersionChange[] = [
  {
    version: '2026-02-01',
    description: 'revenue was turnover',
    undo: ({ revenue, ...body }) => (revenue === undefined ? body : { ...body, turnover: revenue }),
  },
  {
    version: '2025-11-01',
    description: 'turnover was a text',
    undo: ({ turnover, ...body }) => (turnover === undefined ? body : { ...body, turnover: `${String(turnover)} USD` }),
  },
];

const SAID = {
  '2026-02-01': { revenue: 151_004.25 },
  '2025-11-01': { turnover: 151_004.25 },
  '2025-08-01': { turnover: '151004.25 USD' },
} as const;

describe('a body goes back through the changes to the version that was asked for', () => {
  let door: TestDoor;
  beforeAll(async () => {
    door = await openDoor({ versionChanges: PLANTED });
  });
  afterAll(() => door[Symbol.asyncDispose]());

  describe.each(API_VERSIONS)('%s', (version) => {
    const headers = { 'svc-api-version': version };
    const other = Object.keys(SAID[version])[0] === 'revenue' ? 'turnover' : 'revenue';

    test('in an answer', async () => {
      const body: unknown = await (await door.call('GET', '/v1/attribution/attr_done', { headers })).json();
      expect(body).toMatchObject(SAID[version]);
      expect(body).not.toHaveProperty(other);
    });

    test('in what a wait ended with, once', async () => {
      const body: unknown = await (
        await door.call('POST', '/v1/attribution', {
          headers,
          body: { data_source_id: 'ds_1', date_range: ['2026-01-01', '2026-01-31'] },
        })
      ).json();
      expect(body).toMatchObject(SAID[version]);
    });

    test.each([
      ['POST', '/v1/attribution?stream=true', { data_source_id: 'ds_1', date_range: ['2026-01-01', '2026-01-31'] }],
      ['GET', '/v1/attribution/attr_done/stream', undefined],
    ])('in the events of %s %s', async (method, path, body) => {
      const text = await (await door.call(method, path, { headers, ...(body === undefined ? {} : { body }) })).text();
      const [, data] = /event: result\ndata: (.*)\n/.exec(text)!;
      expect(JSON.parse(data!)).toMatchObject(SAID[version]);
      expect(JSON.parse(data!)).not.toHaveProperty(other);
    });
  });
});

test('the trust layer is 1.1.0 for the newest version and 1.0.0 for the others, in lists and their items too', () => {
  const body = {
    trust: { metadata: { hrei_version: '1.1.0', kept: 1 } },
    data: [{ trust: { metadata: { hrei_version: '1.1.0' } } }, { trust: null }, 'text'],
    meta: { page: 1 },
  };
  expect(bodyInVersion(body, '2026-02-01', VERSION_CHANGES)).toEqual(body);
  for (const version of ['2025-11-01', '2025-08-01']) {
    expect(bodyInVersion(body, version, VERSION_CHANGES)).toEqual({
      trust: { metadata: { hrei_version: '1.0.0', kept: 1 } },
      data: [{ trust: { metadata: { hrei_version: '1.0.0' } } }, { trust: null }, 'text'],
      meta: { page: 1 },
    });
  }
});

test('every change belongs to a known version, newest first', () => {
  const versions = VERSION_CHANGES.map(({ version }) => version);
  expect(versions).toEqual(versions.toSorted().toReversed());
  for (const version of versions) expect(API_VERSIONS).toContain(version);
});

describe('retirement', () => {
  const after = new Date('2027-02-01T00:00:00Z');
  const before = new Date('2027-01-31T23:59:59Z');

  test('needs the setting and the sunset', () => {
    expect(resolveApiVersion('2025-08-01', { versions: ['2025-08-01'], now: before })).toBe('2025-08-01');
    expect(resolveApiVersion('2025-08-01', { versions: [], now: after })).toBe('2025-08-01');
    expect(() => resolveApiVersion('2025-08-01', { versions: ['2025-08-01'], now: after })).toThrow(
      expect.objectContaining({
        type: 'unsupported_api_version',
        problem: expect.objectContaining({ code: 'version_retired' }),
      }),
    );
  });

  test('touches no version that was never deprecated', () => {
    expect(resolveApiVersion('2026-02-01', { versions: ['2026-02-01'], now: after })).toBe('2026-02-01');
  });

  test('is answered in the current version, and names those that are left', async () => {
    await using door = await openDoor({ config: { retiredApiVersions: ['2025-08-01'] }, clock: () => after });
    const response = await door.call('GET', '/v1/agents/me', { headers: { 'svc-api-version': '2025-08-01' } });
    expect(response.status).toBe(400);
    expect(response.headers.get('svc-api-version')).toBe('2026-02-01');
    expect(response.headers.get('deprecation')).toBeNull();
    expect(await response.json()).toMatchObject({
      error: {
        type: 'unsupported_api_version',
        code: 'version_retired',
        message: expect.stringMatching(/Send one of 2026-02-01, 2025-11-01,/),
      },
    });
  });
});

test.each([
  'latest',
  '2026-2-1',
  '2026-02-30',
  '2026-02-01, 2025-11-01',
  '1',
  '2026-02-01T00:00:00Z',
  'null',
  '%',
  '__proto__',
])('%s is no version', async (version) => {
  expect(() => resolveApiVersion(version)).toThrow(expect.objectContaining({ type: 'unsupported_api_version' }));
});
