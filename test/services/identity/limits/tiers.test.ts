import fc from 'fast-check';
import { nextTier, TIER_TABLES, tierOf } from '../../../../services/identity/limits/tiers.ts';

// Contract §2 "Agent tiers", both listings.
test.each([
  ['three', 0, 'discovery'],
  ['three', 4, 'discovery'],
  ['three', 5, 'partner'],
  ['three', 19, 'partner'],
  ['three', 20, 'ambassador'],
  ['three', 1_000, 'ambassador'],
  ['four', 2, 'discovery'],
  ['four', 3, 'builder'],
  ['four', 9, 'builder'],
  ['four', 10, 'partner'],
  ['four', 49, 'partner'],
  ['four', 50, 'enterprise'],
] as const)('in the table of %s, %i active referrals make the tier %s', (table, active, tier) => {
  expect(tierOf(table, active)).toBe(tier);
});

test('what the next tier is said to need leads there, and one less does not', () => {
  fc.assert(
    fc.property(fc.constantFrom(...TIER_TABLES), fc.nat(120), (table, active) => {
      const next = nextTier(table, active);
      if (next === null) return expect(tierOf(table, active)).toBe(tierOf(table, 1_000_000));
      expect(next.referralsNeeded).toBeGreaterThan(0);
      expect(tierOf(table, active + next.referralsNeeded)).toBe(next.name);
      expect(tierOf(table, active + next.referralsNeeded - 1)).toBe(tierOf(table, active));
    }),
  );
});
