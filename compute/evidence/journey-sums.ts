/**
 * Sums over journeys that need no chain: counts, revenue, and the Shapley value, whose Harsanyi dividends the journeys
 * are.
 */
export class JourneySums {
  readonly touches: Float64Array;
  readonly shapley: Float64Array;
  readonly shapleyConversions: Float64Array;
  convertingJourneys = 0;
  attributedRevenue = 0;
  journeys = 0;
  private readonly seenIn: Float64Array;
  private readonly distinct: Uint16Array;
  private serial = 0;

  constructor(channels: number) {
    this.touches = new Float64Array(channels);
    this.shapley = new Float64Array(channels);
    this.shapleyConversions = new Float64Array(channels);
    this.seenIn = new Float64Array(channels);
    this.distinct = new Uint16Array(channels);
  }

  /** Adds journeys along `steps[begin .. end)`, which must not be empty. */
  add(steps: Uint16Array, begin: number, end: number, conversions: number, value: number, nulls: number): void {
    const weight = conversions + nulls;
    this.journeys += weight;
    this.convertingJourneys += conversions;
    this.attributedRevenue += value;
    for (let i = begin; i < end; i++) this.touches[steps[i]!]! += weight;
    if (conversions === 0 && value === 0) return;
    this.serial += 1;
    let members = 0;
    for (let i = begin; i < end; i++) {
      const channel = steps[i]!;
      if (this.seenIn[channel] === this.serial) continue;
      this.seenIn[channel] = this.serial;
      this.distinct[members++] = channel;
    }
    for (let m = 0; m < members; m++) {
      this.shapley[this.distinct[m]!]! += value / members;
      this.shapleyConversions[this.distinct[m]!]! += conversions / members;
    }
  }
}
