/** More wait in the name of one tenant than may. */
export class CrowdedTurnsError extends Error {
  override readonly name = 'CrowdedTurnsError';
}

export interface FairTurnsOptions {
  /** How many may have a turn at a time. */
  readonly places: number;
  /** How many of them one tenant may have at a time. */
  readonly perTenant: number;
  /** How many may wait in the name of one tenant; as many as come unless given. */
  readonly waitingPerTenant?: number;
  /**
   * Where turns are worth what they cost: so much is one expected to cost of a tenant that has had none. Unless given,
   * one turn is worth as much as another.
   */
  readonly expectedCost?: number;
}

/** Gives a place back, and says what the turn has cost, where that counts; a second call does nothing. */
export type Release = (cost?: number) => void;

/** A list of everybody who ever came would grow without end. */
const REMEMBERED = 1_000;

interface Waiting {
  readonly begin: (release: Release) => void;
}

/** How far a tenant has come: the lower goes first. */
interface Standing {
  /**
   * Number of the latest turn that this tenant was given, over all tenants; just below the latest when it came, if
   * none. Where turns are worth what they cost, what its turns have cost, counted from what whoever is served has had
   * when it comes.
   */
  at: number;
  /** What its latest turn cost, and the next one may cost. */
  turnCost: number;
}

/** What one tenant has and waits for; forgotten when it is neither. */
interface Line {
  readonly tenant: string;
  taken: number;
  readonly standing: Standing;
  readonly waiting: Set<Waiting>;
}

/**
 * Hands a few places out among tenants: a free one goes to the tenant that has the fewest, and of those to the one that
 * was served longest ago. A tenant's fifty requests wait behind one another, never in front of a neighbour's first.
 *
 * Where turns are worth what they cost, of those who have equally many goes first who will have had the least when its
 * next turn is over (start-time fair queueing, Goyal et al. 1996, in the order of ends). Who comes has had as much as
 * whoever was served last: what was used while nobody waited is held against nobody, and somebody new goes before
 * nobody who uses little. While a tenant waits, every other one has twice what its own latest turn cost or was expected
 * to, and one turn more, at the most.
 */
export class FairTurns {
  readonly #options: FairTurnsOptions;
  readonly #lines = new Map<string, Line>();
  /** The standings of tenants that have nothing and want nothing, the earliest gone first. */
  readonly #gone = new Map<string, Standing>();
  #taken = 0;
  /** Turns so far; where they are worth what they cost, the most that a tenant had had when it was served. */
  #reached = 0;

  constructor(options: FairTurnsOptions) {
    this.#options = options;
  }

  /** Places that nobody has: only tenants who have as many as they may wait while there are some. */
  get free(): number {
    return this.#options.places - this.#taken;
  }

  /** How many wait, of all tenants. */
  get waiting(): number {
    let waiting = 0;
    for (const line of this.#lines.values()) waiting += line.waiting.size;
    return waiting;
  }

  /** How many tenants wait: as many turns at most go before the first of one that comes now. */
  get waitingTenants(): number {
    let tenants = 0;
    for (const line of this.#lines.values()) if (line.waiting.size > 0) tenants += 1;
    return tenants;
  }

  /**
   * Waits for a place. Whoever has one gives it back in every case.
   * @throws CrowdedTurnsError; the signal's reason when it aborts while the caller waits
   */
  async take(tenant: string, signal?: AbortSignal): Promise<Release> {
    signal?.throwIfAborted();
    const line = this.#lineOf(tenant);
    const { waitingPerTenant = Infinity } = this.#options;
    if (line.waiting.size >= waitingPerTenant)
      throw new CrowdedTurnsError(`${line.waiting.size} requests of this tenant wait already`);
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        line.waiting.delete(waiting);
        this.#forgetIdle(line);
        reject(signal!.reason as Error);
      };
      const waiting: Waiting = {
        begin: (release) => {
          signal?.removeEventListener('abort', giveUp);
          resolve(release);
        },
      };
      line.waiting.add(waiting);
      signal?.addEventListener('abort', giveUp, { once: true });
      this.#handOut();
    });
  }

  #lineOf(tenant: string): Line {
    const known = this.#lines.get(tenant);
    if (known !== undefined) return known;
    const line = { tenant, taken: 0, standing: this.#standingOf(tenant), waiting: new Set<Waiting>() };
    this.#gone.delete(tenant);
    this.#lines.set(tenant, line);
    return line;
  }

  #standingOf(tenant: string): Standing {
    const known = this.#gone.get(tenant);
    const { expectedCost } = this.#options;
    if (expectedCost !== undefined)
      return { at: Math.max(this.#reached, known?.at ?? 0), turnCost: known?.turnCost ?? expectedCost };
    // Who comes anew goes before whoever was served just now, and behind all who wait since an earlier turn: else
    // tenants that leave and come again would shut out one that waits.
    return known ?? { at: this.#reached - 0.5, turnCost: 0 };
  }

  #handOut(): void {
    while (this.#taken < this.#options.places) {
      const line = this.#nextLine();
      if (line === undefined) return;
      const [waiting] = line.waiting;
      line.waiting.delete(waiting!);
      line.taken += 1;
      this.#taken += 1;
      if (this.#options.expectedCost === undefined) line.standing.at = this.#reached += 1;
      else this.#reached = Math.max(this.#reached, line.standing.at);
      waiting!.begin(this.#releaseOf(line));
    }
  }

  #nextLine(): Line | undefined {
    let next: Line | undefined;
    for (const line of this.#lines.values()) {
      if (line.waiting.size === 0 || line.taken >= this.#options.perTenant) continue;
      if (
        next === undefined ||
        line.taken < next.taken ||
        (line.taken === next.taken && endOf(line.standing) < endOf(next.standing))
      )
        next = line;
    }
    return next;
  }

  #releaseOf(line: Line): Release {
    let isReleased = false;
    return (cost = 0) => {
      if (isReleased) return;
      isReleased = true;
      if (this.#options.expectedCost !== undefined) {
        line.standing.turnCost = cost;
        line.standing.at += line.standing.turnCost;
        if (this.waitingTenants === 0) this.#reached = Math.max(this.#reached, line.standing.at);
      }
      line.taken -= 1;
      this.#taken -= 1;
      this.#handOut();
      this.#forgetIdle(line);
    };
  }

  /**
   * Of who has nothing and wants nothing, the standing is remembered for a while: who seldom comes goes first then.
   */
  #forgetIdle(line: Line): void {
    if (line.taken > 0 || line.waiting.size > 0 || !this.#lines.delete(line.tenant)) return;
    this.#gone.set(line.tenant, line.standing);
    const [longestGone] = this.#gone.keys();
    if (this.#gone.size > REMEMBERED) this.#gone.delete(longestGone!);
  }
}

const endOf = ({ at, turnCost }: Standing): number => at + turnCost;
