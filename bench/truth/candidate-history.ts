/** What a candidate is, and what it depends on. */
export const Kind = {
  /** a touch or visit that comes regardless of what happened before */
  spread: 0,
  /** a touch or visit out of interest: rarer just after an order */
  interest: 1,
  /** a touch that only known customers get */
  customer: 2,
  /** a touch or visit that its parent brings */
  offspring: 3,
  /** an order that comes without advertising */
  organicOrder: 4,
  /** an order that its parent, a paid touch, sets off */
  causedOrder: 5,
} as const;

export const NO_PARENT = -1;

/**
 * A candidate before it goes into the columns. `parent` is the index that `add` gave to the event that brings this one.
 */
export interface Candidate {
  readonly timeDays: number;
  /** of an order: the click by which it came, or NO_CHANNEL */
  readonly channel: number;
  readonly kind: number;
  readonly parent: number;
  readonly value: number;
}

/**
 * All that may happen to one user in any of the worlds that differ by the channels that are switched off: candidate
 * events with the random marks that decide on them. Every replay reads the same marks, which is what makes the random
 * numbers common.
 */
export class CandidateHistory {
  count = 0;
  known = false;
  timeDays = new Float64Array(256);
  channel = new Uint16Array(256);
  kind = new Uint8Array(256);
  parent = new Int32Array(256);
  /** uniform: against the parent's potency, or against satiation */
  mark = new Float64Array(256);
  /** uniform: an order's second mark, against satiation */
  rest = new Float64Array(256);
  value = new Float64Array(256);
  /** indices in the order of time */
  order = new Int32Array(256);

  clear(known: boolean): void {
    this.count = 0;
    this.known = known;
  }

  add({ timeDays, channel, kind, parent, value }: Candidate, mark: number, rest: number): number {
    const at = this.count++;
    if (at === this.order.length) this.grow();
    this.timeDays[at] = timeDays;
    this.channel[at] = channel;
    this.kind[at] = kind;
    this.parent[at] = parent;
    this.mark[at] = mark;
    this.rest[at] = rest;
    this.value[at] = value;
    return at;
  }

  /** Sorts by time; of one instant, what was added first comes first. */
  sort(): void {
    const { order, timeDays } = this;
    for (let i = 0; i < this.count; i++) {
      const t = timeDays[i]!;
      let at = i;
      while (at > 0 && timeDays[order[at - 1]!]! > t) {
        order[at] = order[at - 1]!;
        at--;
      }
      order[at] = i;
    }
  }

  private grow(): void {
    const length = this.order.length * 2;
    const longer = <Column extends Float64Array | Uint16Array | Uint8Array | Int32Array>(
      column: Column,
      room: Column,
    ): Column => {
      room.set(column);
      return room;
    };
    this.timeDays = longer(this.timeDays, new Float64Array(length));
    this.channel = longer(this.channel, new Uint16Array(length));
    this.kind = longer(this.kind, new Uint8Array(length));
    this.parent = longer(this.parent, new Int32Array(length));
    this.mark = longer(this.mark, new Float64Array(length));
    this.rest = longer(this.rest, new Float64Array(length));
    this.value = longer(this.value, new Float64Array(length));
    this.order = longer(this.order, new Int32Array(length));
  }
}
