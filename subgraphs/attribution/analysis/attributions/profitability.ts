import { LEAST_MARGIN } from '../../../../schema/least-margin.ts';
import { roundHalfUp } from '../../../../schema/rounding.ts';
import type { OrderCosts } from '../../intake/touchpoints/order-costs.ts';
import type { Profitability } from './figures.ts';

/** What was said of the margin by people, and not by orders. */
export type StatedMargin = Profitability & { readonly origin: 'setting' | 'request' };

/** Fewer orders may be unlike the others. */
const LEAST_REVENUE_SHARE = 0.9;
/** As ratios are shown: whoever computes a profit from what is shown gets the one that is shown. */
const DIGITS = 4;

/** What the request says counts; else what the source says. */
export function statedMargin(
  asked: number | null | undefined,
  ofSource: number | null | undefined,
): StatedMargin | null {
  if (asked != null) return { margin: rounded(asked), origin: 'request' };
  return ofSource == null ? null : { margin: rounded(ofSource), origin: 'setting' };
}

/**
 * The margin of a run: of the request, else of its orders where these say enough, else of the source.
 * @param costs null where no order of the range says what its goods cost
 */
export function profitabilityOf(
  stated: StatedMargin | null,
  costs: OrderCosts | null,
): { readonly profitability: Profitability | null; readonly warnings: readonly string[] } {
  if (costs === null || stated?.origin === 'request') return { profitability: stated, warnings: [] };
  if (costs.revenueShare < LEAST_REVENUE_SHARE) return { profitability: stated, warnings: [tooFew(costs, stated)] };
  const found = costs.revenue > 0 ? 1 - costs.cogs / costs.revenue : 0;
  return {
    profitability: { margin: rounded(found), origin: 'orders' },
    warnings: found < LEAST_MARGIN ? [NOTHING_LEFT] : [],
  };
}

const rounded = (margin: number): number => Math.max(LEAST_MARGIN, roundHalfUp(margin, DIGITS) ?? 0);

const percent = (share: number): string => `${Math.floor(1000 * share) / 10} %`;

function tooFew({ revenueShare }: OrderCosts, stated: StatedMargin | null): string {
  const said =
    `Orders that say the cost of their goods (cogs) bring ${percent(revenueShare)} of the revenue, less than ` +
    `${percent(LEAST_REVENUE_SHARE)}: `;
  return stated === null
    ? `${said}they give no margin, so that profit is not told. Upload the others’ cogs, or state a margin.`
    : `${said}the margin of the source counts instead.`;
}

const NOTHING_LEFT =
  'The goods of the orders cost as much as the orders brought, or more: the least margin that can be reckoned with ' +
  `counts, ${100 * LEAST_MARGIN} %. Look for wrong amounts in the column cogs.`;
