import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { errorBody } from '../../rest-adapter/representations/error.ts';
import { formatEvent } from '../../rest-adapter/sse.ts';
import { openDoor } from './door.ts';
import { channelResult, failure, progress, result, Run, runRow, start, until } from './watched-run.ts';

/** Reads a stream to its end, or until `enough` says so. */
async function read(
  response: Response,
  enough: (events: EventSourceMessage[], comments: string[]) => boolean = () => false,
) {
  const events: EventSourceMessage[] = [];
  const comments: string[] = [];
  const retries: number[] = [];
  const parser = createParser({
    onEvent: (event) => events.push(event),
    onComment: (comment) => comments.push(comment),
    onRetry: (retry) => retries.push(retry),
  });
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    parser.feed(decoder.decode(value, { stream: true }));
    if (enough(events, comments)) break;
  }
  return { events, comments, retries, reader };
}

test('an event is one line of JSON, whatever is in it', () => {
  expect(formatEvent({ id: 3, event: 'progress', data: { message: 'a\n\ndata: b\r\u2028' } })).toBe(
    'id: 3\nevent: progress\ndata: {"message":"a\\n\\ndata: b\\r\u2028"}\n\n',
  );
});

describe('POST /attribution?stream=true', () => {
  test('tells progress, channel results and the result, then closes', async () => {
    const run = new Run();
    await using door = await openDoor({ resolvers: { attributionProgress: run.watch } });
    const response = await door.call('POST', '/v1/attribution?stream=true', start);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-store, no-transform');
    expect(response.headers.get('svc-hrei-score')).toBe('0.00');
    for (const event of [progress(1), channelResult(2), result(3)]) run.push(event);
    const { events, retries } = await read(response);
    expect(retries).toEqual([3000]);
    expect(events.map(({ id, event }) => [id, event])).toEqual([
      ['1', 'progress'],
      ['2', 'channel_result'],
      ['3', 'result'],
    ]);
    const [first, second, third] = events.map(({ data }) => JSON.parse(data) as Record<string, unknown>);
    expect(first).toMatchObject({
      id: 'attr_run',
      status: 'processing',
      stage: 'loading',
      progress: 0.1235,
      message: 'two\nlines',
    });
    expect(second).toMatchObject({
      id: 'attr_run',
      model: 'markov',
      provisional: true,
      channel_impact: [{ channel: 'Meta Ads', spend: 12_000.01 }],
    });
    expect(runRow.success.schema!.parse(third)).toEqual(third);
    expect(run.subscriptions).toEqual([{ after: 0, hasReturned: true }]);
  });

  test('an error ends the stream in the Error structure', async () => {
    const run = new Run();
    run.push(failure(1));
    await using door = await openDoor({ resolvers: { attributionProgress: run.watch } });
    const response = await door.call('POST', '/v1/attribution?stream=true', start);
    const { events } = await read(response);
    expect(events).toHaveLength(1);
    expect(events[0]!.event).toBe('error');
    expect(errorBody.parse(JSON.parse(events[0]!.data)).error).toMatchObject({
      type: 'validation_error',
      code: 'insufficient_data',
      message: 'There are no conversions in this range.',
      request_id: response.headers.get('x-request-id'),
    });
  });

  test('what is refused is an ordinary error', async () => {
    await using door = await openDoor();
    const response = await door.call('POST', '/v1/attribution?stream=true', {
      body: {},
      headers: { accept: 'text/event-stream' },
    });
    expect(response.status).toBe(422);
    expect(errorBody.parse(await response.json()).error.type).toBe('validation_error');
  });

  test('silence is broken by heartbeats', async () => {
    const run = new Run();
    await using door = await openDoor({ resolvers: { attributionProgress: run.watch }, config: { heartbeatMs: 10 } });
    const { comments, reader } = await read(
      await door.call('POST', '/v1/attribution?stream=true', start),
      (_events, comments) => comments.length >= 3,
    );
    expect(comments).toEqual(expect.arrayContaining(['hb']));
    await reader.cancel();
  });

  test('a client that goes away ends the subscription at once', async () => {
    const run = new Run();
    run.push(progress(1));
    await using door = await openDoor({ resolvers: { attributionProgress: run.watch } });
    const { reader } = await read(
      await door.call('POST', '/v1/attribution?stream=true', start),
      (events) => events.length === 1,
    );
    await reader.cancel();
    await until(() => run.subscriptions[0]!.hasReturned);
  });

  test('a source that breaks ends the stream without a last event, so that the client resumes', async () => {
    await using door = await openDoor({
      resolvers: {
        attributionProgress: async function* () {
          yield progress(1);
          throw new Error('upstream lost');
        },
      },
    });
    const { events } = await read(await door.call('POST', '/v1/attribution?stream=true', start));
    expect(events.map(({ event }) => event)).toEqual(['progress']);
    expect(door.logs.some(({ msg, err }) => msg.includes('may resume') && err?.message.includes('upstream lost'))).toBe(
      true,
    );
  });

  test('a stream that outlives the server says that it may be resumed', async () => {
    const run = new Run();
    run.push(progress(1));
    await using door = await openDoor({ resolvers: { attributionProgress: run.watch } });
    const response = await door.call('POST', '/v1/attribution?stream=true', start);
    const { events, comments, retries } = await read(response, (events) => {
      if (events.length === 1) door.door.close();
      return false;
    });
    expect(events).toHaveLength(1);
    expect(retries).toEqual([3000, 1000]);
    expect(comments).toEqual(['the server is restarting; reconnect to resume']);
    expect(run.subscriptions[0]!.hasReturned).toBe(true);
  });
});

