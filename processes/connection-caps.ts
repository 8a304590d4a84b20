/** How many connections there may be at once. */
export interface ConnectionLimits {
  /** In all. */
  readonly max: number;
  /** From one address, or one /64 of IPv6. */
  readonly maxPerAddress: number;
}

/** What came of asking for a place: taken, at the cost of whoever gave way to it, or all are gone. */
export type Outcome<C> =
  | { readonly taken: true; readonly givesWay: C | null }
  | { readonly taken: false; readonly full: 'address' | 'all' };

interface Holder<C> {
  readonly address: string;
  places: number;
  /** The one that has been idle for longest comes first. */
  readonly idle: Set<C>;
  /** Where it stands among those that could give way: its places, 0 while none of them is idle. */
  rank: number;
}

/**
 * Gives out places for connections, so many in all and so many per address. When they are all gone, an idle one gives
 * way: the one that has been idle for longest, of the address that has the most. It never is of an address that has
 * no more than the one that asks: nobody gains places at the cost of whoever has fewer. A step takes the same time,
 * however many there are.
 */
export class ConnectionCaps<C> {
  readonly #limits: ConnectionLimits;
  readonly #holders = new Map<string, Holder<C>>();
  readonly #holderOf = new Map<C, Holder<C>>();
  /** Addresses that have an idle connection, by how many places they have. */
  readonly #ranks: Set<Holder<C>>[] = [];
  #highest = 0;

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

  /** How many places are taken. */
  get taken(): number {
    return this.#holderOf.size;
  }

  /** Asks for a place, for a connection that is idle until somebody says that it is busy. */
  take(connection: C, address: string): Outcome<C> {
    const holder = this.#holders.get(address) ?? { address, places: 0, idle: new Set<C>(), rank: 0 };
    const { max, maxPerAddress } = this.#limits;
    const full = holder.places >= maxPerAddress ? 'address' : this.taken >= max ? 'all' : null;
    let givesWay: C | null = null;
    if (full !== null) {
      const loser = full === 'address' ? holder : this.#whoeverGivesWayTo(holder);
      const longest = loser.idle.values().next();
      if (longest.done === true) return { taken: false, full };
      givesWay = longest.value;
      this.leave(givesWay);
    }
    holder.places += 1;
    holder.idle.add(connection);
    this.#holders.set(address, holder);
    this.#holderOf.set(connection, holder);
    this.#place(holder);
    return { taken: true, givesWay };
  }

  /** It may not give way from now on. */
  busy(connection: C): void {
    const holder = this.#holderOf.get(connection);
    if (holder?.idle.delete(connection) === true) this.#place(holder);
  }

  /** It may give way again, after all that have been idle before. */
  idle(connection: C): void {
    const holder = this.#holderOf.get(connection);
    if (holder === undefined) return;
    holder.idle.delete(connection);
    holder.idle.add(connection);
    this.#place(holder);
  }

  /** Its place is free. */
  leave(connection: C): void {
    const holder = this.#holderOf.get(connection);
    if (holder === undefined) return;
    this.#holderOf.delete(connection);
    holder.idle.delete(connection);
    holder.places -= 1;
    if (holder.places === 0) this.#holders.delete(holder.address);
    this.#place(holder);
  }

  /** The address itself when nobody else has both more places and an idle connection. */
  #whoeverGivesWayTo(holder: Holder<C>): Holder<C> {
    while (this.#highest > 0 && (this.#ranks[this.#highest]?.size ?? 0) === 0) this.#highest -= 1;
    const [richest] = this.#ranks[this.#highest] ?? [];
    return richest !== undefined && richest.places > holder.places ? richest : holder;
  }

  #place(holder: Holder<C>): void {
    const rank = holder.idle.size === 0 ? 0 : holder.places;
    if (rank === holder.rank) return;
    this.#ranks[holder.rank]?.delete(holder);
    holder.rank = rank;
    if (rank === 0) return;
    (this.#ranks[rank] ??= new Set()).add(holder);
    this.#highest = Math.max(this.#highest, rank);
  }
}
