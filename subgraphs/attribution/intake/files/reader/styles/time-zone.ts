const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const KEPT_HOURS = 100_000;

/** Turns local times of one zone into moments. */
export class TimeZone {
  readonly name: string;
  readonly #format: Intl.DateTimeFormat | null;
  /** Milliseconds ahead of UTC in each hour that was asked about. */
  readonly #offsets = new Map<number, number>();

  /** @param name of the IANA database; any that `Intl` knows */
  constructor(name: string) {
    this.name = name;
    this.#format =
      name === 'UTC'
        ? null
        : new Intl.DateTimeFormat('en-US', {
            timeZone: name,
            hourCycle: 'h23',
            year: 'numeric',
            month: 'numeric',
            day: 'numeric',
            hour: 'numeric',
            minute: 'numeric',
            second: 'numeric',
          });
  }

  /**
   * @param localMs what the clock on the wall says, as if it were UTC
   * @returns the moment; the earlier one where the clock says it twice, the later where it leaves an hour out
   */
  momentOf(localMs: number): number {
    if (this.#format === null) return localMs;
    const first = localMs - this.#offsetAt(localMs);
    const second = localMs - this.#offsetAt(first);
    const third = localMs - this.#offsetAt(localMs - 24 * HOUR_MS);
    if (third < second && third + this.#offsetAt(third) === localMs) return third;
    return second;
  }

  /** Offsets change on the quarter of an hour at the most often. */
  #offsetAt(ms: number): number {
    const quarter = Math.floor(ms / (15 * MINUTE_MS));
    let offset = this.#offsets.get(quarter);
    if (offset === undefined) {
      if (this.#offsets.size >= KEPT_HOURS) this.#offsets.clear();
      offset = this.#measure(quarter * 15 * MINUTE_MS);
      this.#offsets.set(quarter, offset);
    }
    return offset;
  }

  #measure(ms: number): number {
    const parts = Object.fromEntries(this.#format!.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
    const { year, month, day, hour, minute, second } = parts as Record<string, number>;
    return Date.UTC(year!, month! - 1, day, hour, minute, second) - ms;
  }
}
