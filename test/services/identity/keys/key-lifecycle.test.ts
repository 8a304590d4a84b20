import { randomBytes, randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import {
  array,
  assert,
  asyncProperty,
  constant,
  integer,
  nat,
  oneof,
  option,
  record,
  type Arbitrary,
} from 'fast-check';
import { Client } from 'pg';
import { AccountKeys, type KeyStatus } from '../../../../services/identity/keys/account-keys.ts';
import { createAccount } from '../../../../services/identity/accounts/account-store.ts';
import { UNBOUND } from '../../../../services/identity/keys/key-bond.ts';
import { agentScores } from '../../../../subgraphs/agents/registry/trust-score.ts';
import { KeyStore } from '../../../../services/identity/keys/key-store.ts';
import { authOwner } from '../../../../services/identity/migrations.ts';
import { PostgresAdmission } from '../../../../services/identity/admission/postgres-admission.ts';
import { SCOPES, type Principal, type RequestContext } from '../../../../schema/principal.ts';
import { RATE_CLASSES, type RateLimits } from '../../../../services/identity/limits/rate-limits.ts';
import { eventsOwner } from '../../../../services/event-migrations.ts';
import { newUuid, publicId, type Uuid } from '../../../../platform/identifiers.ts';
import { openDatabase, type Database } from '../../../../platform/postgres/database.ts';
import { createPubSub, pubSubOwner, type PubSub } from '../../../../platform/postgres/pub-sub.ts';
import { createLogger } from '../../../../platform/telemetry/logs.ts';
import { agentsOwner } from '../../../../subgraphs/agents/migrations.ts';
import { createKeyPair } from '../../../../services/identity/keys/create-key-pair.ts';
import type { KeyServices } from '../../../../services/identity/keys/key-services.ts';
import { revokeKey } from '../../../../services/identity/keys/revoke-key.ts';
import { rotateKey } from '../../../../services/identity/keys/rotate-key.ts';
import { createTestDatabase, PATIENCE_MS, type TestDatabase } from '../../../platform.ts';
import { FIRST_PAGE } from '../../../../platform/graph/connection.ts';

const HOUR_MS = 3_600_000;
/** No request with an idempotency key stands behind these. */
const settle = () => Promise.resolve();

/** What may happen to the keys of an account. `which` counts around the keys that there are. */
type Event =
  | { readonly kind: 'create'; readonly endsInHours: number | null }
  | { readonly kind: 'rotate'; readonly which: number; readonly graceHours: number }
  | { readonly kind: 'revoke'; readonly which: number }
  | { readonly kind: 'pass'; readonly hours: number };

const event: Arbitrary<Event> = oneof(
  record({ kind: constant('create' as const), endsInHours: option(integer({ min: 1, max: 60 })) }),
  {
    arbitrary: record({ kind: constant('rotate' as const), which: nat(), graceHours: integer({ min: 0, max: 24 }) }),
    weight: 4,
  },
  record({ kind: constant('revoke' as const), which: nat() }),
  { arbitrary: record({ kind: constant('pass' as const), hours: integer({ min: 1, max: 30 }) }), weight: 2 },
);

/** The rules of decisions §7 and nothing else: no database, time in hours. */
class Model {
  readonly keys: {
    id: Uuid;
    secret: string;
    revoked: boolean;
    endsAt: number;
    graceEndsAt: number;
    replacedBy: number | null;
  }[] = [];
  clock = 0;

  status(index: number): KeyStatus {
    const { revoked, endsAt, graceEndsAt } = this.keys[index]!;
    if (revoked) return 'revoked';
    if (Math.min(endsAt, graceEndsAt) <= this.clock) return 'expired';
    return graceEndsAt === Infinity ? 'active' : 'rotating';
  }

  works(index: number): boolean {
    return ['active', 'rotating'].includes(this.status(index));
  }

  /** The key that a rotation of this one replaces. */
  newest(index: number): number {
    const { replacedBy } = this.keys[index]!;
    return replacedBy !== null && this.works(replacedBy) ? replacedBy : index;
  }

  rotate(index: number, graceHours: number, fresh: { id: Uuid; secret: string }): void {
    const old = this.keys[index]!;
    for (const key of this.keys) if (key.replacedBy === index) key.graceEndsAt = Math.min(key.graceEndsAt, this.clock);
    old.replacedBy =
      this.keys.push({ ...fresh, revoked: false, endsAt: old.endsAt, graceEndsAt: Infinity, replacedBy: null }) - 1;
    old.graceEndsAt = Math.min(old.graceEndsAt, this.clock + graceHours);
  }
}

describe('the life of keys', () => {
  let testDatabase: TestDatabase;
  let database: Database;
  let owner: Client;
  let services: KeyServices;
  let pubSub: PubSub;
  let admission: PostgresAdmission;

  beforeAll(async () => {
    const logger = createLogger({
      level: 'silent',
      format: 'json',
      destination: new Writable({ write: (_chunk, _encoding, done) => done() }),
    });
    testDatabase = await createTestDatabase([pubSubOwner, authOwner, eventsOwner, agentsOwner]);
    database = await openDatabase({
      url: testDatabase.applicationUrl,
      entities: [],
      applicationName: 'test',
      poolMax: 8,
      logger,
      timeoutMs: PATIENCE_MS,
    });
    pubSub = await createPubSub({ url: testDatabase.applicationUrl, database, logger });
    const keyPepper = randomBytes(32);
    const rateLimits = Object.fromEntries(
      RATE_CLASSES.map((name) => [name, { perMinute: 1_000_000, perDay: null }]),
    ) as unknown as RateLimits;
    admission = new PostgresAdmission({ database, pubSub, keyPepper, rateLimits, logger });
    services = {
      database,
      keys: new KeyStore(database, keyPepper),
      clock: () => new Date(),
      agentScores: agentScores(0.01),
    };
    owner = new Client({ connectionString: testDatabase.ownerUrl });
    await owner.connect();
  });
  afterAll(async () => {
    await owner?.end();
    await pubSub?.close();
    await database?.close();
    await testDatabase?.drop();
  });

  async function openAccount(): Promise<{
    readonly accountId: Uuid;
    readonly principal: Principal;
    readonly context: RequestContext;
  }> {
    const accountId = newUuid();
    // The caller's own key stands aside of those that things happen to.
    const own = await database.asTenant(accountId, async (em) => {
      await createAccount(em, { accountId, operatorId: randomUUID(), operatorEmail: null });
      return services.keys.create(em, { accountId, agentId: null, kind: 'svc_live_sk', bond: UNBOUND });
    });
    const principal: Principal = {
      kind: 'account',
      accountId,
      agentId: null,
      credentialId: own.id,
      scopes: SCOPES,
      environment: 'live',
      proof: 'secret',
      workspace: null,
    };
    return { accountId, principal, context: { requestId: 'req_test', principal, apiVersion: '2026-02-01' } };
  }

  const authenticates = (secret: string): Promise<boolean> =>
    admission
      .admit({
        requestId: 'req_test',
        origin: { clientAddress: '192.0.2.1', userAgent: null },
        authorization: `Bearer ${secret}`,
        onSandboxHost: false,
      })
      .then(
        () => true,
        (error: unknown) => {
          expect(error).toMatchObject({ type: 'expired_api_key' });
          return false;
        },
      );
  const statuses = (accountId: Uuid): Promise<ReadonlyMap<Uuid, KeyStatus>> =>
    database.asTenant(
      accountId,
      async (em) =>
        new Map(
          (await new AccountKeys(em, 'live').list({ ...FIRST_PAGE, limit: 1000 })).list.map(({ id, status }) => [
            id,
            status,
          ]),
        ),
    );
  /** Time passes for one account alone: everything in its past and future moves back. */
  const pass = (accountId: Uuid, hours: number) =>
    owner.query(
      `update auth.api_keys set created_at = created_at - $2::interval, expires_at = expires_at - $2::interval, ` +
        `grace_ends_at = grace_ends_at - $2::interval where account_id = $1`,
      [accountId, `${hours} hours`],
    );

  test('whatever happens, exactly the keys authenticate that the rules say', async () => {
    await assert(
      asyncProperty(array(event, { minLength: 3, maxLength: 14 }), async (events) => {
        const { accountId, principal, context } = await openAccount();
        const model = new Model();
        for (const next of [{ kind: 'create', endsInHours: null } as const, ...events]) {
          if (next.kind === 'create') {
            const pair = await createKeyPair(
              services,
              context,
              principal,
              { expiresAt: next.endsInHours === null ? null : new Date(Date.now() + next.endsInHours * HOUR_MS) },
              settle,
            );
            for (const { id, secret } of [pair.live, pair.test])
              model.keys.push({
                id,
                secret,
                revoked: false,
                endsAt: model.clock + (next.endsInHours ?? Infinity),
                graceEndsAt: Infinity,
                replacedBy: null,
              });
          } else if (next.kind === 'pass') {
            await pass(accountId, next.hours);
            model.clock += next.hours;
          } else if (next.kind === 'revoke') {
            const key = model.keys[next.which % model.keys.length]!;
            await revokeKey(services, context, principal, publicId('key', key.id), settle);
            key.revoked = true;
          } else {
            const index = next.which % model.keys.length;
            const rotation = rotateKey(
              services,
              context,
              principal,
              { keyId: publicId('key', model.keys[index]!.id) },
              { graceHours: next.graceHours },
              settle,
            );
            if (!model.works(index)) {
              await expect(rotation).rejects.toMatchObject({
                type: 'validation_error',
                problem: { code: 'key_ended' },
              });
            } else {
              const { fresh, previousId } = await rotation;
              expect(previousId).toBe(model.keys[model.newest(index)]!.id);
              model.rotate(model.newest(index), next.graceHours, fresh);
            }
          }
          const [working, listed] = [
            await Promise.all(model.keys.map(({ secret }) => authenticates(secret))),
            await statuses(accountId),
          ];
          expect(working).toEqual(model.keys.map((_, index) => model.works(index)));
          expect(model.keys.map(({ id }) => listed.get(id))).toEqual(model.keys.map((_, index) => model.status(index)));
        }
      }),
      {
        numRuns: 40,
        // Seldom met by chance: a second rotation with a longer grace, when the successor was revoked.
        examples: [
          [
            [
              { kind: 'rotate', which: 0, graceHours: 2 },
              { kind: 'revoke', which: 2 },
              { kind: 'rotate', which: 0, graceHours: 24 },
              { kind: 'pass', hours: 3 },
            ],
          ],
        ],
      },
    );
  }, 120_000);

  test('of rotations at the same time each replaces the one before, and two keys of the line work', async () => {
    const { accountId, principal, context } = await openAccount();
    const { live, test: twin } = await createKeyPair(services, context, principal, {}, settle);
    const turns = await Promise.allSettled(
      Array.from({ length: 8 }, () =>
        rotateKey(services, context, principal, { keyId: publicId('key', live.id) }, {}, settle),
      ),
    );
    const done = turns.flatMap((turn) => (turn.status === 'fulfilled' ? [turn.value] : []));
    // Whoever begins after the second turn is over finds that the named key has ended.
    for (const turn of turns)
      if (turn.status === 'rejected') expect(turn.reason).toMatchObject({ problem: { code: 'key_ended' } });
    expect(done.length).toBeGreaterThanOrEqual(2);
    const replaced = new Set(done.map(({ previousId }) => previousId));
    expect(replaced.size).toBe(done.length);
    expect([live.id, ...done.map(({ fresh }) => fresh.id)].filter((id) => !replaced.has(id))).toHaveLength(1);
    const left = new Map(await statuses(accountId));
    left.delete(twin.id);
    left.delete(principal.credentialId as Uuid);
    expect([...left.values()].filter((status) => status !== 'expired').toSorted()).toEqual(['active', 'rotating']);
  });

  test(
    'a rotation that had to wait replaces the newest key, even where one between seems to have ended before the ' +
      'named one',
    async () => {
      const { principal, context } = await openAccount();
      const { live } = await createKeyPair(services, context, principal, {}, settle);
      const rotate = (id: Uuid) => rotateKey(services, context, principal, { keyId: publicId('key', id) }, {}, settle);
      const second = (await rotate(live.id)).fresh;
      const third = (await rotate(second.id)).fresh;
      // As it looks to a transaction that began after the end of the second key and before that of the first.
      await owner.query(
        `update auth.api_keys set grace_ends_at = now() + case id when $1 then interval '1 minute' else interval '-1 ` +
          `minute' end where id in ($1, $2)`,
        [live.id, second.id],
      );
      expect((await rotate(live.id)).previousId).toBe(third.id);
    },
  );
});
