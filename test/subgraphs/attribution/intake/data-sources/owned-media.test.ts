import { isOwnedMedia } from '../../../../../subgraphs/attribution/intake/data-sources/owned-media.ts';

test.each([
  'email',
  'Email',
  'e-mail',
  'email_cart',
  'abandoned cart emails',
  'newsletter',
  'sms',
  'text_messages',
  'mobile_push',
])('%s is owned', (channel) => expect(isOwnedMedia(channel)).toBe(true));

test.each(['paid_search', 'meta_ads', 'affiliate', 'display', 'direct', 'pushdown_ads', 'smsa'])(
  '%s is not',
  (channel) => expect(isOwnedMedia(channel)).toBe(false),
);
