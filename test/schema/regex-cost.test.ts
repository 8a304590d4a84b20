import { assert, property, string } from 'fast-check';
import { regexCost } from '../../schema/regex-cost.ts';

/* Measured in the engine (chDB 26, RE2): the time that planning a statement takes for one of them, in µs. */
test.each([
  ['brand_search_2026_eu', 220],
  ['(?i)brand_search_2026_eu', 310],
  ['(?i)^(brand|pmax|generic)[-_].*(eu|us|uk)', 460],
  ['.*a.*b.*c.*d', 280],
  ['[^a-z]{10}', 470],
  ['(?i)[a-zäöüß0-9_-]{20}', 930],
  ['(?i)^(?:[a-z]+[0-9]*){1,50}x$', 1_170],
  ['(?:.?){300}', 4_640],
  [String.raw`\pL`, 6_100],
  [String.raw`\pL{10}`, 41_360],
  [String.raw`(?i)\p{L}{10}`, 37_170],
  [String.raw`(?i)[\pL\pM\pN\pS]{30}`, 125_290],
])('%s: an instruction stands for at most 10 µs of what it takes', (pattern, measuredUs) => {
  expect(regexCost(pattern) * 10).toBeGreaterThan(measuredUs);
});

test.each([
  ['((a{10}){10}){10}', 1_000],
  ['(?:a{2}b{3}){4,10}', 50],
  ['(?P<name>x){7}', 7],
  [String.raw`\x{1F600}{5}`, 5],
  ['[]a-z]{8}', 8 * 4],
  ['[[:alpha:]]{6}', 6 * 4],
  ['a{10}{10}', 100],
])('%s: repetitions multiply', (pattern, least) => {
  expect(regexCost(pattern)).toBeGreaterThanOrEqual(least);
  expect(regexCost(pattern)).toBeLessThan(3 * least + 60);
});

test('ordinary names of campaigns cost about what they are long', () => {
  expect(regexCost('spring_sale_2026|summer_sale')).toBeLessThan(60);
});

test('ends for every text, one that is no expression included', () => {
  assert(property(string({ unit: 'binary-ascii' }), (text) => regexCost(text) >= 0));
  for (const text of [')))(', '[', '[^', '\\', '\\p', '\\p{', '(?', '(?P<', '{3}', 'a{5,2}', '[[:alpha', '((((']) {
    expect(regexCost(text)).toBeLessThan(800);
  }
});
