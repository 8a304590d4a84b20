const FREE = -1;
const NOBODY = new Uint32Array(0);
/** An odd factor with many bits, so that low bits of a product depend on all bits of the hash. */
const MIX = 0x9e3779b1;

/** How many people there are, and how many ids are of groups too large to be one. */
export interface PeopleCount {
  readonly people: number;
  readonly leftOut: number;
}

/**
 * Which of many ids are one person's, from pairs of them: a forest of disjoint sets, halved paths and union by size
 * (Tarjan and van Leeuwen 1984, Journal of the ACM 31:245), so that n pairs take n steps times next to nothing however
 * they are made. Ids are 64-bit hashes, given as two words; memory is laid out once, 20 bytes per id.
 */
export class ConnectedIds {
  readonly #low: Uint32Array;
  readonly #high: Uint32Array;
  /** Place of the parent; of a root, minus how many ids are below it. */
  readonly #parent: Int32Array;
  readonly #slots: Int32Array;
  #count = 0;

  constructor(mostIds: number) {
    this.#low = new Uint32Array(mostIds);
    this.#high = new Uint32Array(mostIds);
    this.#parent = new Int32Array(mostIds);
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * mostIds + 1))).fill(FREE);
  }

  join(lowA: number, highA: number, lowB: number, highB: number): void {
    const [a, b] = [this.#rootOf(this.#placeOf(lowA, highA)), this.#rootOf(this.#placeOf(lowB, highB))];
    if (a === b) return;
    const [root, child] = this.#parent[a]! <= this.#parent[b]! ? [a, b] : [b, a];
    this.#parent[root]! += this.#parent[child]!;
    this.#parent[child] = root;
  }

  /**
   * The people among the ids, in steps of so many ids: between any two, others may have the thread. Groups of more than
   * `mostOfPerson` ids are nobody. Each step yields the words of its ids, four each: lower and upper of the id, lower
   * and upper of the least id of the same person; none while it is looked which that is.
   */
  *people(mostOfPerson: number, idsOfStep: number): Generator<Uint32Array, PeopleCount> {
    const least = new Int32Array(this.#count).fill(FREE);
    let [people, leftOut] = [0, 0];
    for (let from = 0; from < this.#count; from += idsOfStep) {
      for (let id = from; id < Math.min(this.#count, from + idsOfStep); id += 1) {
        const root = this.#rootOf(id);
        if (least[root] === FREE || this.#isLess(id, least[root]!)) least[root] = id;
        const isPerson = -this.#parent[root]! <= mostOfPerson;
        if (!isPerson) leftOut += 1;
        else if (root === id) people += 1;
      }
      yield NOBODY;
    }
    for (let from = 0; from < this.#count; from += idsOfStep) yield this.#wordsOf(from, idsOfStep, mostOfPerson, least);
    return { people, leftOut };
  }

  #wordsOf(from: number, count: number, mostOfPerson: number, least: Int32Array): Uint32Array {
    const words = new Uint32Array(4 * count);
    let at = 0;
    for (let id = from; id < Math.min(this.#count, from + count); id += 1) {
      const root = this.#rootOf(id);
      if (-this.#parent[root]! > mostOfPerson) continue;
      const person = least[root]!;
      words[at] = this.#low[id]!;
      words[at + 1] = this.#high[id]!;
      words[at + 2] = this.#low[person]!;
      words[at + 3] = this.#high[person]!;
      at += 4;
    }
    return words.subarray(0, at);
  }

  #isLess(a: number, b: number): boolean {
    const [high, highB] = [this.#high[a]!, this.#high[b]!];
    return high === highB ? this.#low[a]! < this.#low[b]! : high < highB;
  }

  #placeOf(low: number, high: number): number {
    const mask = this.#slots.length - 1;
    let slot = (Math.imul(low ^ Math.imul(high, MIX), MIX) >>> 7) & mask;
    for (;;) {
      const id = this.#slots[slot]!;
      if (id === FREE) break;
      if (this.#low[id] === low && this.#high[id] === high) return id;
      slot = (slot + 1) & mask;
    }
    const id = this.#count;
    if (id === this.#parent.length) throw new RangeError('more ids than there is room for');
    this.#count += 1;
    this.#low[id] = low;
    this.#high[id] = high;
    this.#parent[id] = -1;
    this.#slots[slot] = id;
    return id;
  }

  #rootOf(id: number): number {
    let at = id;
    for (let parent = this.#parent[at]!; parent >= 0; parent = this.#parent[at]!) {
      const above = this.#parent[parent]!;
      if (above >= 0) this.#parent[at] = above;
      at = parent;
    }
    return at;
  }
}
