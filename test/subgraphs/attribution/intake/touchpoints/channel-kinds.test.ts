import * as fc from 'fast-check';
import {
  CHANNEL_KINDS,
  kindNamed,
  kindOf,
  likeChannel,
  plainName,
} from '../../../../../subgraphs/attribution/intake/touchpoints/channel-kinds.ts';

test.each([
  ['EMAIL', ['email', 'meta_ads'], 'email'],
  ['Facebook', ['email', 'meta_ads'], 'meta_ads'],
  ['fb', ['instagram', 'email'], 'instagram'],
  ['Google Ads', ['google_ads', 'google_brand'], 'google_ads'],
  ['Google', ['google_ads', 'google_shopping'], null],
  ['Google', ['google_shopping'], 'google_shopping'],
  ['google shopping', ['google_search'], null],
  ['google_brand', ['google_ads'], null],
  ['Email', ['e-mail', 'E_MAIL'], null],
  ['television', ['email', 'meta_ads'], null],
  ['digital', ['big_banner'], null],
])('%s among %j is %s', (name, others, expected) => {
  expect(likeChannel(name, others)).toBe(expected);
});

test('a name stands for one kind, and is written as names are compared', () => {
  const names = CHANNEL_KINDS.flatMap((kind) => kind.names);
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(plainName(name)).toBe(name);
});

test('whatever stands for a kind as a whole is one of it', () => {
  fc.assert(
    fc.property(fc.oneof(fc.constantFrom(...CHANNEL_KINDS.flatMap(({ names }) => names)), fc.string()), (name) => {
      const kind = kindNamed(name);
      if (kind !== null) expect(kindOf(name)).toBe(kind);
    }),
  );
});
