import type { DataQuality, QualityCheck } from '../../../../schema/contract/data-quality.ts';
import { QUALITY_CODES } from '../../../../schema/value-lists.ts';
import { botLikeUsers, campaignCoverage, spendWithoutTouches, touchesWithoutSpend } from './channel-checks.ts';
import { duplicateOrders, orderMatchRate, refundsMissing, userMatchRate } from './order-checks.ts';
import type { Look, QualityEvidence } from './quality-check.ts';
import { levelShift, missingDays } from './time-checks.ts';
import { assumedTimeZone, mixedCurrencies, rejectedRevenue } from './upload-checks.ts';

const LOOKS: Readonly<Record<QualityCheck['code'], Look>> = {
  order_match_rate: orderMatchRate,
  user_match_rate: userMatchRate,
  rejected_revenue: rejectedRevenue,
  mixed_currencies: mixedCurrencies,
  spend_without_touches: spendWithoutTouches,
  touches_without_spend: touchesWithoutSpend,
  duplicate_orders: duplicateOrders,
  missing_days: missingDays,
  // Where nothing settles a date, nothing is stored: the reader asks.
  ambiguous_dates: () => null,
  assumed_time_zone: assumedTimeZone,
  bot_like_users: botLikeUsers,
  level_shift: levelShift,
  campaign_coverage: campaignCoverage,
  refunds_missing: refundsMissing,
};

const WORST_FIRST = ['blocking', 'warning', 'info'] as const satisfies readonly QualityCheck['severity'][];

/** What is wrong with the rows, the worst first and otherwise in the order of the contract's codes. */
export function judgeQuality(evidence: QualityEvidence): DataQuality {
  const found = QUALITY_CODES.map((code) => LOOKS[code](evidence)).filter((check) => check !== null);
  const checks = WORST_FIRST.flatMap((severity) => found.filter((check) => check.severity === severity));
  const worst = checks[0]?.severity ?? 'info';
  return { status: worst === 'info' ? 'good' : worst, checks };
}
