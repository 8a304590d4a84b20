import { setImmediate as endOfTurn, setTimeout as sleep } from 'node:timers/promises';

/** Longer than a question to the database takes. */
const PATIENCE_MS = 10;

/** Those who ask the same together. */
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
 * Asks once for all who ask the same in one turn of the event loop, or while the same is asked for others (request
 * coalescing). Their asking begins when the turn is over or the others have their answer: later than everybody's
 * question, so that no answer is older than what it answers. There is nothing to expire, as there would be in a cache.
 */
export class Coalescer<Question, Answer> {
  readonly #ask: (question: Question, askers: number) => Promise<Answer>;
  readonly #patienceMs: number;
  readonly #gathering = new Map<string, Group<Answer>>();
  /** The askings that were begun last, until they are over. */
  readonly #underWay = new Map<string, Promise<void>>();

  /**
   * @param ask gets the question of the first who came, and how many share its answer
   * @param patienceMs how long those who come wait for an asking that is under way before theirs begins beside it
   */
  constructor(ask: (question: Question, askers: number) => Promise<Answer>, patienceMs: number = PATIENCE_MS) {
    this.#ask = ask;
    this.#patienceMs = patienceMs;
  }

  /** Questions that have not been asked yet. */
  get gathering(): number {
    return this.#gathering.size;
  }

  /** @param key the same for two questions where the answer to one is the answer to the other */
  join(key: string, question: Question): Share<Answer> {
    const group = this.#gathering.get(key) ?? this.#gather(key, question);
    const place = group.askers;
    group.askers += 1;
    return { place, answer: group.answer };
  }

  #gather(key: string, question: Question): Group<Answer> {
    const before = this.#underWay.get(key);
    const turn =
      before === undefined ? endOfTurn() : Promise.race([before, sleep(this.#patienceMs, undefined, { ref: false })]);
    const group: Group<Answer> = {
      askers: 0,
      answer: turn.then(() => {
        this.#gathering.delete(key);
        const answer = this.#ask(question, group.askers);
        this.#follow(key, answer);
        return answer;
      }),
    };
    this.#gathering.set(key, group);
    return group;
  }

  /** Failures are told by the answer itself. */
  #follow(key: string, answer: Promise<Answer>): void {
    const isOver = (): void => {
      if (this.#underWay.get(key) === over) this.#underWay.delete(key);
    };
    const over: Promise<void> = answer.then(isOver, isOver);
    this.#underWay.set(key, over);
  }
}
