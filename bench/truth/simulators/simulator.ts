/** Something that a world contains on purpose, so that figures can be read by it. */
export const TRAITS = [
  'nothing_works',
  'harm',
  'synergy',
  'long_horizon',
  'short_horizon',
  'ids_split',
  'touches_lost',
  'sparse_orders',
  'promotions',
  'reactive_targeting',
  'navigational_clicks',
  'untracked_spend',
  'budget_follows_demand',
  'halo_visits',
] as const;
export type Trait = (typeof TRAITS)[number];

export interface SimulatedChannel {
  /** as in the shop's files, such as `paid_search`; `direct` and names that begin with `organic` are unpaid */
  readonly name: string;
  readonly paid: boolean;
  /** false for spend that leaves no touches, such as television */
  readonly tracked: boolean;
  /** traits of this channel alone, such as `reactive_targeting` for retargeting */
  readonly traits: readonly Trait[];
}

/** What is done otherwise than in the world as it is. */
export interface Plan {
  /** factor on each channel's spend, 0 = switched off from the first day of the window; 1 where not named */
  readonly spend?: Readonly<Record<string, number>>;
  /** people of whom a random part (by a hash of person and seed) meets nothing of the channels on [fromDay, toDay) */
  readonly holdout?: {
    readonly channels: readonly string[];
    readonly share: number;
    readonly fromDay: number;
    readonly toDay: number;
  };
}

/** Takes the shop's rows: person by person as the shop knows them, each person's events in the order of time. */
export interface EventSink {
  /**
   * @param timeS seconds since 1970, whole
   * @param channel index into `channels`; -1 for an order without a click
   * @param revenue of an order, major units with two digits; 0 for a touch
   * @param isOrder true for a row with conversion = 1: its channel is the click that closed it, or -1
   */
  event(timeS: number, channel: number, isOrder: boolean, revenue: number): void;
  /** @param userId of the events since the last call; a person with several devices ends several of these */
  endUser(userId: string): void;
  /** what was spent, once per paid channel and day, major units */
  spend(day: number, channel: number, amount: number): void;
}

export interface ArmTotals {
  readonly people: number;
  readonly orders: number;
  readonly revenue: number;
}

/** Of the window, over everybody, whether the shop sees them or not. */
export interface Outcome {
  readonly orders: number;
  readonly revenue: number;
  /** with a holdout in the plan: who was held out and who was not; orders and revenue of the days of the holdout */
  readonly arms?: { readonly heldOut: ArmTotals; readonly others: ArmTotals };
}

/** True incremental outcome: the world as it is less the world with something switched off, same random numbers. */
export interface Truth {
  readonly orders: number;
  readonly revenue: number;
  /** per channel of `channels`, it alone off: zeros for unpaid ones; negative where the channel does harm */
  readonly switchOff: readonly { readonly orders: number; readonly revenue: number }[];
  /** all paid channels off */
  readonly total: { readonly orders: number; readonly revenue: number };
}

/** A made-up shop with known effects. Everything follows from simulator, index and people, bit by bit. */
export interface SimulatedShop {
  /** `<simulator>_<index>` */
  readonly name: string;
  readonly people: number;
  readonly days: number;
  /** of the window's first day, whole seconds since 1970, midnight UTC */
  readonly startS: number;
  readonly channels: readonly SimulatedChannel[];
  readonly traits: readonly Trait[];
  /** Runs the window once, as it is or under another plan, with the same random numbers. */
  run(plan: Plan, sink?: EventSink): Outcome;
  /** Runs the window as it is into `sink`, and finds the truth on the way (cheaper than a run per channel). */
  runWithTruth(sink: EventSink): Truth;
}

export interface Simulator {
  /** the folder's name */
  readonly name: string;
  /** how people come to buy here, in one sentence */
  readonly mechanism: string;
  /** number of shops that are drawn from its ranges: their index is 1 … shops */
  readonly shops: number;
  shop(index: number, people: number): SimulatedShop;
}
