import fc from 'fast-check';
import { LEAST_MARGIN } from '../../../../../schema/least-margin.ts';
import {
  profitabilityOf,
  statedMargin,
} from '../../../../../subgraphs/attribution/analysis/attributions/profitability.ts';

const costs = (cogs: number, revenue: number, revenueShare = 1) => ({ cogs, revenue, revenueShare });
const SETTING = statedMargin(null, 0.5);
const REQUEST = statedMargin(0.3, 0.5);

describe('the margin of a run', () => {
  test('is that of the request, else of orders that say enough, else of the source', () => {
    expect(profitabilityOf(REQUEST, costs(60, 100)).profitability).toEqual({ margin: 0.3, origin: 'request' });
    expect(profitabilityOf(SETTING, costs(60, 100))).toEqual({
      profitability: { margin: 0.4, origin: 'orders' },
      warnings: [],
    });
    expect(profitabilityOf(SETTING, costs(60, 100, 0.9)).profitability).toEqual({ margin: 0.4, origin: 'orders' });
    expect(profitabilityOf(SETTING, null)).toEqual({
      profitability: { margin: 0.5, origin: 'setting' },
      warnings: [],
    });
    expect(profitabilityOf(null, null)).toEqual({ profitability: null, warnings: [] });
  });

  test('too few orders give none, and a warning says what is missing, unless the request says the margin', () => {
    const few = costs(60, 100, 0.8999);
    const { profitability, warnings } = profitabilityOf(SETTING, few);
    expect(profitability).toEqual({ margin: 0.5, origin: 'setting' });
    expect(warnings).toEqual([
      'Orders that say the cost of their goods (cogs) bring 89.9 % of the revenue, less than 90 %: the margin of the ' +
        'source counts instead.',
    ]);
    expect(profitabilityOf(null, few).profitability).toBeNull();
    expect(profitabilityOf(null, few).warnings[0]).toContain('profit is not told');
    expect(profitabilityOf(REQUEST, few).warnings).toEqual([]);
  });

  test.each([[costs(100, 100)], [costs(130, 100)], [costs(10, 0)], [costs(10, -40)], [costs(99.999, 100)]])(
    'of goods that cost as much as they brought (%j) the least one counts, and a warning says so',
    (given) => {
      const { profitability, warnings } = profitabilityOf(null, given);
      expect(profitability).toEqual({ margin: LEAST_MARGIN, origin: 'orders' });
      expect(warnings[0]).toContain('or more: the least margin that can be reckoned with counts, 0.01 %');
    },
  );

  test('lies in (0, 1] and has four digits, whatever was said', () => {
    const share = fc.double({ min: LEAST_MARGIN, max: 1, noNaN: true });
    const amount = fc.double({ min: 0, max: 1e12, noNaN: true });
    fc.assert(
      fc.property(fc.option(share), fc.option(share), amount, amount, (asked, ofSource, cogs, revenue) => {
        const { profitability } = profitabilityOf(statedMargin(asked, ofSource), costs(cogs, revenue));
        const { margin } = profitability!;
        expect(margin).toBeGreaterThanOrEqual(LEAST_MARGIN);
        expect(margin).toBeLessThanOrEqual(1);
        expect(Number(margin.toFixed(4))).toBe(margin);
      }),
    );
  });
});
