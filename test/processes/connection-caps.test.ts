import { array, assert, constantFrom, integer, oneof, property, record, constant } from 'fast-check';
import { ConnectionCaps } from '../../processes/connection-caps.ts';

/** Connections are numbered; the first letter is their address. */
type Named = string;

function capsWith(max: number, maxPerAddress: number, ...open: Named[]): ConnectionCaps<Named> {
  const caps = new ConnectionCaps<Named>({ max, maxPerAddress });
  for (const each of open) take(caps, each);
  return caps;
}

const take = (caps: ConnectionCaps<Named>, connection: Named) => caps.take(connection, connection[0]!);

describe('places for connections', () => {
  test('are given until there are as many as there may be', () => {
    const caps = capsWith(2, 2);
    expect(take(caps, 'a1')).toEqual({ taken: true, givesWay: null });
    expect(take(caps, 'b1')).toEqual({ taken: true, givesWay: null });
    caps.busy('a1');
    caps.busy('b1');
    expect(take(caps, 'c1')).toEqual({ taken: false, full: 'all' });
    caps.leave('a1');
    expect(take(caps, 'c1')).toEqual({ taken: true, givesWay: null });
    expect(caps.taken).toBe(2);
  });

  test('an address has no more than its share, whatever is free', () => {
    const caps = capsWith(10, 2, 'a1', 'a2');
    caps.busy('a1');
    caps.busy('a2');
    expect(take(caps, 'a3')).toEqual({ taken: false, full: 'address' });
    caps.idle('a2');
    expect(take(caps, 'a3')).toEqual({ taken: true, givesWay: 'a2' });
  });

  test('when all are taken, the longest idle one of the address with the most gives way', () => {
    const caps = capsWith(6, 6, 'b1', 'b2', 'a1', 'a2', 'a3', 'c1');
    caps.busy('a1');
    caps.idle('a1');
    expect(take(caps, 'd1')).toEqual({ taken: true, givesWay: 'a2' });
    expect(caps.taken).toBe(6);
  });

  test('nobody gains a place at the cost of an address that has as few', () => {
    const caps = capsWith(4, 4, 'a1', 'a2', 'b1', 'b2');
    for (const each of ['a1', 'a2']) caps.busy(each);
    expect(take(caps, 'a3')).toEqual({ taken: false, full: 'all' });
    expect(take(caps, 'c1')).toEqual({ taken: true, givesWay: 'b1' });
    // Its own it may replace.
    caps.idle('a1');
    expect(take(caps, 'a3')).toEqual({ taken: true, givesWay: 'a1' });
  });
});

/** The same rules, said in the plainest way. */
class PlainCaps {
  readonly #limits: { readonly max: number; readonly maxPerAddress: number };
  /** In the order of how long they have been idle; `since` is null while they are busy. */
  readonly open: { name: Named; since: number | null }[] = [];
  #now = 0;

  constructor(max: number, maxPerAddress: number) {
    this.#limits = { max, maxPerAddress };
  }

  placesOf(address: string): number {
    return this.open.filter(({ name }) => name[0] === address).length;
  }

  /** The connections that may give way to one of this address; null when it needs none. */
  candidates(address: string): Named[] | null {
    const mine = this.placesOf(address);
    const full = mine >= this.#limits.maxPerAddress ? 'address' : this.open.length >= this.#limits.max ? 'all' : null;
    if (full === null) return null;
    const idle = this.open.filter(({ since }) => since !== null);
    const addresses = [...new Set(idle.map(({ name }) => name[0]!))];
    const richer = full === 'address' ? [] : addresses.filter((each) => this.placesOf(each) > mine);
    const most = Math.max(...richer.map((each) => this.placesOf(each)));
    const richest = richer.filter((each) => this.placesOf(each) === most);
    const losing = richest.length > 0 ? richest : addresses.filter((each) => each === address);
    const longestFirst = idle.toSorted((one, other) => one.since! - other.since!);
    return losing.map((each) => longestFirst.find(({ name }) => name[0] === each)!.name);
  }

  add(name: Named): void {
    this.open.push({ name, since: (this.#now += 1) });
  }

  remove(name: Named): void {
    const at = this.open.findIndex((each) => each.name === name);
    if (at >= 0) this.open.splice(at, 1);
  }

  set(name: Named, isIdle: boolean): void {
    const found = this.open.find((each) => each.name === name);
    if (found !== undefined) found.since = isIdle ? (this.#now += 1) : null;
  }
}

const address = constantFrom('a', 'b', 'c', 'd');
const verb = constantFrom('busy' as const, 'idle' as const, 'leave' as const);
const step = oneof(
  { weight: 3, arbitrary: record({ verb: constant('take' as const), address }) },
  record({ verb, which: integer({ min: 0, max: 9 }) }),
);
const limit = integer({ min: 1, max: 8 });

test('whatever happens, the limits hold, the poor keep theirs, and who gives way is whom the rules name', () => {
  assert(
    property(limit, limit, array(step, { maxLength: 80, size: 'max' }), (max, maxPerAddress, steps) => {
      const caps = capsWith(max, maxPerAddress);
      const plain = new PlainCaps(max, maxPerAddress);
      for (const [number, each] of steps.entries()) {
        if (each.verb === 'take') {
          const name = `${each.address}${number}`;
          const candidates = plain.candidates(each.address);
          const outcome = take(caps, name);
          if (candidates === null) expect(outcome).toEqual({ taken: true, givesWay: null });
          else if (!outcome.taken) expect(candidates).toEqual([]);
          else {
            expect(candidates).toContain(outcome.givesWay);
            plain.remove(outcome.givesWay!);
          }
          if (outcome.taken) plain.add(name);
        } else {
          // Also of some that have left.
          const name = plain.open[each.which]?.name ?? `a${each.which}`;
          caps[each.verb](name);
          if (each.verb === 'leave') plain.remove(name);
          else plain.set(name, each.verb === 'idle');
        }
        expect(caps.taken).toBe(plain.open.length);
        expect(caps.taken).toBeLessThanOrEqual(max);
        for (const one of ['a', 'b', 'c', 'd']) expect(plain.placesOf(one)).toBeLessThanOrEqual(maxPerAddress);
      }
    }),
  );
});
