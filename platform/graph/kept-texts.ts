/** Of one text; what is made of a longer one is made each time. */
const LONGEST_CHARACTERS = 20_000;
/** Of all texts together. What a parser makes of a text takes up to 250 bytes for each of its characters. */
const MOST_CHARACTERS = 500_000;

/** What was made of texts, by their names; those that were used last are kept, as many as their lengths allow. */
export class KeptTexts<Made> {
  readonly #kept = new Map<string, { readonly made: Made; readonly characters: number }>();
  #characters = 0;

  get(name: string): Made | undefined {
    const found = this.#kept.get(name);
    if (found === undefined) return undefined;
    this.#kept.delete(name);
    this.#kept.set(name, found);
    return found.made;
  }

  /** @param characters of the text */
  keep(name: string, made: Made, characters: number): void {
    this.forget(name);
    if (characters > LONGEST_CHARACTERS) return;
    this.#kept.set(name, { made, characters });
    this.#characters += characters;
    for (const [oldest] of this.#kept) {
      if (this.#characters <= MOST_CHARACTERS) return;
      this.forget(oldest);
    }
  }

  forget(name: string): void {
    this.#characters -= this.#kept.get(name)?.characters ?? 0;
    this.#kept.delete(name);
  }
}
