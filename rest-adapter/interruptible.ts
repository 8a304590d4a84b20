/**
 * An iterator that ends as soon as `signal` fires, also while the upstream's next() is pending: a generator's
 * return() would queue behind it. The upstream is told to return once; `report` hears of it if that fails.
 */
export function interruptible<T>(
  upstream: AsyncIterator<T>,
  signal: AbortSignal,
  report: (error: unknown) => void,
): AsyncIterableIterator<T> {
  const ended: IteratorReturnResult<undefined> = { done: true, value: undefined };
  let isOver = false;
  const interruption = Promise.withResolvers<IteratorReturnResult<undefined>>();

  const finish = (): void => {
    if (isOver) return;
    isOver = true;
    signal.removeEventListener('abort', finish);
    interruption.resolve(ended);
    // Nobody waits for the upstream any more.
    upstream.return?.().then(undefined, report);
  };
  if (signal.aborted) finish();
  else signal.addEventListener('abort', finish, { once: true });

  return {
    async next() {
      if (isOver) return ended;
      try {
        const result = await Promise.race([upstream.next(), interruption.promise]);
        if (result.done === true) finish();
        return result;
      } catch (error) {
        finish();
        throw error;
      }
    },
    async return() {
      finish();
      return ended;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
