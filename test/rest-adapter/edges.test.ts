import * as fc from 'fast-check';
import { parse } from 'graphql';
import { clientAddress } from '../../rest-adapter/client-address.ts';
import { interruptible } from '../../rest-adapter/interruptible.ts';
import { parseJson } from '../../rest-adapter/parse-json.ts';
import { waitPreference } from '../../rest-adapter/preferences.ts';
import { roundHalfUp } from '../../schema/rounding.ts';
import { RestShape, snakeCase } from '../../schema/rest-shape.ts';
import { encodeVariables } from '../../rest-adapter/variables.ts';
import { graphClient } from './graph.ts';
import { shop } from './shop.ts';

describe('rounding', () => {
  test.each([
    [1.005, 2, 1.01],
    [-1.005, 2, -1.01],
    [2.5, 0, 3],
    [-2.5, 0, -3],
    [0.205, 2, 0.21],
    [1998.0384999999999, 3, 1998.038],
    [1e-7, 4, 0],
    [-1e-7, 4, 0],
    [5e-5, 4, 0.0001],
    [123_456_789.125, 2, 123_456_789.13],
    [1e21, 2, 1e21],
    [Number.NaN, 2, null],
    [Number.POSITIVE_INFINITY, 2, null],
  ])('%d at %d decimals is %p', (value, digits, expected) => {
    expect(roundHalfUp(value, digits)).toBe(expected);
  });

  test('agrees with exact decimal arithmetic on cents and halves of cents', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e12, max: 1e12 }), (thousandths) => {
        // The exact value is thousandths / 1000; half away from zero in integers.
        const size = BigInt(Math.abs(thousandths));
        const cents = Number((size + 5n) / 10n);
        const expected = (Math.sign(thousandths) * cents) / 100;
        expect(roundHalfUp(thousandths / 1000, 2)).toBe(expected === 0 ? 0 : expected);
      }),
    );
  });

  test('agrees with the decimals as they are written, beside a tie as well as on it', () => {
    // The neighbouring doubles of a tie are written with other digits, and go to the side that those say.
    const neighbours = fc
      .tuple(fc.integer({ min: 0, max: 2e6 }), fc.integer({ min: 0, max: 4 }), fc.integer({ min: -3, max: 3 }))
      .map(([steps, digits, ulps]) => {
        const tie = (steps + 0.5) / 10 ** digits;
        return [tie + ulps * 2 ** (Math.floor(Math.log2(tie)) - 52), digits] as const;
      });
    fc.assert(
      fc.property(neighbours, ([value, digits]) => {
        const [whole = '', decimals = ''] = String(value).split('.');
        const up = Number(decimals[digits] ?? '0') >= 5 ? 1n : 0n;
        const expected = Number(BigInt(whole + decimals.slice(0, digits).padEnd(digits, '0')) + up) / 10 ** digits;
        expect(roundHalfUp(value, digits)).toBe(expected);
      }),
      { numRuns: 2_000 },
    );
  });

  test('moves no number by more than half a step, and rounding twice changes nothing', () => {
    fc.assert(
      fc.property(
        fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 }),
        fc.integer({ min: 0, max: 4 }),
        (value, digits) => {
          const rounded = roundHalfUp(value, digits)!;
          expect(Math.abs(rounded - value)).toBeLessThanOrEqual(0.5 * 10 ** -digits * (1 + 1e-6));
          expect(roundHalfUp(rounded, digits)).toBe(rounded);
          expect(Object.is(rounded, -0)).toBe(false);
        },
      ),
    );
  });
});

