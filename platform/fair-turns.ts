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
}

/** Gives a place back; a second call does nothing. */
export type Release = () => void;

/** A list of everybody who ever came would grow without end. */
const REMEMBERED = 1_000;

interface Waiting {
  readonly begin: (release: Release) => void;
}

/** What one tenant has and waits for; forgotten when it is neither. */
interface Line {
  readonly tenant: string;
  taken: number;
  /**
   * Number of the latest turn that this tenant was given, over all tenants; just below the latest when it came, if
   * none.
   */
  lastTurn: number;
  readonly waiting: Set<Waiting>;
}

/**
 * Hands a few places out among tenants: a free one goes to the tenant that has the fewest, and of those to the one that
 * was served longest ago. A tenant's fifty requests wait behind one another, never in front of a neighbour's first.
 */
export class FairTurns {
  readonly #options: FairTurnsOptions;
  readonly #lines = new Map<string, Line>();
  /** The latest turns of tenants that have nothing and want nothing, the earliest gone first. */
  readonly #lastTurns = new Map<string, number>();
  #taken = 0;
  #turns = 0;

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
    // Who comes anew goes before whoever was served just now, and behind all who wait since an earlier turn: else
    // tenants that leave and come again would shut out one that waits.
    const line = {
      tenant,
      taken: 0,
      lastTurn: this.#lastTurns.get(tenant) ?? this.#turns - 0.5,
      waiting: new Set<Waiting>(),
    };
    this.#lastTurns.delete(tenant);
    this.#lines.set(tenant, line);
    return line;
  }

  #handOut(): void {
    while (this.#taken < this.#options.places) {
      const line = this.#nextLine();
      if (line === undefined) return;
      const [waiting] = line.waiting;
      line.waiting.delete(waiting!);
      line.taken += 1;
      line.lastTurn = this.#turns += 1;
      this.#taken += 1;
      waiting!.begin(this.#releaseOf(line));
    }
  }

  #nextLine(): Line | undefined {
    let next: Line | undefined;
    for (const line of this.#lines.values()) {
      if (line.waiting.size === 0 || line.taken >= this.#options.perTenant) continue;
      if (next === undefined || line.taken < next.taken || (line.taken === next.taken && line.lastTurn < next.lastTurn))
        next = line;
    }
    return next;
  }

  #releaseOf(line: Line): Release {
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      line.taken -= 1;
      this.#taken -= 1;
      this.#handOut();
      this.#forgetIdle(line);
    };
  }

  /**
   * Of who has nothing and wants nothing, the latest turn is remembered for a while: who seldom comes goes first then.
   */
  #forgetIdle(line: Line): void {
    if (line.taken > 0 || line.waiting.size > 0 || !this.#lines.delete(line.tenant)) return;
    this.#lastTurns.set(line.tenant, line.lastTurn);
    const [longestGone] = this.#lastTurns.keys();
    if (this.#lastTurns.size > REMEMBERED) this.#lastTurns.delete(longestGone!);
  }
}
