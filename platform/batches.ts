/** One who waits for his part of a batch. */
interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (reason: unknown) => void;
}

export interface BatchesOptions {
  /** Batches under way at a time; unlimited when absent. */
  readonly atOnce?: number;
  /** Items of a batch at most; 100 when absent. */
  readonly size?: number;
}

/**
 * Does for many by one piece of work what each of them asks for. Those who ask in one turn of the event loop go
 * together; where only so many batches may be under way, so do those who came meanwhile (group commit). Unlike with a
 * {@link Coalescer} everybody asks something else, and gets a result of his own.
 */
export class Batches<Item, Result> {
  readonly #work: (items: readonly Item[]) => Promise<readonly Result[]>;
  readonly #atOnce: number;
  readonly #size: number;
  #waiting: Waiting<Item, Result>[] = [];
  #underWay = 0;
  #isDue = false;

  /** @param work gives each item's result in the item's place; what it throws, everybody hears who is in the batch */
  constructor(
    work: (items: readonly Item[]) => Promise<readonly Result[]>,
    { atOnce = Infinity, size = 100 }: BatchesOptions = {},
  ) {
    this.#work = work;
    this.#atOnce = atOnce;
    this.#size = size;
  }

  add(item: Item): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#waiting.push({ item, resolve, reject });
    if (!this.#isDue) setImmediate(() => this.#send());
    this.#isDue = true;
    return promise;
  }

  #send(): void {
    this.#isDue = false;
    while (this.#waiting.length > 0 && this.#underWay < this.#atOnce)
      void this.#run(this.#waiting.splice(0, this.#size));
  }

  async #run(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    this.#underWay += 1;
    try {
      const results = await this.#work(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, place) => resolve(results[place]!));
    } catch (error) {
      // Whoever waited behind has waited as long, and would once more.
      const behind = this.#underWay < this.#atOnce ? [] : this.#waiting.splice(0);
      for (const { reject } of [...batch, ...behind]) reject(error);
    }
    this.#underWay -= 1;
    this.#send();
  }
}
