/** Beyond, each counts as new: the store counts what repeats. */
const MOST_IDS = 1_000_000;
const ALL_UP_TO = 100_000;
const SAMPLE_MASK = 15;
const FIRST_SLOTS = 1 << 12;
const [SEED_A, SEED_B] = [0x811c9dc5, 0x9e3779b9];
const [PRIME_A, PRIME_B] = [0x01000193, 0x85ebca6b];

/**
 * Ids of a file, by 64 bits of a hash: 16 bytes each, whatever their length. With `isSampled`, behind the first hundred
 * thousand one of sixteen is looked at: a file whose ids repeat, repeats some of them, and looking costs more than
 * reading.
 */
export class SeenIds {
  readonly #isSampled: boolean;
  #slots = new Uint32Array(2 * FIRST_SLOTS);
  #count = 0;

  constructor({ isSampled }: { readonly isSampled: boolean }) {
    this.#isSampled = isSampled;
  }

  /** @returns whether the id was there before */
  add(data: Uint8Array, start: number, end: number): boolean {
    if (this.#count === MOST_IDS) return false;
    let a = SEED_A;
    for (let at = start; at < end; at += 1) a = Math.imul(a ^ data[at]!, PRIME_A);
    if (this.#isSampled && this.#count >= ALL_UP_TO && (a & SAMPLE_MASK) !== 0) return false;
    let b = SEED_B;
    for (let at = start; at < end; at += 1) {
      b = Math.imul(b ^ data[at]!, PRIME_B);
      b ^= b >>> 15;
    }
    // Of 0 are the slots that are free.
    const wasThere = this.#put(a >>> 0, b >>> 0 || 1);
    if (!wasThere && 2 * ++this.#count > this.#slots.length / 2) this.#grow();
    return wasThere;
  }

  #put(a: number, b: number): boolean {
    const slots = this.#slots;
    const mask = slots.length / 2 - 1;
    for (let slot = (a ^ (b >>> 7)) & mask; ; slot = (slot + 1) & mask) {
      if (slots[2 * slot + 1] === 0) {
        slots[2 * slot] = a;
        slots[2 * slot + 1] = b;
        return false;
      }
      if (slots[2 * slot] === a && slots[2 * slot + 1] === b) return true;
    }
  }

  #grow(): void {
    const former = this.#slots;
    this.#slots = new Uint32Array(2 * former.length);
    for (let at = 0; at < former.length; at += 2) if (former[at + 1] !== 0) this.#put(former[at]!, former[at + 1]!);
  }
}
