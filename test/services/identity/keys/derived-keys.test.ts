import { deepEqual, equal } from 'node:assert/strict';
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
  subarray,
  type Arbitrary,
} from 'fast-check';
import { PostgresAdmission } from '../../../../services/identity/admission/postgres-admission.ts';
import { SCOPES, type Scope } from '../../../../schema/principal.ts';
import { FrozenClock } from '../../../frozen-clock.ts';
import { RATE_CLASSES, type RateLimits } from '../../../../services/identity/limits/rate-limits.ts';
import { createLogger } from '../../../../platform/telemetry/logs.ts';
import { Caller, openHouse, type Answer, type House } from '../../../house.ts';
import { Model, type ModelGrant, type ModelKey, type ModelToken } from './derived-keys-model.ts';
import { sized } from '../../../run-length.ts';

const HOUR_MS = 3_600_000;
/** Lifetimes of tokens, in hours. */
const [ACCESS, REFRESH] = [1, 720];

/** What may happen to the credentials of an account; numbers count around those that there are. */
type Event =
  | { readonly kind: 'token'; readonly by: number; readonly scopes: readonly Scope[] }
  | {
      readonly kind: 'key';
      readonly by: number;
      readonly scopes: readonly Scope[] | null;
      readonly endsIn: number | null;
    }
  | { readonly kind: 'rotate'; readonly by: number; readonly which: number; readonly grace: number }
  | { readonly kind: 'refresh' | 'reuse' | 'revokeGrant' | 'revokeKey'; readonly which: number }
  | { readonly kind: 'pass'; readonly hours: number };

const scopes = subarray(SCOPES.slice(0, 4), { minLength: 1 });
const one = <Kind extends string>(kind: Kind) => record({ kind: constant(kind), which: nat(60) });
const event: Arbitrary<Event> = oneof(
  {
    weight: 3,
    arbitrary: record({ kind: constant('token' as const), by: nat(60), scopes: oneof(scopes, constant(SCOPES)) }),
  },
  {
    weight: 6,
    arbitrary: record({
      kind: constant('key' as const),
      by: nat(60),
      scopes: option(scopes),
      endsIn: option(integer({ min: 1, max: 800 })),
    }),
  },
  {
    weight: 4,
    arbitrary: record({
      kind: constant('rotate' as const),
      by: nat(60),
      which: nat(60),
      grace: integer({ min: 0, max: 24 }),
    }),
  },
  { weight: 2, arbitrary: one('refresh') },
  one('reuse'),
  one('revokeGrant'),
  { weight: 2, arbitrary: one('revokeKey') },
  {
    weight: 3,
    arbitrary: record({
      kind: constant('pass' as const),
      hours: oneof(integer({ min: 1, max: 30 }), integer({ min: 300, max: 730 })),
    }),
  },
);

