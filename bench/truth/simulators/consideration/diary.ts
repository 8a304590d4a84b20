/** What the shop sees of one person, in the order of time. */
export class Diary {
  count = 0;
  /** -1 for an order without a click */
  readonly channel: number[] = [];
  /** since the window's first day, not whole */
  readonly timeS: number[] = [];
  /** -1 for a touch */
  readonly cents: number[] = [];

  clear(): void {
    this.count = 0;
  }

  touch(timeS: number, channel: number): void {
    this.write(timeS, channel, -1);
  }

  order(timeS: number, channel: number, cents: number): void {
    this.write(timeS, channel, cents);
  }

  /** The last touch is told by the order that it closes. */
  dropLast(): void {
    this.count--;
  }

  private write(timeS: number, channel: number, cents: number): void {
    const at = this.count++;
    this.channel[at] = channel;
    this.timeS[at] = timeS;
    this.cents[at] = cents;
  }
}
