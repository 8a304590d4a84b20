import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { openDatabase, type Database } from '../../../platform/postgres/database.ts';
import { createPubSub, pubSubOwner, type PubSub } from '../../../platform/postgres/pub-sub.ts';
import { newUuid } from '../../../platform/identifiers.ts';
import {
  PostgresClaims,
  type ClaimsOptions,
  type HeldClaim,
  type Taken,
} from '../../../services/idempotency/claims.ts';
import { exactlyOnce } from '../../../services/idempotency/exactly-once.ts';
import { idempotencyOwner } from '../../../services/idempotency/migrations.ts';
import { createLogger } from '../../../platform/telemetry/logs.ts';
import { Client } from 'pg';
import { createTestDatabase, PATIENCE_MS, type TestDatabase } from '../../platform.ts';
import { act, contextOf, effects, toyOwner } from './toy-mutation.ts';

const SECRET = 'a secret of the installation, for the tests of claims';
const FINGERPRINT = 'aa'.repeat(32);
const OTHER_FINGERPRINT = 'bb'.repeat(32);
const answerSchema = z.object({ text: z.string() });
type Answer = z.output<typeof answerSchema>;
const logger = createLogger({ level: 'silent', format: 'json' });

let databases: TestDatabase;
let database: Database;
let pubSub: PubSub;
let owner: Client;
let keys = 0;

beforeAll(async () => {
  databases = await createTestDatabase([pubSubOwner, idempotencyOwner, toyOwner]);
  database = await openDatabase({
    url: databases.applicationUrl,
    entities: [],
    applicationName: 'claims-test',
    poolMax: 8,
    logger,
    timeoutMs: PATIENCE_MS,
  });
  pubSub = await createPubSub({ url: databases.applicationUrl, database, logger });
  owner = new Client({ connectionString: databases.ownerUrl });
  await owner.connect();
});

afterAll(async () => {
  await owner.end();
  await pubSub.close();
  await database.close();
  await databases.drop();
});

const claimsWith = (options: Partial<ClaimsOptions> = {}) =>
  new PostgresClaims({ database, pubSub, secret: SECRET, logger, ...options });
const freshKey = () => `order-${(keys += 1)}`;
const take = (key: string, claims = claimsWith(), fingerprint = FINGERPRINT): Promise<Taken<Answer>> =>
  claims.take({ scope: 'account a live', key, fingerprint }, answerSchema);
const held = async (key: string, claims = claimsWith()): Promise<HeldClaim<Answer>> => {
  const taken = await take(key, claims);
  if ('answer' in taken) throw new Error('was answered already');
  return taken.held;
};
const idOf = ({ claim }: HeldClaim<Answer>): Buffer => Buffer.from(claim.id, 'base64url');
/** The claim of whoever takes over. An owner that renews may come in between: then it dies again. */
async function inherited(key: string, owner: HeldClaim<Answer>): Promise<HeldClaim<Answer>> {
  for (;;) {
    await letDie(owner);
    try {
      return await held(key, claimsWith({ waitMs: 0 }));
    } catch (error) {
      if ((error as { type?: string }).type !== 'idempotency_in_progress') throw error;
    }
  }
}
/** Lets a lease run out as if its owner had died: it renews no more. */
const letDie = async (key: HeldClaim<Answer>): Promise<void> =>
  void (await owner.query(`update idempotency.claims set lease_until = now() - interval '1 second' where id = $1`, [
    idOf(key),
  ]));

