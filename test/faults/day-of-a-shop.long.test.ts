import { jest } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '../../compute/numerics/random.ts';
import { Caller, type Answer } from '../house.ts';
import { DataFolder } from './data-folder.ts';
import { freePort } from '../free-port.ts';
import { Service } from './service.ts';
import { recentDays, shopRows } from './shop-rows.ts';
import { UnreliableReceiver, type TakenMessage } from './unreliable-receiver.ts';

/** `FAULT_SEED=7 npm test test/faults/day-of-a-shop` */
const SEED = Number(process.env['FAULT_SEED'] ?? 20_262);
const KILLS = 8;
const LATE_FILES = 3;
const MODELS = ['markov', 'shapley', 'causal'] as const;
const PAUSE_MS = 50;
const MOST_DELAY_MS = 400;
/** Beyond the first three waits of the retry schedule. */
const SETTLE_MS = 60_000;

jest.setTimeout(300_000);

/** Something that happened, in the receiver's words. */
interface Happening {
  readonly type: string;
  readonly id: string;
  readonly status: string;
  readonly revision: number;
}

describe(`the day of a shop, with ${KILLS} kills and seed ${SEED}`, () => {
  const random = seededRandom(SEED);
  const folder = new DataFolder();
  let env: Record<string, string>;
  let service: Service;
  let receiver: UnreliableReceiver;
  let caller: Caller;
  const happened: Happening[] = [];
  let step = Promise.withResolvers<void>();

  beforeAll(async () => {
    receiver = await UnreliableReceiver.open();
    env = {
      LIFTGRAPH_DATA_DIR: folder.path,
      JOB_LEASE_S: '4',
      COMPUTE_THREADS: '2',
      PORT: String(await freePort()),
      WEBHOOK_ALLOW_PRIVATE: 'true',
      // Referrals count what is charged.
      BILLING: 'on',
    };
    service = await Service.start({ env });
  });

  afterAll(async () => {
    if (service?.isOver === false) await service.stop();
    await receiver?.close();
    folder.remove();
  });

  /** Asks until it is answered, under one idempotency key: whatever happens in between, it happens once. */
  async function insist(wanted: number, ask: (once: Record<string, string>) => Promise<Answer>): Promise<Answer> {
    const once = { 'svc-idempotency-key': crypto.randomUUID() };
    for (;;) {
      const answer = await answerOf(() => ask(once));
      if (answer?.status === wanted) {
        step.resolve();
        step = Promise.withResolvers();
        return answer;
      }
      // The attempt before this one may still hold the key.
      if (answer !== undefined && answer.status !== 503 && answer.status !== 409)
        throw new Error(`answered with ${answer.status}: ${JSON.stringify(answer.body)}`);
      await sleep(PAUSE_MS);
    }
  }

  /** The analysis once it is as it should be; looking is not a step. */
  async function analysis(
    id: string,
    isReady: (result: Readonly<Record<string, unknown>>) => boolean,
  ): Promise<Readonly<Record<string, unknown>>> {
    for (;;) {
      const answer = await answerOf(() => caller.get(`/attribution/${id}`));
      if (answer?.status === 200 && isReady(answer.body)) return answer.body;
      await sleep(PAUSE_MS);
    }
  }

  const analyse = async (source: string, more: Record<string, unknown>): Promise<string> => {
    const request = { data_source_id: source, date_range: recentDays(), ...more };
    const { body } = await insist(200, (once) =>
      caller.post('/attribution', request, { prefer: 'respond-async', ...once }),
    );
    return String(body['id']);
  };

  async function keepShop(): Promise<void> {
    const { body: connected } = await insist(201, (once) =>
      caller.post('/data-sources/connect', { type: 'csv_upload', credentials: {} }, once),
    );
    const source = String(connected['data_source_id']);
    const upload = (seed: number) =>
      insist(202, (once) =>
        caller.send(
          'POST',
          `/data-sources/${source}/records`,
          shopRows({ users: 400, channels: 8, touches: 5, seed }).csv,
          { 'content-type': 'text/csv', ...once },
        ),
      );
    await upload(1);
    const followed = await analyse(source, { auto_refresh: true });
    await analysis(followed, (result) => result['status'] === 'completed');
    happened.push({ type: 'attribution.completed', id: followed, status: 'completed', revision: 1 });
    for (const model of MODELS) {
      const id = await analyse(source, { model });
      const { status } = await analysis(
        id,
        (result) => result['status'] === 'completed' || result['status'] === 'failed',
      );
      happened.push({ type: 'attribution.completed', id, status: String(status), revision: 1 });
    }
    for (let file = 1; file <= LATE_FILES; file += 1) {
      await upload(1 + file);
      await analysis(followed, (result) => result['status'] === 'completed' && result['revision'] === 1 + file);
      happened.push({ type: 'attribution.updated', id: followed, status: 'completed', revision: 1 + file });
    }
  }

  test('every event of it reaches a receiver that fails, once or more, exactly as promised', async () => {
    const newcomer = new Caller(service.root, null);
    const register = (more: object) => {
      const operator = crypto.randomUUID();
      return insist(201, (once) =>
        newcomer.post('/agents/register', { name: 'fault-shop', operator_id: operator, ...more }, once),
      );
    };
    const { body: patron } = await register({});
    const { body: agent } = await register({ referral_code: patron['referral_code'] });
    caller = new Caller(service.root, String(agent['api_key']));
    const { body: webhook } = await insist(201, (once) =>
      caller.post('/webhooks', { url: receiver.url, events: ['*'], metadata: { shop: 'one' } }, once),
    );
    receiver.secret = String(webhook['secret']);

    const keeping = keepShop();
    for (let kill = 0; kill < KILLS; kill += 1) {
      // One step at least between two kills: an analysis whose worker dies three times is given up.
      await Promise.race([step.promise, keeping]);
      await sleep(random() * MOST_DELAY_MS);
      await service.stop('SIGKILL');
      service = await Service.start({ env });
    }
    await keeping;

    const isPending = async (): Promise<boolean> =>
      (await caller.get(`/webhooks/${String(webhook['id'])}/deliveries?status=pending`)).body['deliveries']![0] !==
      undefined;
    for (
      const endMs = Date.now() + SETTLE_MS;
      Date.now() < endMs && (brokenPromises(happened, receiver.taken).length > 0 || (await isPending()));
    )
      await sleep(PAUSE_MS);
    expect(receiver.complaints).toEqual([]);
    expect(receiver.failures).toBeGreaterThan(0);
    expect(brokenPromises(happened, receiver.taken)).toEqual([]);
    expect(receiver.taken.every(({ webhookId }) => webhookId === String(webhook['id']))).toBe(true);

    // Whatever died, each analysis counted once for whoever referred the shop; the two that asked the same, once
    // together.
    const { body: referrals } = await new Caller(service.root, String(patron['api_key'])).get('/referrals');
    expect(referrals['referrals']![0]).toMatchObject({
      referred_agent_id: agent['agent_id'],
      accumulated_delta_r: countedCents(receiver.taken) / 100,
    });
    expect(countedCents(receiver.taken)).toBeGreaterThan(0);
  });

  describe('the check finds a planted fault:', () => {
    test('an event that was lost', () => {
      const lost = receiver.taken[0]!.id;
      expect(
        brokenPromises(
          happened,
          receiver.taken.filter(({ id }) => id !== lost),
        ),
      ).toEqual([expect.stringMatching(/^nobody was told of attribution\./)]);
    });

    test('an event that was told under two ids', () => {
      expect(brokenPromises(happened, [...receiver.taken, { ...receiver.taken[0]!, id: 'evt_another' }])).toEqual([
        expect.stringMatching(/was told under 2 ids$/),
      ]);
    });

    test('a repeat that says something else', () => {
      expect(brokenPromises(happened, [...receiver.taken, { ...receiver.taken[0]!, body: '{}' }])).toEqual([
        `${receiver.taken[0]!.id} has 2 bodies`,
      ]);
    });

    test('an event of something that did not happen', () => {
      expect(brokenPromises(happened.slice(1), receiver.taken)).toEqual([expect.stringMatching(/did not happen$/)]);
    });
  });
});

