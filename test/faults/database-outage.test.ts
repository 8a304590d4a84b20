import { jest } from '@jest/globals';
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { Caller, type Answer, type Json } from '../house.ts';
import { analyse, connectSource, digestOf, history, streamAnalysis, upload } from './analyses.ts';
import { DataFolder } from './data-folder.ts';
import { Service } from './service.ts';
import { shopRows } from './shop-rows.ts';

jest.setTimeout(120_000);

/** What a caller waits at most for any answer while the database is away. */
const ANSWER_MS = 3_000;
const CALLERS = 6;

describe('PostgreSQL killed with -9 under requests', () => {
  const folder = new DataFolder();
  let service: Service;
  let caller: Caller;
  let source: string;
  let undisturbed: string;

  beforeAll(async () => {
    service = await Service.start({ env: { LIFTGRAPH_DATA_DIR: folder.path, JOB_LEASE_S: '2' } });
    caller = await Caller.register(service.root);
    source = await connectSource(caller);
    await upload(caller, source, shopRows({ users: 4_000, channels: 40, touches: 6, seed: 31 }));
    undisturbed = digestOf(await analyse(caller, source));
  });

  afterAll(async () => {
    await service?.stop();
    folder.remove();
  });

  test('every answer is a success or, soon, a 503 that says when to try again; no restart is needed then', async () => {
    const requests: (() => Promise<Answer>)[] = [
      () => caller.get('/data-sources'),
      () => caller.get(`/data-sources/${source}/status`),
      () => caller.post('/data-sources/connect', { type: 'csv_upload', credentials: {} }),
      () => caller.get('/attribution?per_page=1'),
    ];
    const answers: { readonly answer: Answer; readonly elapsedMs: number }[] = [];
    let killed = false;
    let healed = false;
    const ask = async (place: number): Promise<void> => {
      for (let turn = place, successes = 0; !healed || successes < 4; turn += 1) {
        const startedMs = performance.now();
        const answer = await requests[turn % requests.length]!();
        answers.push({ answer, elapsedMs: performance.now() - startedMs });
        successes = answer.status < 300 ? successes + 1 : 0;
        // Healed when there was an outage and it is over.
        healed ||= killed && answer.status < 300 && answers.some((each) => each.answer.status === 503);
      }
    };
    const asking = Promise.all(Array.from({ length: CALLERS }, (_, place) => ask(place)));
    process.kill(folder.postmasterPid(), 'SIGKILL');
    killed = true;
    await asking;

    const refused = answers.filter(({ answer }) => answer.status >= 300);
    expect(refused.length).toBeGreaterThan(0);
    for (const { answer } of refused) {
      expect(answer.status).toBe(503);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(answer.body['error']).toMatchObject({
        type: 'service_unavailable',
        message: expect.any(String),
        request_id: expect.any(String),
        doc_url: expect.any(String),
      });
      expect(JSON.stringify(answer.body)).not.toMatch(/ECONN|\b57P\d\d\b|127\.0\.0\.1:\d+ |select |at .*\.ts/);
    }
    expect(Math.max(...answers.map(({ elapsedMs }) => elapsedMs))).toBeLessThan(ANSWER_MS);
    expect((await fetch(`${service.root}/readyz`)).status).toBe(200);
  });

  test('whoever watches an analysis over a WebSocket or as server-sent events sees it to its end', async () => {
    const stream = await streamAnalysis(caller, source);
    const { data } = await stream.next('progress');
    const id = String(data['id']);
    const socket = createClient({
      url: `${service.root.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { authorization: `Bearer ${caller.key}` },
    });
    const heard = Promise.withResolvers<void>();
    const subscribed = (async () => {
      const events: Json[] = [];
      const query = `subscription($id: ID!) { attributionProgress(id: $id) { sequence kind } }`;
      for await (const { data: event, errors } of socket.iterate<{ attributionProgress: Json }>({
        query,
        variables: { id },
      })) {
        expect(errors).toBeUndefined();
        events.push(event!.attributionProgress);
        heard.resolve();
      }
      return events;
    })();

    // Both watch, and the longest of the models is still at work.
    await Promise.all([heard.promise, stream.next('channel_result')]);
    process.kill(folder.postmasterPid(), 'SIGKILL');
    const result = await stream.next('result');
    expect(digestOf(result.data)).toBe(undisturbed);
    expect(stream.events.map((event) => event.id)).toEqual(stream.events.map((_, place) => place + 1));
    const events = await subscribed;
    expect(events.map((event) => Number(event['sequence']))).toEqual(stream.events.map((event) => event.id));
    expect(events.filter((event) => String(event['kind']) === 'RESULT')).toHaveLength(1);
    expect((await history(caller, id)).map((event) => event.id)).toEqual(stream.events.map((event) => event.id));
    await socket.dispose();
  });
});