describe('what tokens and keys leave behind them', () => {
  let house: House;
  let clock: FrozenClock;
  let admission: PostgresAdmission;

  beforeAll(async () => {
    house = await openHouse('one process', { withWorker: false });
    clock = new FrozenClock(house.ownerUrl);
    const rateLimits = Object.fromEntries(
      RATE_CLASSES.map((name) => [name, { perMinute: 1_000_000, perDay: null }]),
    ) as unknown as RateLimits;
    admission = new PostgresAdmission({
      ...house.backing,
      keyPepper: house.keyPepper,
      rateLimits,
      logger: createLogger({ level: 'silent', format: 'json' }),
    });
  });
  afterAll(() => house?.stop());

  const text = (answer: Answer, ...path: readonly string[]) =>
    String(path.reduce<Answer['body'] | undefined>((value, member) => value?.[member], answer.body));
  const codeOf = ({ status, body }: Answer) =>
    `${status} ${String(body['error']?.['code'] ?? body['error']?.['type'] ?? '')}`.trim();
  const isAdmitted = (secret: string) =>
    admission
      .admit({
        requestId: 'req_test',
        origin: { clientAddress: '127.0.0.1', userAgent: null },
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
  const nobody = () => new Caller(house.root, null);

  /** One history of one account, told to the service and to the model. */
  class History {
    readonly model = new Model();
    readonly #clientId: string;
    readonly #startedMs: number;

    private constructor(agent: Caller, clientId: string, keyId: string, startedMs: number) {
      this.#clientId = clientId;
      this.#startedMs = startedMs;
      this.model.keys.push({
        id: keyId,
        caller: agent,
        kind: 'agent',
        pair: null,
        scopes: SCOPES,
        ownEnd: Infinity,
        maker: null,
        grant: null,
        isRevoked: false,
        graceEnd: Infinity,
        replacedBy: null,
      });
    }

    static async begin(): Promise<History> {
      await clock.stop();
      const agent = await Caller.register(house.root);
      const keys = await agent.get('/keys');
      return new History(
        agent,
        text(await agent.get('/agents/me'), 'agent_id'),
        text(keys, 'keys', '0', 'id'),
        Date.now(),
      );
    }

    async go(event: Event): Promise<void> {
      const { model } = this;
      const at = <T>(list: readonly T[], index: number): T | undefined => list[index % list.length];
      switch (event.kind) {
        case 'pass':
          model.now += event.hours;
          return clock.stop(`${model.now} hours`);
        case 'token':
          return this.#token(
            at(
              model.keys.filter(({ kind }) => kind === 'agent'),
              event.by,
            )!,
            event.scopes,
          );
        case 'key':
          return this.#key(at(this.#callers(), event.by)!, event.scopes, event.endsIn);
        case 'rotate':
          return this.#rotate(at(this.#callers(), event.by)!, at(model.keys, event.which)!, event.grace);
        case 'revokeKey': {
          // The first key stays, so that there is always somebody to ask.
          const key = at(model.keys.slice(1), event.which);
          if (key === undefined || !model.works(model.keys[0]!)) return;
          equal((await model.keys[0]!.caller.delete(`/keys/${key.id}`)).status, 200);
          if (!model.isRevoked(key)) key.isRevoked = true;
          return;
        }
      }
      const grant = at(model.grants, event.which);
      if (grant === undefined) return;
      if (event.kind === 'refresh') return this.#refresh(grant);
      if (event.kind === 'reuse' && grant.usedToken === null) return;
      if (event.kind === 'reuse') equal((await this.#ask(grant.usedToken!)).status, 401);
      else await nobody().post('/oauth/revoke', { token: grant.refreshToken });
      grant.isRevoked = true;
    }

    /** Whatever makes keys: all but test keys. */
    #callers(): readonly (ModelKey | ModelToken)[] {
      return [...this.model.keys.filter(({ kind }) => kind !== 'test'), ...this.model.tokens];
    }

    #works(caller: ModelKey | ModelToken): boolean {
      return 'end' in caller ? this.model.tokenWorks(caller) : this.model.works(caller);
    }

    async #token(key: ModelKey, asked: readonly Scope[]): Promise<void> {
      const { model } = this;
      const answer = await nobody().post('/oauth/token', {
        grant_type: 'client_credentials',
        client_id: this.#clientId,
        client_secret: key.caller.key,
        scope: asked.join(' '),
      });
      equal(answer.status, model.works(key) ? 200 : 401);
      if (answer.status !== 200) return;
      const grant: ModelGrant = {
        key,
        refreshToken: text(answer, 'refresh_token'),
        usedToken: null,
        refreshEnd: model.now + REFRESH,
        isRevoked: false,
      };
      model.grants.push(grant);
      model.tokens.push({
        caller: new Caller(house.root, text(answer, 'access_token')),
        grant,
        scopes: asked,
        end: model.now + ACCESS,
      });
    }

    #ask(refreshToken: string): Promise<Answer> {
      return nobody().post('/oauth/token/refresh', {
        grant_type: 'refresh_token',
        client_id: this.#clientId,
        refresh_token: refreshToken,
      });
    }

    async #refresh(grant: ModelGrant): Promise<void> {
      const { model } = this;
      const answer = await this.#ask(grant.refreshToken);
      equal(answer.status, model.grantLives(grant) ? 200 : 401);
      if (answer.status !== 200) return;
      Object.assign(grant, {
        usedToken: grant.refreshToken,
        refreshToken: text(answer, 'refresh_token'),
        refreshEnd: model.now + REFRESH,
      });
      const granted = text(answer, 'scope').split(' ') as Scope[];
      model.tokens.push({
        caller: new Caller(house.root, text(answer, 'access_token')),
        grant,
        scopes: granted,
        end: model.now + ACCESS,
      });
    }

    async #key(by: ModelKey | ModelToken, asked: readonly Scope[] | null, endsIn: number | null): Promise<void> {
      const { model } = this;
      const ownEnd = endsIn === null ? Infinity : model.now + endsIn;
      const latest = 'end' in by ? Math.min(by.grant.refreshEnd, model.endOf(by.grant.key)) : model.endOf(by);
      const body = {
        ...(asked === null ? {} : { scopes: asked }),
        ...(endsIn === null ? {} : { expires_at: new Date(this.#startedMs + ownEnd * HOUR_MS).toISOString() }),
      };
      const answer = await by.caller.post('/keys', body);
      const isCovered = (asked ?? []).every((scope) => by.scopes.includes(scope));
      equal(
        codeOf(answer),
        !this.#works(by)
          ? '401 expired_api_key'
          : !isCovered
            ? '403 missing_scope'
            : ownEnd < Infinity && ownEnd > latest
              ? '422 outlives_maker'
              : '201',
      );
      if (answer.status !== 201) return;
      const made = answer.body['scopes'] as unknown as readonly Scope[];
      deepEqual(
        made.filter((scope) => !by.scopes.includes(scope)),
        [],
      );
      const bond =
        'end' in by
          ? { maker: by.grant.key, grant: by.grant }
          : { maker: latest === Infinity ? null : by, grant: null };
      for (const kind of ['live', 'test'] as const) {
        model.keys.push({
          id: text(answer, kind, 'id'),
          caller: new Caller(house.root, text(answer, kind, 'key')),
          kind,
          pair: text(answer, 'key_pair_id'),
          scopes: made,
          ownEnd,
          ...bond,
          isRevoked: false,
          graceEnd: Infinity,
          replacedBy: null,
        });
      }
    }

    async #rotate(by: ModelKey | ModelToken, named: ModelKey, grace: number): Promise<void> {
      const { model } = this;
      const answer = await by.caller.post(`/keys/${named.id}/rotate`, { grace_hours: grace });
      const old = model.newest(named);
      const isCovered = old.scopes.every((scope) => by.scopes.includes(scope));
      equal(
        codeOf(answer),
        !this.#works(by)
          ? '401 expired_api_key'
          : !model.works(named)
            ? '422 key_ended'
            : !isCovered
              ? '403 missing_scope'
              : !model.endsWith(old, by)
                ? '403 outlives_maker'
                : '200',
      );
      if (answer.status !== 200) return;
      for (const key of model.keys) if (key.replacedBy === old) key.graceEnd = Math.min(key.graceEnd, model.now);
      old.replacedBy = {
        ...old,
        id: text(answer, 'id'),
        caller: new Caller(house.root, text(answer, 'key')),
        isRevoked: false,
        graceEnd: Infinity,
        replacedBy: null,
      };
      old.graceEnd = Math.min(old.graceEnd, model.now + grace);
      model.keys.push(old.replacedBy);
    }

    /** Who is let in, and who is by the rules. */
    async compare(): Promise<void> {
      const { model } = this;
      const all = [
        ...model.keys.map((key) => ({ caller: key.caller, works: model.works(key) })),
        ...model.tokens.map((token) => ({ caller: token.caller, works: model.tokenWorks(token) })),
      ];
      const admitted = await Promise.all(all.map(({ caller }) => isAdmitted(caller.key!)));
      deepEqual(
        admitted,
        all.map(({ works }) => works),
      );
    }
  }

  test('nothing is let in that has a maker which ended, and nothing has a scope that its maker lacked', async () => {
    try {
      await assert(
        asyncProperty(array(event, { minLength: 4, maxLength: 16 }), async (events) => {
          const history = await History.begin();
          await history.go({ kind: 'token', by: 0, scopes: SCOPES });
          for (const next of events) {
            await history.go(next);
            await history.compare();
          }
        }),
        { numRuns: sized({ short: 8, long: 25 }) },
      );
    } finally {
      await clock.run();
    }
  });
});