describe('claims on idempotency keys', () => {
  test('an answer is kept and given again, to this request only', async () => {
    const key = freshKey();
    expect(await (await held(key)).keep({ text: 'hello' })).toBeNull();
    expect(await take(key)).toEqual({ answer: { text: 'hello' } });
    await expect(take(key, claimsWith(), OTHER_FINGERPRINT)).rejects.toMatchObject({
      type: 'idempotency_conflict',
      problem: { status: 409 },
    });
  });

  test('scopes and keys are told apart, also where one could run into the other', async () => {
    const claims = claimsWith();
    await (await held('x y', claims)).keep({ text: 'mine' });
    const elsewhere = await claims.take(
      { scope: 'account a live x', key: 'y', fingerprint: FINGERPRINT },
      answerSchema,
    );
    expect('held' in elsewhere).toBe(true);
    if ('held' in elsewhere) await elsewhere.held.giveUp();
  });

  test('whoever waits is told of the end at once', async () => {
    const key = freshKey();
    const first = await held(key);
    const waiting = Promise.all(Array.from({ length: 20 }, () => take(key)));
    await sleep(50);
    const endedMs = performance.now();
    await first.keep({ text: 'at last' });
    expect(await waiting).toEqual(Array.from({ length: 20 }, () => ({ answer: { text: 'at last' } })));
    expect(performance.now() - endedMs).toBeLessThan(900);
  });

  test('of two processes that take the same keys in different orders at the same time, one holds each', async () => {
    const line = await openDatabase({
      url: databases.applicationUrl,
      entities: [],
      applicationName: 'elsewhere',
      poolMax: 2,
      logger,
    });
    const keysTaken = Array.from({ length: 120 }, freshKey);
    const takeAll = (claims: PostgresClaims, order: readonly string[]) =>
      Promise.allSettled(order.map((key) => take(key, claims)));
    const outcomes = (
      await Promise.all([
        takeAll(claimsWith({ waitMs: 1 }), keysTaken),
        takeAll(claimsWith({ waitMs: 1, database: line }), keysTaken.toReversed()),
      ])
    ).flat();
    const holding = outcomes.flatMap((outcome) =>
      outcome.status === 'fulfilled' && 'held' in outcome.value ? [outcome.value.held] : [],
    );
    expect(new Set(holding.map(({ claim }) => claim.id)).size).toBe(keysTaken.length);
    expect(holding).toHaveLength(keysTaken.length);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ type: 'idempotency_in_progress' });
    // All their answers are kept by a few statements, each under its own key.
    expect(await Promise.all(holding.map(({ claim, keep }) => keep({ text: claim.id })))).toEqual(
      holding.map(() => null),
    );
    for (const taken of await Promise.all(keysTaken.map((key) => take(key))))
      expect(taken).toEqual({ answer: { text: expect.any(String) } });
    const again = await Promise.all(keysTaken.map((key) => take(key)));
    expect(new Set(again.map((taken) => 'answer' in taken && taken.answer.text))).toEqual(
      new Set(holding.map(({ claim }) => claim.id)),
    );
    await line.close();
  });

  test('keys of many are taken in one order, so that nobody waits for who waits for him', async () => {
    const takeInTurn = (client: Client, ids: readonly number[]) =>
      client.query('select idempotency.take_unknown($1, $2, $3, 1000)', [
        ids.map((id) => Buffer.of(7, id)),
        ids.map(() => Buffer.of(1)),
        ids.map(() => newUuid()),
      ]);
    const racers = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const client = new Client({ connectionString: databases.applicationUrl });
        await client.connect();
        return client;
      }),
    );
    const [leader, onwards, backwards] = racers as [Client, Client, Client];
    const pids = await Promise.all(
      [onwards, backwards].map(
        async (client) => (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]!.pid,
      ),
    );
    await leader.query('begin');
    await takeInTurn(leader, [2]);
    const taken = Promise.all([takeInTurn(onwards, [1, 2, 3]), takeInTurn(backwards, [3, 2, 1])]);
    for (let waiting = 0; waiting < 2;)
      waiting = (
        await owner.query<{ n: number }>(
          'select count(distinct pid)::int as n from pg_locks where not granted and pid = any ($1)',
          [pids],
        )
      ).rows[0]!.n;
    await leader.query('commit');
    expect((await taken).map(({ rowCount }) => rowCount).toSorted()).toEqual([0, 2]);
    await Promise.all(racers.map((client) => client.end()));
  });

  test('among answers that are kept together, whoever lost his claim hears what became of it', async () => {
    const [sound, late, overtaken] = await Promise.all([held(freshKey()), held(freshKey()), held(freshKey())]);
    await letDie(late!);
    await letDie(overtaken!);
    const heirs = await owner.query(`update idempotency.claims set attempt_id = gen_random_uuid() where id = any($1)`, [
      [late!, overtaken!].map(idOf),
    ]);
    expect(heirs.rowCount).toBe(2);
    const outcomes = await Promise.allSettled([
      late!.keep({ text: 'late' }),
      sound!.keep({ text: 'sound' }),
      overtaken!.keep({ text: 'overtaken' }),
    ]);
    expect(outcomes).toMatchObject([
      { reason: { type: 'idempotency_in_progress' } },
      { status: 'fulfilled', value: null },
      { reason: { type: 'idempotency_in_progress' } },
    ]);
  });

  test('the wait is bounded', async () => {
    const key = freshKey();
    const first = await held(key);
    await expect(take(key, claimsWith({ waitMs: 120 }))).rejects.toMatchObject({
      type: 'idempotency_in_progress',
      problem: { status: 409, retryAfterS: 1 },
    });
    await first.giveUp();
  });

  test('a scope has so many waiting and no more, and other scopes wait as before', async () => {
    const claims = claimsWith({ waitMs: 3_000 });
    const [key, theirKey] = [freshKey(), freshKey()];
    const ours = await held(key, claims);
    const neighbour = (wanted: string) =>
      claims.take({ scope: 'account b live', key: wanted, fingerprint: FINGERPRINT }, answerSchema);
    const theirs = await neighbour(theirKey);
    const outcomes: unknown[] = [];
    const crowd = Array.from({ length: 20 }, () =>
      take(key, claims)
        .catch((error: unknown) => error)
        .then((outcome) => outcomes.push(outcome)),
    );
    while (outcomes.length < 4) await sleep(20);
    for (const outcome of outcomes) expect(outcome).toMatchObject({ type: 'idempotency_in_progress' });
    const waiting = neighbour(theirKey);
    if ('answer' in theirs) throw new Error('was answered already');
    await theirs.held.keep({ text: 'theirs' });
    expect(await waiting).toEqual({ answer: { text: 'theirs' } });
    await ours.keep({ text: 'ours' });
    await Promise.all(crowd);
    expect(outcomes.slice(4)).toEqual(Array.from({ length: 16 }, () => ({ answer: { text: 'ours' } })));
  });

  test('a key that was given up is free again, for another request too', async () => {
    const key = freshKey();
    const first = await held(key);
    const waiting = take(key);
    await first.giveUp();
    const second = await waiting;
    expect('held' in second).toBe(true);
    if ('held' in second) await second.held.giveUp();
    const third = await take(key, claimsWith(), OTHER_FINGERPRINT);
    if ('held' in third) await third.held.giveUp();
    expect('held' in third).toBe(true);
  });

  test('a living attempt renews its lease, a silent one is taken over', async () => {
    const key = freshKey();
    const lively = await held(key, claimsWith({ leaseMs: 200 }));
    await expect(take(key, claimsWith({ leaseMs: 200, waitMs: 700 }))).rejects.toMatchObject({
      type: 'idempotency_in_progress',
    });
    const heir = await inherited(key, lively);
    await expect(lively.keep({ text: 'too late' })).rejects.toMatchObject({ type: 'idempotency_in_progress' });
    await heir.keep({ text: 'in time' });
    expect(await lively.keep({ text: 'too late' })).toEqual({ text: 'in time' });
    expect(await take(key)).toEqual({ answer: { text: 'in time' } });
  });

  test('a day later the key means nothing any more', async () => {
    const key = freshKey();
    const first = await held(key);
    await first.keep({ text: 'yesterday' });
    await owner.query(
      `update idempotency.claims set claimed_at = claimed_at - interval '24 hours', lease_until = lease_until - ` +
        `interval '24 hours' where id = $1`,
      [idOf(first)],
    );
    const today = await take(key, claimsWith(), OTHER_FINGERPRINT);
    expect('held' in today && !today.held.claim.hasEffect).toBe(true);
    await owner.query(
      `update idempotency.claims set claimed_at = claimed_at - interval '24 hours', lease_until = lease_until - ` +
        `interval '1 hour' where id = $1`,
      [idOf(first)],
    );
    const [{ gone }] = (await database.ask<{ gone: string }>({
      name: 'forget',
      text: 'select idempotency.forget_old_claims() as gone',
      values: [],
    })) as [{ gone: string }];
    expect(Number(gone)).toBe(1);
  });
});

