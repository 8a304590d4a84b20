import { likeChannel } from '../../../../../subgraphs/attribution/intake/quality/channel-likeness.ts';

test.each([
  ['EMAIL', ['email', 'meta_ads'], 'email'],
  ['Facebook', ['email', 'meta_ads'], 'meta_ads'],
  ['fb', ['instagram', 'email'], 'instagram'],
  ['Google Ads', ['google_ads', 'google_brand'], 'google_ads'],
  ['Google', ['google_ads', 'google_shopping'], null],
  ['television', ['email', 'meta_ads'], null],
  ['digital', ['big_banner'], null],
])('%s among %j is %s', (name, others, expected) => {
  expect(likeChannel(name, others)).toBe(expected);
});
