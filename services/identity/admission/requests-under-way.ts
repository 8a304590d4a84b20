/** How many requests of each caller are under way; callers are told apart by the secret that they show. */
export class RequestsUnderWay {
  readonly #counts = new Map<string, number>();

  /** Strangers, who show nothing, have none: what they may do is limited by their address. */
  of(authorization: string | undefined): number {
    return authorization === undefined ? 0 : (this.#counts.get(secretOf(authorization)) ?? 0);
  }

  /** One more, until the returned function is called, once. */
  begin(authorization: string | undefined): () => void {
    if (authorization === undefined) return () => undefined;
    const secret = secretOf(authorization);
    this.#counts.set(secret, (this.#counts.get(secret) ?? 0) + 1);
    return () => {
      const left = this.#counts.get(secret)! - 1;
      if (left === 0) this.#counts.delete(secret);
      else this.#counts.set(secret, left);
    };
  }
}

/** Behind the scheme, which may be written in any case and with any number of blanks (RFC 9110 §11.4). */
function secretOf(authorization: string): string {
  const shown = authorization.trimEnd();
  return shown.slice(shown.lastIndexOf(' ') + 1);
}
