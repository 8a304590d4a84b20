/** A typed array of one element type. */
export type Numbers = Float64Array | Uint32Array | Uint16Array | Uint8Array;

interface NumbersConstructor<T extends Numbers> {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: SharedArrayBuffer, byteOffset?: number, length?: number): T;
}

const FIRST_ELEMENTS = 1024;

/** An array on shared memory of which the length shows only when the last block is in. Memory doubles as it fills. */
export class GrowingArray<T extends Numbers> {
  values: T;
  length = 0;
  readonly #type: NumbersConstructor<T>;

  constructor(type: NumbersConstructor<T>, expected: number = FIRST_ELEMENTS) {
    this.#type = type;
    this.values = this.#allocate(expected);
  }

  /** Makes room for `count` elements behind the ones there are, and counts them in. @returns where they start */
  extend(count: number): number {
    const start = this.length;
    this.length += count;
    if (this.length > this.values.length) {
      const larger = this.#allocate(Math.max(this.length, 2 * this.values.length));
      larger.set(this.values);
      this.values = larger;
    }
    return start;
  }

  append(values: ArrayLike<number>): void {
    const start = this.extend(values.length);
    this.values.set(values, start);
  }

  /** Exactly the elements there are. */
  done(): T {
    return new this.#type(this.values.buffer as SharedArrayBuffer, 0, this.length);
  }

  #allocate(elements: number): T {
    return new this.#type(new SharedArrayBuffer(elements * this.#type.BYTES_PER_ELEMENT));
  }
}