describe('GET /attribution/{id}/stream', () => {
  test.each([
    ['header', '/v1/attribution/attr_run/stream', { 'last-event-id': '2' }],
    ['query', '/v1/attribution/attr_run/stream?last_event_id=2', {}],
    ['header before query', '/v1/attribution/attr_run/stream?last_event_id=1', { 'last-event-id': '2' }],
  ])('resumes behind the last event that was seen (%s)', async (_how, path, headers) => {
    const run = new Run();
    for (const event of [progress(1), progress(2), channelResult(3), result(4)]) run.push(event);
    await using door = await openDoor({ resolvers: { attributionProgress: run.watch } });
    const { events } = await read(await door.call('GET', path, { headers: headers as Record<string, string> }));
    expect(events.map(({ id }) => id)).toEqual(['3', '4']);
    expect(run.subscriptions[0]!.after).toBe(2);
  });

  test('every cut of a stream resumes without loss or repetition', async () => {
    const run = new Run();
    for (let sequence = 1; sequence < 6; sequence += 1) run.push(progress(sequence));
    run.push(result(6));
    await using door = await openDoor({ resolvers: { attributionProgress: run.watch } });
    for (let cut = 0; cut <= 5; cut += 1) {
      const { events } = await read(
        await door.call('GET', '/v1/attribution/attr_run/stream', { headers: { 'last-event-id': String(cut) } }),
      );
      expect(events.map(({ id }) => Number(id))).toEqual([1, 2, 3, 4, 5, 6].slice(cut));
    }
  });

  test('after the result was seen the answer is 204', async () => {
    const run = new Run();
    run.push(progress(1));
    run.push(result(2));
    await using door = await openDoor({ resolvers: { attributionProgress: run.watch } });
    const seen = await door.call('GET', '/v1/attribution/attr_done/stream', { headers: { 'last-event-id': '2' } });
    expect(seen.status).toBe(204);
    expect(await seen.text()).toBe('');
    const unseen = await door.call('GET', '/v1/attribution/attr_done/stream', { headers: { 'last-event-id': '1' } });
    expect((await read(unseen)).events.map(({ event }) => event)).toEqual(['result']);
  });

  test.each([
    ['attr_done', 'result'],
    ['attr_failed', 'error'],
  ])('a finished run whose events are gone still tells its end (%s)', async (id, event) => {
    await using door = await openDoor({ resolvers: { attributionProgress: async function* () {} } });
    const { events } = await read(await door.call('GET', `/v1/attribution/${id}/stream`));
    expect(events.map(({ event }) => event)).toEqual([event]);
  });

  test.each([
    ['header', 400, { 'last-event-id': 'x' }, ''],
    ['query', 422, {}, '?last_event_id=x'],
  ])('an id that is none is refused (%s)', async (_where, status, headers, query) => {
    await using door = await openDoor();
    const response = await door.call('GET', `/v1/attribution/attr_run/stream${query}`, {
      headers: headers as Record<string, string>,
    });
    expect(response.status).toBe(status);
    expect(errorBody.parse(await response.json()).error.param).toBe(
      status === 400 ? 'header:Last-Event-ID' : 'query:last_event_id',
    );
  });

  test('json alone is not what a stream answers', async () => {
    await using door = await openDoor();
    expect(
      (await door.call('GET', '/v1/attribution/attr_run/stream', { headers: { accept: 'application/json' } })).status,
    ).toBe(406);
  });
});
