import { once } from 'node:events';
import { openDoor, type TestDoor } from './door.ts';
import { attribution } from './shop.ts';
import { channelResult, failure, progress, result, Run, start, until } from './watched-run.ts';

describe('POST /attribution waits', () => {
  test('for the result, from the start of the history', async () => {
    const run = new Run();
    await using door = await openDoor({ resolvers: { attributionProgress: run.watch } });
    const answer = door.call('POST', '/v1/attribution', start);
    await until(() => run.subscriptions.length === 1);
    run.push(progress(1));
    run.push(result(2));
    const response = await answer;
    expect(response.status).toBe(200);
    expect(response.headers.get('retry-after')).toBeNull();
    expect(response.headers.get('preference-applied')).toBeNull();
    expect(await response.json()).toMatchObject({ id: 'attr_run', status: 'completed' });
    expect(run.subscriptions).toEqual([{ after: 0, hasReturned: true }]);
  });

  test('not at all when the analysis is finished already', async () => {
    await using door = await openDoor({
      resolvers: { runAttribution: () => ({ attribution: attribution('attr_run', 'COMPLETED') }) },
    });
    const response = await door.call('POST', '/v1/attribution', start);
    expect(await response.json()).toMatchObject({ status: 'completed' });
    expect(door.client.calls.map(({ name }) => name)).toEqual(['RunAttribution']);
  });

  test.each(['respond-async', 'wait=0', 'respond-async, wait=0'])(
    'for the beginning alone with Prefer: %s',
    async (prefer) => {
      const run = new Run();
      await using door = await openDoor({ resolvers: { attributionProgress: run.watch } });
      const response = await door.call('POST', '/v1/attribution', { ...start, headers: { prefer } });
      expect(response.status).toBe(200);
      expect(response.headers.get('preference-applied')).toBe(prefer);
      expect(response.headers.get('location')).toBe('https://api.example/v1/attribution/attr_run');
      expect(response.headers.get('retry-after')).toBe('2');
      expect(await response.json()).toMatchObject({ status: 'processing' });
      expect(run.subscriptions[0]!.hasReturned).toBe(true);
    },
  );

  test('until the time is up, then shows how far it is', async () => {
    const run = new Run();
    await using door = await openDoor({ resolvers: { attributionProgress: run.watch } });
    const response = await door.call('POST', '/v1/attribution', { ...start, headers: { prefer: 'wait=1' } });
    expect(response.headers.get('preference-applied')).toBe('wait=1');
    expect(await response.json()).toMatchObject({ id: 'attr_run', status: 'processing' });
    expect(response.headers.get('retry-after')).toBe('2');
    expect(run.subscriptions[0]!.hasReturned).toBe(true);
    expect(door.client.calls.at(-1)?.name).toBe('Attribution');
  });

  test('a failed analysis is the answer, not an error', async () => {
    const run = new Run();
    run.push(failure(1));
    await using door = await openDoor({
      resolvers: { attributionProgress: run.watch, attribution: ({ id }: { id: string }) => attribution(id, 'FAILED') },
    });
    const response = await door.call('POST', '/v1/attribution', start);
    expect(response.status).toBe(200);
    expect(response.headers.get('retry-after')).toBeNull();
    expect(await response.json()).toMatchObject({ status: 'failed', failure: { code: 'insufficient_data' } });
  });

  test('a subscription that breaks costs the wait, not the answer', async () => {
    await using door = await openDoor({
      resolvers: {
        attributionProgress: () => ({
          [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('upstream lost')) }),
        }),
      },
    });
    const response = await door.call('POST', '/v1/attribution', start);
    expect(await response.json()).toMatchObject({ status: 'processing' });
    expect(door.logs.some(({ msg }) => msg.includes('could not watch a job'))).toBe(true);
  });

  test('ends when the client goes away', async () => {
    const run = new Run();
    await using door = await openDoor({ resolvers: { attributionProgress: run.watch } });
    const abort = new AbortController();
    const answer = door.call('POST', '/v1/attribution', { ...start, signal: abort.signal });
    await until(() => run.subscriptions.length === 1);
    abort.abort();
    await expect(answer).rejects.toThrow('aborted');
    await until(() => run.subscriptions[0]!.hasReturned);
  });

  test('ends when the server closes, with the answer that there is', async () => {
    const run = new Run();
    await using door = await openDoor({ resolvers: { attributionProgress: run.watch } });
    const answer = door.call('POST', '/v1/attribution', start);
    await until(() => run.subscriptions.length === 1);
    door.door.close();
    expect(await (await answer).json()).toMatchObject({ status: 'processing' });
  });
});

describe('a client that has left before its answer begins', () => {
  /** Sends a request, leaves once the graph is asked, and lets the graph answer when the service has seen that. */
  async function leaving(request: (door: TestDoor, signal: AbortSignal) => Promise<Response>, run: Run) {
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    const held =
      <Answer>(answer: (args: { id: string }) => Answer) =>
      async (args: { id: string }): Promise<Answer> => {
        asked.resolve();
        await answered.promise;
        return answer(args);
      };
    const door = await openDoor({
      resolvers: {
        attribution: held(({ id }) => attribution(id, id === 'attr_done' ? 'COMPLETED' : 'PROCESSING')),
        runAttribution: held(() => ({ attribution: attribution('attr_run', 'PROCESSING') })),
        attributionProgress: run.watch,
      },
    });
    const left = new Promise<void>((resolve) =>
      door.server.once('request', (_request, response) => response.once('close', resolve)),
    );
    const leave = new AbortController();
    const answer = request(door, leave.signal);
    await asked.promise;
    leave.abort();
    await expect(answer).rejects.toThrow('aborted');
    await left;
    answered.resolve();
    return door;
  }

  test.each([
    ['a run', 'GET', '/v1/attribution/attr_run/stream'],
    ['a run that is over', 'GET', '/v1/attribution/attr_done/stream'],
    ['a run that begins', 'POST', '/v1/attribution?stream=true'],
  ] as const)('leaves no stream behind: %s', async (_what, method, path) => {
    const run = new Run();
    // More than a stream takes before somebody reads it.
    for (let sequence = 1; sequence <= 100; sequence += 1) run.push(channelResult(sequence));
    if (path.includes('attr_done')) run.push(result(101));
    await using door = await leaving(
      (door, signal) => door.call(method, path, method === 'POST' ? { ...start, signal } : { signal }),
      run,
    );
    await soon(() => run.subscriptions.some(({ hasReturned }) => hasReturned));
    await soon(() => door.admission.watches.size === 0);
    expect(door.logs.filter(({ level }) => level >= 50)).toEqual([]);
  });

  test('is not waited for', async () => {
    const run = new Run();
    await using door = await leaving((door, signal) => door.call('POST', '/v1/attribution', { ...start, signal }), run);
    await soon(() => run.subscriptions[0]?.hasReturned === true);
    expect(door.admission.watches.size).toBe(0);
  });

  /** What a leak would make wait for ever, or for as long as a client is waited for. */
  async function soon(condition: () => boolean): Promise<void> {
    const deadlineMs = performance.now() + 10_000;
    while (!condition()) {
      expect(performance.now()).toBeLessThan(deadlineMs);
      await once(AbortSignal.timeout(5), 'abort');
    }
  }
});
