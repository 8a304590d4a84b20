/**
 * What journeys and touches say of each segment (a period or a campaign) and channel: segments × K, row-major, money in
 * major units.
 */
export interface SegmentCredits {
  readonly count: number;
  /**
   * revenue of converting journeys, split equally among their touches; of conversions dated in the period, or touches
   * of the campaign
   */
  readonly linear: Float64Array;
  /** revenue of the conversions whose last touch this was */
  readonly lastClick: Float64Array;
  /** touches in the requested range */
  readonly touches: Float64Array;
}

/** Linear and last-click credit by period and by campaign. */
export interface BreakdownResult {
  readonly ok: true;
  readonly model: 'breakdown';
  readonly channels: readonly string[];
  readonly periods: SegmentCredits;
  /** segment 0: no campaign; segment i: the campaign i − 1 of the input */
  readonly campaigns: SegmentCredits;
  /** per period: of all conversions, and of those without a touch in reach */
  readonly revenue: Float64Array;
  readonly unattributedRevenue: Float64Array;
}
