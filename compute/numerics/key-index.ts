/** Below this many possible keys a plain table is used: 16 MB at most. */
const LARGEST_DIRECT_UNIVERSE = 2 ** 22;

/** Numbers integer keys (0 ≤ key < universe ≤ 2⁵³) in the order of their first appearance. */
export class KeyIndex {
  size = 0;
  private readonly direct: Int32Array | null;
  private slots = new Int32Array(0);
  private keys = new Float64Array(0);

  constructor(universe: number) {
    this.direct = universe <= LARGEST_DIRECT_UNIVERSE ? new Int32Array(universe).fill(-1) : null;
    if (this.direct === null) this.resize(1 << 12);
  }

  /** The key's number, a new one where the key is new. */
  numberOf(key: number): number {
    const direct = this.direct;
    if (direct !== null) {
      const known = direct[key]!;
      if (known >= 0) return known;
      direct[key] = this.size;
      return this.size++;
    }
    const slot = this.slotOf(key);
    const known = this.slots[slot]!;
    if (known >= 0) return known;
    const number = this.size++;
    this.slots[slot] = number;
    this.keys[number] = key;
    if (this.size === this.keys.length) this.resize(this.slots.length * 2);
    return number;
  }

  /** Linear probing over a table that is at most half full. */
  private slotOf(key: number): number {
    const mask = this.slots.length - 1;
    const high = Math.floor(key / 4_294_967_296);
    let hash = Math.imul((key % 4_294_967_296) ^ Math.imul(high, 0x9e3779b1), 0x85ebca6b);
    hash ^= hash >>> 15;
    let slot = Math.imul(hash, 0xc2b2ae35) & mask;
    while (this.slots[slot]! >= 0 && this.keys[this.slots[slot]!] !== key) slot = (slot + 1) & mask;
    return slot;
  }

  private resize(slots: number): void {
    const keys = new Float64Array(slots / 2);
    keys.set(this.keys);
    this.keys = keys;
    this.slots = new Int32Array(slots).fill(-1);
    for (let number = 0; number < this.size; number++) this.slots[this.slotOf(keys[number]!)] = number;
  }
}

/** A Float64Array that grows by doubling: a sum per number. */
export class Sums {
  values = new Float64Array(1 << 10);

  add(index: number, amount: number): void {
    if (index >= this.values.length) {
      const grown = new Float64Array(2 ** Math.ceil(Math.log2(index + 1)));
      grown.set(this.values);
      this.values = grown;
    }
    this.values[index]! += amount;
  }
}
