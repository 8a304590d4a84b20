import * as fc from 'fast-check';
import { channelRule } from '../../../../../schema/contract/channel-rules.ts';
import {
  nearChannels,
  nearChannelWarning,
} from '../../../../../subgraphs/attribution/intake/channel-rules/near-channels.ts';

const near = (spend: readonly string[], touches: readonly string[]) =>
  nearChannels(spend, touches).map((each) => `${each.spend} → ${each.touches}`);

describe('names of spend that touches do not have', () => {
  test.each([
    [['Facebook'], ['meta_ads'], ['Facebook → meta_ads']],
    [
      ['Google Ads', 'EMAIL'],
      ['email', 'google_ads', 'direct'],
      ['EMAIL → email', 'Google Ads → google_ads'],
    ],
    [['TikTok-Ads'], ['tiktok ads'], ['TikTok-Ads → tiktok ads']],
    [['Bing'], ['microsoft_ads'], ['Bing → microsoft_ads']],
    [
      ['meta_ads', 'tiktok_ads'],
      ['Paid Social', 'email'],
      ['meta_ads → Paid Social', 'tiktok_ads → Paid Social'],
    ],
    [['Мейл'], ['мейл'], ['Мейл → мейл']],
  ])('%j beside %j: %j', (spend, touches, expected) => {
    expect(near(spend, touches)).toEqual(expected);
  });

  test.each([
    ['names that meet', ['email'], ['email', 'Email']],
    ['names that nothing is near to', ['billboards'], ['email', 'direct']],
    ['two names of touches that are as near', ['Facebook'], ['meta_ads', 'fb']],
    ['a name of touches that has spend of its own', ['Facebook', 'meta_ads'], ['meta_ads']],
    ['empty names', ['', 'Facebook'], ['']],
    ['nothing', [], []],
  ])('nothing is said of %s', (_, spend, touches) => {
    expect(near(spend, touches)).toEqual([]);
  });

  test('the same but for case and signs is nearer than the same vendor', () => {
    expect(near(['Meta Ads'], ['meta_ads', 'fb'])).toEqual(['Meta Ads → meta_ads']);
  });

  test('a proposal can be set as it stands, and says both names', () => {
    const name = fc.oneof(
      fc.constantFrom('Facebook', 'fb', 'meta ads', 'E-Mail', 'email'),
      fc.string({ maxLength: 8 }),
    );
    fc.assert(
      fc.property(fc.array(name), fc.array(name), (spend, touches) => {
        for (const found of nearChannels(spend, touches)) {
          expect(touches).not.toContain(found.spend);
          expect(touches).toContain(found.touches);
          expect(spend).not.toContain(found.touches);
          expect(found.rule).toEqual({ match: { channel: found.spend }, channel: found.touches });
          const said = nearChannelWarning(found);
          expect(JSON.parse(/rule (\{.*\})\.$/s.exec(said)![1]!)).toEqual(found.rule);
        }
      }),
    );
    expect(channelRule.safeParse(nearChannels(['Facebook'], ['meta_ads'])[0]!.rule).success).toBe(true);
  });
});
