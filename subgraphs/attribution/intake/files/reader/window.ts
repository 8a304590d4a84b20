const LF = 0x0a;

/**
 * A stretch of a stream that is looked at as one piece: `data[position .. end)`. Unless the stream is over, at least
 * `ahead` bytes stand in front of whoever reads, so that nothing shorter is ever cut in two.
 */
export class Window {
  readonly data: Buffer;
  position = 0;
  end = 0;
  isLast = false;
  readonly #pieces: AsyncIterator<Uint8Array>;
  readonly #ahead: number;
  #rest: Uint8Array = new Uint8Array(0);

  constructor(content: AsyncIterable<Uint8Array>, ahead: number) {
    this.#pieces = content[Symbol.asyncIterator]();
    this.#ahead = ahead;
    // One byte more than is ever filled: a line end behind the last byte stops every scan.
    this.data = Buffer.allocUnsafe(4 * ahead + 1);
  }

  get left(): number {
    return this.end - this.position;
  }

  /** Whether as much stands ahead as there must. */
  get isFull(): boolean {
    return this.isLast || this.left >= this.#ahead;
  }

  /** Moves on in the stream, until the window is full or the stream over. */
  async fill(): Promise<void> {
    this.data.copyWithin(0, this.position, this.end);
    this.end -= this.position;
    this.position = 0;
    while (this.end < this.data.length - 1 && !this.isLast) {
      if (this.#rest.length === 0) {
        const step = await this.#pieces.next();
        if (step.done === true) this.isLast = true;
        else this.#rest = step.value;
      }
      const taken = Math.min(this.#rest.length, this.data.length - 1 - this.end);
      this.data.set(this.#rest.subarray(0, taken), this.end);
      this.#rest = this.#rest.subarray(taken);
      this.end += taken;
    }
    this.data[this.end] = LF;
  }

  /** Leaves out everything up to the next line end, itself included; false when the stream ended first. */
  async skipLine(): Promise<boolean> {
    for (;;) {
      const lineEnd = this.data.indexOf(LF, this.position);
      if (lineEnd >= 0 && lineEnd < this.end) {
        this.position = lineEnd + 1;
        return true;
      }
      this.position = this.end;
      if (this.isLast) return false;
      await this.fill();
    }
  }
}