/** What completed analyses have recovered, each question about the same rows once. */
function countedCents(taken: readonly TakenMessage[]): number {
  const completed = taken.filter(
    ({ type, data }) => type === 'attribution.completed' && data['status'] === 'completed',
  );
  const byInput = new Map(completed.map(({ data }) => [data['input_digest'], Number(data['delta_r_cents'])]));
  return [...byInput.values()].reduce((sum, cents) => sum + cents, 0);
}

/** Undefined when the connection was refused or broke, which fetch tells by a TypeError and by nothing else. */
async function answerOf(ask: () => Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** What was promised and is not so; empty when all is well. */
function brokenPromises(happened: readonly Happening[], taken: readonly TakenMessage[]): string[] {
  const nameOf = ({ type, id, status, revision }: Happening): string =>
    `${type} of ${id}, ${status}, revision ${revision}`;
  const toldOf = ({ type, data }: TakenMessage): string =>
    nameOf({ type, id: String(data['id']), status: String(data['status']), revision: Number(data['revision'] ?? 1) });
  const idsOf = Map.groupBy(taken, toldOf);
  const bodiesOf = Map.groupBy(taken, ({ id }) => id);
  const names = new Set(happened.map(nameOf));
  return [
    ...[...names].filter((name) => !idsOf.has(name)).map((name) => `nobody was told of ${name}`),
    ...[...idsOf].filter(([name]) => !names.has(name)).map(([name]) => `${name} did not happen`),
    ...[...idsOf]
      .map(([name, messages]) => ({ name, count: new Set(messages.map(({ id }) => id)).size }))
      .filter(({ count }) => count > 1)
      .map(({ name, count }) => `${name} was told under ${count} ids`),
    ...[...bodiesOf]
      .map(([id, messages]) => ({ id, count: new Set(messages.map(({ body }) => body)).size }))
      .filter(({ count }) => count > 1)
      .map(({ id, count }) => `${id} has ${count} bodies`),
  ];
}
