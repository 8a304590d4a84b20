import { fnv1a32 } from '../../../../../subgraphs/attribution/analysis/journeys/user-hash.ts';

// Test vectors of the FNV authors (draft-eastlake-fnv, appendix C).
test.each([
  ['', 0x811c9dc5],
  ['a', 0xe40c292c],
  ['foobar', 0xbf9cf968],
])('FNV-1a of %j', (text, hash) => {
  expect(fnv1a32(Buffer.from(text))).toBe(hash);
  expect(fnv1a32(Buffer.from(`<${text}>`), 1, 1 + text.length)).toBe(hash);
});
