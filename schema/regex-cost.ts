/** Of a class of Unicode, such as `\pL`: RE2 spells out its ranges, byte by byte. */
const UNICODE_CLASS = 700;
/** Of `.`, `\w`, `[[:alpha:]]` and the like. */
const SMALL_CLASS = 4;

/**
 * About how many instructions RE2 compiles a regular expression to, without compiling it: a letter is one, a counted
 * repetition as many as it counts, and repetitions in one another multiply. In the engine one takes 1 to 12 µs for each
 * statement that reads rows, as measured on 35 shapes, 22 of which were chosen to be costly after the weights were set.
 * Whether the pattern is one at all is for the engine to say.
 */
export function regexCost(pattern: string): number {
  const reader = new PatternReader(pattern);
  let cost = 0;
  // A bracket too many ends a sequence early.
  while (!reader.isAtEnd()) cost += reader.sequence() + reader.skip();
  return cost;
}

class PatternReader {
  readonly #pattern: string;
  #at = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  isAtEnd(): boolean {
    return this.#at >= this.#pattern.length;
  }

  skip(): number {
    this.#at += 1;
    return 1;
  }

  /** Up to the bracket that closes it, or the end. */
  sequence(): number {
    let cost = 0;
    while (!this.isAtEnd() && this.#pattern[this.#at] !== ')') cost += this.#atom() * this.#repetition() + 1;
    return cost;
  }

  #atom(): number {
    if (this.#take(/\((?:\?P?<\w*>|\?[a-zA-Z-]*:?)?/y) !== null) {
      const cost = this.sequence();
      this.#at += 1;
      return cost;
    }
    if (this.#take(/\[\^?\]?/y) !== null) return this.#charactersOfClass();
    if (this.#take(UNICODE) !== null) return UNICODE_CLASS;
    if (this.#take(/\\x\{[0-9a-fA-F]*\}/y) !== null) return 1;
    if (this.#take(/\\[dDwWsSC]|\./y) !== null) return SMALL_CLASS;
    if (this.#take(/\\[\s\S]?|[\s\S]/y) === null) this.#at += 1;
    return 1;
  }

  #charactersOfClass(): number {
    let cost = SMALL_CLASS;
    while (!this.isAtEnd() && this.#take(/\]/y) === null) {
      if (this.#take(UNICODE) !== null) cost += UNICODE_CLASS;
      else if (this.#take(/\[:\^?\w*:\]/y) !== null) cost += SMALL_CLASS;
      else {
        this.#take(/\\[\s\S]?|[\s\S]/y);
        cost += 1;
      }
    }
    return cost;
  }

  /** How often the atom before stands in the program. */
  #repetition(): number {
    let times = 1;
    for (;;) {
      const counted = this.#take(/\{(\d{1,9})(?:,(\d{0,9}))?\}/y);
      if (counted !== null) times *= Math.max(1, Number(counted[1]), Number(counted[2] ?? 0));
      else if (this.#take(/[*+?]/y) === null) return times;
    }
  }

  #take(sticky: RegExp): RegExpExecArray | null {
    sticky.lastIndex = this.#at;
    const found = sticky.exec(this.#pattern);
    if (found !== null) this.#at = sticky.lastIndex;
    return found;
  }
}

const UNICODE = /\\[pP](?:\{\^?\w*\}|\w)?/y;
