import { setImmediate as endOfTurn } from 'node:timers/promises';

/** Those who asked the same in one turn of the event loop. */
interface Group<Answer> {
  askers: number;
  readonly answer: Promise<Answer>;
}

/** How one who asked hears the answer that all of a group share. */
export interface Share<Answer> {
  /** 0 for the first who asked, 1 for the next, … */
  readonly place: number;
  readonly answer: Promise<Answer>;
}

/**
 * Asks once for all who ask the same in one turn of the event loop (request coalescing). The asking begins when the turn is
 * over: later than everybody's question, so that no answer is older than what it answers. There is nothing to expire, as
 * there would be in a cache.
 */
export class Coalescer<Question, Answer> {
  readonly #ask: (question: Question, askers: number) => Promise<Answer>;
  readonly #gathering = new Map<string, Group<Answer>>();

  /** @param ask gets the question of the first who came, and how many share its answer */
  constructor(ask: (question: Question, askers: number) => Promise<Answer>) {
    this.#ask = ask;
  }

  /** @param key the same for two questions where the answer to one is the answer to the other */
  join(key: string, question: Question): Share<Answer> {
    const group = this.#gathering.get(key) ?? this.#gather(key, question);
    const place = group.askers;
    group.askers += 1;
    return { place, answer: group.answer };
  }

  #gather(key: string, question: Question): Group<Answer> {
    const group: Group<Answer> = {
      askers: 0,
      answer: endOfTurn().then(() => {
        this.#gathering.delete(key);
        return this.#ask(question, group.askers);
      }),
    };
    this.#gathering.set(key, group);
    return group;
  }
}
