/** How many requests of each caller are under way; callers are told apart by what they show. */
export class RequestsUnderWay {
  readonly #counts = new Map<string, number>();

  /** Strangers, who show nothing, have none: what they may do is limited by their address. */
  of(authorization: string | undefined): number {
    return authorization === undefined ? 0 : (this.#counts.get(authorization) ?? 0);
  }

  /** One more, until the returned function is called, once. */
  begin(authorization: string | undefined): () => void {
    if (authorization === undefined) return () => undefined;
    this.#counts.set(authorization, this.of(authorization) + 1);
    return () => {
      const left = this.of(authorization) - 1;
      if (left === 0) this.#counts.delete(authorization);
      else this.#counts.set(authorization, left);
    };
  }
}