describe('shape', () => {
  const client = graphClient(shop());
  const shape = (query: string, data: Record<string, unknown>) =>
    new RestShape(client.apiSchema).shape(parse(query), data);

  test('names become snake_case, enums lower-case, aliases stay their own', () => {
    expect(snakeCase('totalDeltaRCents')).toBe('total_delta_r_cents');
    expect(
      shape('{ me { agentUuid tier someTier: tier capabilities } }', {
        me: { agentUuid: 'x', tier: 'DISCOVERY', someTier: 'PARTNER', capabilities: ['CHANNEL_ANALYSIS'] },
      }),
    ).toEqual({
      me: { agent_uuid: 'x', tier: 'discovery', some_tier: 'partner', capabilities: ['channel_analysis'] },
    });
  });

  test('selections of one field that stand apart are taken together; what was left out stays out', () => {
    const query =
      'query ($yes: Boolean!) { attribution(id: 1) { failure { code } ... on Attribution { failure { message } } ' +
      'comparison @include(if: $yes) revenue } }';
    expect(shape(query, { attribution: { failure: { code: 'a', message: 'b' }, revenue: null } })).toEqual({
      attribution: { failure: { code: 'a', message: 'b' }, revenue: null },
    });
  });

  test('maps keep their keys; money in them has two decimals, shares four; other JSON is verbatim', () => {
    const query =
      '{ attribution(id: 1) { comparison { rule channels { channel revenue } } ' +
      'modelBreakdown { model shares { channel share } } timeSeries { channels } diagnostics { models } } }';
    const odd = { 'Meta Ads': 1.005, totalDeltaR: null, __proto: 0.123_456 };
    const listed = (member: string) => Object.entries(odd).map(([channel, figure]) => ({ channel, [member]: figure }));
    expect(
      shape(query, {
        attribution: {
          comparison: [{ rule: 'LAST_CLICK', channels: listed('revenue') }],
          modelBreakdown: [{ model: 'MARKOV', shares: listed('share') }],
          timeSeries: [{ channels: odd }],
          diagnostics: { models: odd },
        },
      }),
    ).toEqual({
      attribution: {
        comparison: { last_click: { 'Meta Ads': 1.01, totalDeltaR: null, __proto: 0.12 } },
        model_breakdown: { markov: { 'Meta Ads': 1.005, totalDeltaR: null, __proto: 0.1235 } },
        time_series: [{ channels: { 'Meta Ads': 1.01, totalDeltaR: null, __proto: 0.12 } }],
        diagnostics: { models: odd },
      },
    });
  });

  test('numbers that are none become null, moments RFC 3339 in UTC, whatever the scalar gave', () => {
    const query =
      '{ attribution(id: 1) { revenue confidence createdAt completedAt dateRange deltaRCents ' +
      'channelImpact { spend } } }';
    const data = {
      revenue: Number.NaN,
      confidence: Number.NEGATIVE_INFINITY,
      createdAt: new Date(0),
      completedAt: '2026-01-01T01:00:00+01:00',
      dateRange: ['2026-01-01'],
      deltaRCents: 9_007_199_254_740_991,
      channelImpact: [{ spend: 0.1 + 0.2 }],
    };
    expect(shape(query, { attribution: data })).toEqual({
      attribution: {
        revenue: null,
        confidence: null,
        created_at: '1970-01-01T00:00:00.000Z',
        completed_at: '2026-01-01T00:00:00.000Z',
        date_range: ['2026-01-01'],
        delta_r_cents: 9_007_199_254_740_991,
        channel_impact: [{ spend: 0.3 }],
      },
    });
  });

  test('whatever a figure is, the body is JSON without loss', () => {
    fc.assert(
      fc.property(fc.double(), (revenue) => {
        const body = shape('{ attribution(id: 1) { revenue } }', { attribution: { revenue } });
        expect(JSON.parse(JSON.stringify(body))).toEqual(body);
      }),
    );
  });
});

test('variables: enums by their graph names at any depth, JSON verbatim, undefined left out, strangers dropped', () => {
  const { apiSchema, document } = graphClient(shop());
  expect(
    encodeVariables(apiSchema, document('ConnectDataSource'), {
      input: { type: 'meta_ads', credentials: { type: 'meta_ads', n: undefined }, name: undefined, agentId: null },
      stranger: 1,
    }),
  ).toEqual({
    input: { type: 'META_ADS', credentials: { type: 'meta_ads', n: undefined }, agentId: null },
  });
  expect(
    encodeVariables(apiSchema, document('RegisterAgent'), {
      input: { name: 'x', capabilities: ['health', 'journey'] },
    }),
  ).toEqual({ input: { name: 'x', capabilities: ['HEALTH', 'JOURNEY'] } });
});

