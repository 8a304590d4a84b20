/** What people call one medium; a name belongs to the first of these that it contains. */
const FAMILIES: readonly (readonly string[])[] = [
  ['meta', 'facebook', 'instagram', 'fb', 'ig'],
  ['brandsearch', 'brand'],
  ['google', 'adwords', 'gads', 'googleads'],
  ['bing', 'microsoft', 'msads'],
  ['tiktok'],
  ['pinterest'],
  ['snap'],
  ['linkedin'],
  ['email', 'mail', 'newsletter', 'klaviyo', 'mailchimp', 'edm'],
  ['sms', 'text'],
  ['affiliate', 'partner', 'awin'],
  ['display', 'programmatic', 'banner', 'criteo'],
  ['retargeting', 'remarketing'],
  ['influencer', 'creator'],
];
/** Shorter words are looked for as a whole alone. */
const SHORT = 3;

/** The one of `others` that seems to be the same channel under another name; null where none or several do. */
export function likeChannel(channel: string, others: readonly string[]): string | null {
  const name = lettersOf(channel);
  const same = others.filter((other) => lettersOf(other) === name);
  if (same.length > 0) return same[0]!;
  const family = familyOf(channel);
  const related = family === null ? [] : others.filter((other) => familyOf(other) === family);
  return related.length === 1 ? related[0]! : null;
}

const lettersOf = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');

function familyOf(name: string): number | null {
  const letters = lettersOf(name);
  const parts = name.toLowerCase().split(/[^\p{L}\p{N}]+/u);
  const place = FAMILIES.findIndex((family) =>
    family.some((word) => (word.length <= SHORT ? parts.includes(word) : letters.includes(word))),
  );
  return place < 0 ? null : place;
}