describe('effects happen once', () => {
  test('an attempt that died behind its commit is recalled', async () => {
    const key = freshKey();
    const first = await held(key);
    const { id } = await act(database, key, first);
    await letDie(first);
    const second = await held(key);
    expect(second.claim.hasEffect).toBe(true);
    expect(await act(database, key, second)).toEqual({ id, recalled: true });
    expect(await effects(owner, key)).toBe(1);
    await second.keep({ text: id });
  });

  test('an attempt that lost its lease commits nothing', async () => {
    const key = freshKey();
    const first = await held(key);
    let second: HeldClaim<Answer> | undefined;
    const late = act(database, key, first, {
      beforeCommit: async () => {
        await letDie(first);
        second = await held(key);
      },
    });
    await expect(late).rejects.toMatchObject({ type: 'idempotency_in_progress' });
    expect((await act(database, key, second!)).recalled).toBe(false);
    expect(await effects(owner, key)).toBe(1);
    await second!.keep({ text: 'done' });
  });

  test('an attempt whose claim a crash of the database forgot commits nothing', async () => {
    const key = freshKey();
    const first = await held(key);
    await owner.query('delete from idempotency.claims where id = $1', [idOf(first)]);
    await expect(act(database, key, first)).rejects.toMatchObject({ type: 'idempotency_in_progress' });
    expect(await effects(owner, key)).toBe(0);
    const second = await held(key);
    expect((await act(database, key, second)).recalled).toBe(false);
    await second.keep({ text: 'done' });
  });

  test('an effect under way is waited for by whoever takes over', async () => {
    const key = freshKey();
    const first = await held(key);
    const takingOver = Promise.withResolvers<HeldClaim<Answer>>();
    const { id } = await exactlyOnce(database, contextOf(first), {
      effect: z.object({ id: z.string() }),
      act: (settle) =>
        database.asNobody(async (em) => {
          const effectId = newUuid();
          await em.execute('insert into toy.effects (id, name) values (?, ?)', [effectId, key]);
          await letDie(first);
          await settle(em, { id: effectId });
          // The claim is settled with the commit, which takes so long here.
          database.closeWith(em, 'select pg_sleep(0.3)', []);
          setTimeout(() => held(key).then(takingOver.resolve, takingOver.reject), 100);
          return { id: effectId };
        }),
      recall: (effect) => Promise.resolve(effect),
    });
    const second = await takingOver.promise;
    expect(await act(database, key, second)).toEqual({ id, recalled: true });
    expect(await effects(owner, key)).toBe(1);
    await second.keep({ text: id });
  });

  test('a mutation that forgets to settle is caught', async () => {
    const key = freshKey();
    const first = await held(key);
    await expect(
      exactlyOnce(database, contextOf(first), {
        effect: z.object({}),
        act: () => Promise.resolve(1),
        recall: () => Promise.resolve(2),
      }),
    ).rejects.toThrow('without settling');
    await first.giveUp();
  });

  test('what is stored opens with the key of the client alone', async () => {
    const key = 'the key of the client';
    const first = await held(key);
    await exactlyOnce(database, contextOf(first), {
      effect: z.object({ secret: z.string() }),
      act: (settle) => database.asNobody((em) => settle(em, { secret: 'svc_agent_sk_SENTINEL' })),
      recall: () => Promise.resolve(),
    });
    await first.keep({ text: 'svc_agent_sk_SENTINEL' });
    const { rows } = await owner.query<Record<string, unknown>>('select * from idempotency.claims where id = $1', [
      idOf(first),
    ]);
    const stored = Buffer.concat(
      Object.values(rows[0]!).map((value) => (Buffer.isBuffer(value) ? value : Buffer.from(String(value)))),
    ).toString('latin1');
    expect(stored).not.toContain('SENTINEL');
    expect(stored).not.toContain(key);
    expect(stored).not.toContain(first.claim.sealKey);
    const elsewhere = await take(
      key,
      new PostgresClaims({ database, pubSub, secret: 'another secret, of another installation', logger }),
    );
    if ('held' in elsewhere) await elsewhere.held.giveUp();
    expect('held' in elsewhere).toBe(true);
  });
});