describe('client address', () => {
  test.each([
    ['10.0.0.9', undefined, 0, '10.0.0.9'],
    ['10.0.0.9', '1.1.1.1', 0, '10.0.0.9'],
    ['10.0.0.9', '1.1.1.1, 2.2.2.2', 1, '2.2.2.2'],
    ['10.0.0.9', '1.1.1.1, 2.2.2.2', 2, '1.1.1.1'],
    ['10.0.0.9', '1.1.1.1', 5, '1.1.1.1'],
    ['::ffff:10.0.0.9', undefined, 0, '10.0.0.9'],
    ['10.0.0.9', '::ffff:1.1.1.1', 1, '1.1.1.1'],
    ['10.0.0.9', '1.1.1.1:4711', 1, '1.1.1.1'],
    ['10.0.0.9', '[2001:DB8::1]:4711', 1, '2001:db8::1'],
    ['10.0.0.9', '::FFFF:c000:0201', 1, '192.0.2.1'],
    ['10.0.0.9', '0:0::ffff:192.0.2.1', 1, '192.0.2.1'],
    ['10.0.0.9', '2001:db8:0:0::0001', 1, '2001:db8::1'],
    ['fe80::1%eth0', undefined, 0, 'fe80::1'],
    ['10.0.0.9', '[fe80::1%en0]:4711', 1, 'fe80::1'],
    ['10.0.0.9', '%eth0', 1, '10.0.0.9'],
    ['10.0.0.9', 'unknown', 1, '10.0.0.9'],
    ['10.0.0.9', '', 1, '10.0.0.9'],
    [undefined, undefined, 0, 'unknown'],
  ])('peer %s, X-Forwarded-For %s, %d hops: %s', (peer, header, hops, expected) => {
    expect(clientAddress(peer, header, hops)).toBe(expected);
  });

  test('what a client writes in front of the trusted hops changes nothing', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.ipV4(),
            fc.string().map((text) => text.replaceAll(',', '')),
          ),
        ),
        (forged) => {
          expect(clientAddress('10.0.0.9', [...forged, '2.2.2.2'].join(', '), 1)).toBe('2.2.2.2');
        },
      ),
    );
  });
});

describe('Prefer', () => {
  test.each([
    [undefined, 25, null],
    ['', 25, null],
    ['wait=0', 0, 'wait=0'],
    ['wait=60', 60, 'wait=60'],
    ['wait=3600', 60, 'wait=60'],
    ['Wait = 5', 5, 'wait=5'],
    ['wait="7"', 7, 'wait=7'],
    ['respond-async', 0, 'respond-async'],
    ['respond-async; x=1, wait=3', 3, 'respond-async, wait=3'],
    ['wait=3, wait=9', 3, 'wait=3'],
    ['wait=-1', 25, null],
    ['wait=soon, return=minimal', 25, null],
  ])('%s', (header, waitS, applied) => {
    expect(waitPreference(header)).toEqual({ waitS, applied });
  });
});

test('JSON that JSON.parse takes is parsed to the same, unless a rule forbids it', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const accepted = (() => {
        try {
          return { value: parseJson(Buffer.from(text)) };
        } catch (error) {
          expect(error).toMatchObject({ type: 'invalid_request', problem: { code: 'malformed_json' } });
          return null;
        }
      })();
      if (accepted !== null) expect(accepted.value).toEqual(JSON.parse(text));
      else expect(text).toMatch(/\\u|stands|[\ud800-\udfff]|\\|\0|\[{60}/);
    }),
  );
});

test.each([
  ['empty arrays', `[${'[],'.repeat(1_000_000)}[]]`, 'values'],
  ['short texts', `{"channels":[${'"a",'.repeat(1_000_000)}"a"]}`, 'values'],
  ['deep nesting', '['.repeat(1_000_000) + ']'.repeat(1_000_000), 'nested deeper'],
  ['no end of it', '['.repeat(65), 'nested deeper'],
])('a body of %s is refused before it is parsed, which would take seconds', (_shape, text, why) => {
  expect(() => parseJson(Buffer.from(text))).toThrow(why);
});

describe('interruptible', () => {
  test('ends a pending next at once, tells the upstream once, and reports if that fails', async () => {
    const abort = new AbortController();
    const reported: unknown[] = [];
    let returns = 0;
    const upstream: AsyncIterator<number> = {
      next: () => new Promise(() => undefined),
      async return() {
        returns += 1;
        throw new Error('return failed');
      },
    };
    const iterator = interruptible(upstream, abort.signal, (error) => reported.push(error));
    const pending = iterator.next();
    abort.abort();
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
    await iterator.return!();
    expect(returns).toBe(1);
    expect(reported).toEqual([new Error('return failed')]);
  });

  test('passes values and errors through', async () => {
    const source = (async function* () {
      yield 1;
      throw new Error('broken');
    })();
    const iterator = interruptible(source, new AbortController().signal, () => undefined);
    expect(await iterator.next()).toEqual({ done: false, value: 1 });
    await expect(iterator.next()).rejects.toThrow('broken');
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
  });
});
