import { execute, parse } from 'graphql';
import { ACTIONS, ASSERTED_ACTIONS, type Action } from '../../schema/actions.ts';
import { ROLES, SCOPES, type Principal, type RequestContext, type Role, type Scope } from '../../schema/principal.ts';
import type { Caller as Outgoing } from '../../platform/outgoing/caller.ts';
import type { IdPrefix } from '../../schema/id-prefixes.ts';
import { newRequestId } from '../../platform/identifiers.ts';
import { buildSubgraphs } from '../../processes/subgraph-set.ts';
import { TEST_SECRET } from '../house.ts';
import { answerOf, openCast, permissionPlayers, say, send, type Cast, type Player } from './cast.ts';
import { exampleRequest, OPERATION_PATHS, sayings, unknownId } from './example-requests.ts';

/** Open to everybody; whatever else needs no permission is a hole. */
const PUBLIC_OPERATIONS = ['registerAgent', 'verifyResult', 'getHealth', 'issueToken', 'refreshToken', 'revokeToken'];
const PUBLIC_FIELDS = ['registerAgent', 'verifyResult'];

/** The role matrix of the contract, in its own words; raw journeys, and what is not a workspace's, apart. */
const RIGHTS: Readonly<Record<Role, readonly string[]>> = {
  owner: ['self', 'read', 'readJourneys', 'run', 'configure', 'administer', 'audit'],
  analyst: ['self', 'read', 'readJourneys', 'run', 'configure'],
  viewer: ['self', 'read', 'readJourneys'],
  auditor: ['self', 'read', 'audit'],
};

type Limit = 'secret' | 'live';
type Row = readonly [pattern: RegExp, scope: Scope | null, right: string, ...limits: Limit[]];

/**
 * The contract's tables of scopes and roles by method and path, the first match counting: what the permission table
 * must say.
 */
const CONTRACT_TABLE: readonly Row[] = [
  [/^GET \/agents\/(\{\w+\}\/)?usage$/, 'billing:read', 'administer'],
  [/^GET \/agents\/\{\w+\}\/migration/, 'attribution:read', 'read'],
  [/^\w+ \/agents\/\{\w+\}\/migration/, 'attribution:write', 'run'],
  [/^GET \/(agents\/\{\w+\}\/)?(referrals|commissions)/, 'referrals:read', 'administer'],
  [/^\w+ \/agents\/\{\w+\}\/keys/, null, 'account', 'secret'],
  [/^GET \/agents\//, null, 'self'],
  [/^(PUT|PATCH) \/agents\/me/, 'referrals:write', 'self'],
  [/^DELETE \/agents\/me$/, null, 'account', 'secret', 'live'],
  [
    /^(GET) \/(attribution|forecast|recommendations|data-sources|experiments|benchmarks|context|alerts|integrations)\b/,
    'attribution:read',
    'read',
  ],
  [/^POST \/context\/search$/, 'attribution:read', 'read'],
  [
    /^(POST|PUT|DELETE) \/(attribution|forecast|recommendations|data-sources|experiments|query|integrations)\b/,
    'attribution:write',
    'run',
  ],
  [/^(POST|PUT|DELETE) \/(context|alerts)\b/, 'attribution:write', 'configure'],
  [/^\w+ \/channels\b/, 'channels:read', 'read'],
  [/^\w+ \/journeys\b/, 'journeys:read', 'readJourneys'],
  [/^\w+ \/campaigns\b/, 'campaigns:read', 'read'],
  [/^\w+ \/(health|brand)\b/, 'health:read', 'read'],
  [/^GET \/billing\b/, 'billing:read', 'administer'],
  [/^POST \/billing\b/, 'billing:read', 'administer', 'secret'],
  [/^POST \/commissions\/verify$/, 'referrals:read', 'administer'],
  [/^\w+ \/audit\b/, 'audit:read', 'audit'],
  [/^POST \/keys$/, null, 'account', 'secret', 'live'],
  [/^\w+ \/keys\b/, null, 'account', 'secret'],
  [/^GET \/events$/, null, 'read'],
  [/^\w+ \/webhooks\b/, null, 'configure'],
  [/^GET \/workspaces\b/, null, 'self'],
  [/^POST \/workspaces$/, null, 'account', 'secret'],
  [/^\w+ \/workspaces\/\{\w+\}/, null, 'administer', 'secret'],
];

/** How each player must be refused what an action covers; undefined: it must not. */
function refusals(action: Action): Record<string, string | undefined> {
  const { scope, right, ...rest }: { scope: Scope | null; right: string } & Partial<Record<Limit, true>> =
    ACTIONS[action];
  return {
    nobody: '401 invalid_api_key',
    'an unknown key': '401 invalid_api_key',
    'a revoked key': '401 expired_api_key',
    'an expired key': '401 expired_api_key',
    'a granted token': rest.secret === true ? '403 insufficient_permissions secret_required' : undefined,
    'a test key': rest.live === true ? '403 insufficient_permissions live_key_required' : undefined,
    ...Object.fromEntries(
      SCOPES.map((each) => [
        `all but ${each}`,
        each === scope ? '403 insufficient_permissions missing_scope' : undefined,
      ]),
    ),
    ...Object.fromEntries(
      ROLES.map((role) => [role, RIGHTS[role].includes(right) ? undefined : '403 insufficient_permissions role']),
    ),
  };
}

/** Whatever an outcome is that is not a refusal, it does not matter here. */
const refusalIn = (outcome: string): string | undefined => (/^40[13] /.test(outcome) ? outcome : undefined);

/** The first action asserted while `work` runs; undefined where none is. */
async function observed(work: () => Promise<unknown>): Promise<Action | undefined> {
  const seen: Action[] = [];
  const listen = (action: unknown): void => void seen.push(action as Action);
  ASSERTED_ACTIONS.subscribe(listen);
  try {
    await work();
  } finally {
    ASSERTED_ACTIONS.unsubscribe(listen);
  }
  return seen[0];
}

describe('who is refused what', () => {
  let cast: Cast;
  let players: readonly Player[];

  beforeAll(async () => {
    cast = await openCast();
    players = await permissionPlayers(cast);
  });
  afterAll(() => cast?.close());

  async function outcomes(ask: (player: Player) => Promise<string>): Promise<Record<string, string | undefined>> {
    return Object.fromEntries(
      await Promise.all(players.map(async (player) => [player.name, refusalIn(await ask(player))] as const)),
    );
  }

  describe('REST', () => {
    test.each(OPERATION_PATHS.map((each) => [each.name, each] as const))('%s', async (_name, each) => {
      const { operation } = each;
      if (operation.action === null) {
        expect(PUBLIC_OPERATIONS).toContain(operation.id);
        return;
      }
      const row = CONTRACT_TABLE.find(([pattern]) => pattern.test(each.name));
      if (row === undefined)
        throw new Error(`no scope and right are known for ${each.name}: add a row to CONTRACT_TABLE of this test`);
      expect(ACTIONS[operation.action]).toEqual({
        scope: row[1],
        right: row[2],
        ...Object.fromEntries(row.slice(3).map((limit) => [limit, true])),
      });
      const found = await outcomes(
        async ({ caller }) => (await answerOf(await send(each, exampleRequest(operation, unknownId), caller))).outcome,
      );
      expect(found).toEqual(refusals(operation.action));
    });
  });

  describe('the graph', () => {
    test.each(sayings().map((saying) => [`${saying.kind} ${saying.field}`, saying] as const))(
      '%s',
      async (_name, saying) => {
        const ask = ({ caller, workspace }: Pick<Player, 'caller' | 'workspace'>) =>
          say(cast.house, saying, saying.variables(unknownId), { caller, workspace });
        const action = await observed(() => ask({ caller: cast.owner, workspace: null }));
        if (action === undefined) {
          expect(PUBLIC_FIELDS).toContain(saying.field);
          return;
        }
        // Both doors hang on one permission.
        if (saying.operation !== null) expect(action).toBe(saying.operation.action);
        expect(await outcomes(async (player) => (await ask(player)).outcome)).toEqual(refusals(action));
      },
    );
  });

  describe('entities', () => {
    const KIND_OF_TYPE: Readonly<Record<string, IdPrefix>> = {
      Attribution: 'attr',
      DataSource: 'ds',
      Agent: 'agent',
      Workspace: 'ws',
    };
    /** What the gateway brings along with a reference, for a subgraph to work with. */
    const BROUGHT_ALONG = new Set([
      'billing Attribution.deltaRCents',
      'billing Attribution.environment',
      'billing Agent.agentUuid',
    ]);

    test('each reference that a subgraph resolves asserts an action, as do the fields of the others', async () => {
      const subgraphs = await buildSubgraphs({
        backing: cast.house.backing,
        keyPepper: Buffer.alloc(32),
        keyEncryptionKey: TEST_SECRET,
        outgoing: {} as Outgoing,
        auditPlaces: cast.house.auditPlaces,
        clock: () => new Date(),
        config: { billing: 'on' },
      });
      const found: Record<string, unknown> = {};
      const expected: Record<string, unknown> = {};
      for (const { name, schema } of subgraphs) {
        const union = schema.getType('_Entity') as unknown as
          | {
              getTypes(): readonly {
                name: string;
                getFields(): Record<string, { name: string; args: readonly unknown[] }>;
                extensions: { apollo?: { subgraph?: { resolveReference?: unknown } } };
              }[];
            }
          | undefined;
        for (const type of union?.getTypes() ?? []) {
          const isResolved = type.extensions.apollo?.subgraph?.resolveReference !== undefined;
          const key = `${name} ${type.name}`;
          const prefix = KIND_OF_TYPE[type.name];
          if (prefix === undefined)
            throw new Error(`whose id ${type.name} has is unknown: say it in KIND_OF_TYPE of this test`);
          const fields = isResolved
            ? ['__typename']
            : Object.keys(type.getFields()).filter((field) => field !== 'id' && !BROUGHT_ALONG.has(`${key}.${field}`));
          for (const field of fields) {
            const place = isResolved ? key : `${key}.${field}`;
            const document = parse(
              `query ($of: [_Any!]!) { _entities(representations: $of) { ... on ${type.name} { ${field} } } }`,
            );
            const ask = async (principal: Principal | null): Promise<string> => {
              const contextValue: RequestContext = { requestId: newRequestId(), apiVersion: '2026-02-01', principal };
              const { errors } = await execute({
                schema,
                document,
                variableValues: { of: [{ __typename: type.name, id: unknownId(prefix) }] },
                contextValue,
              });
              const problem = errors?.[0]?.extensions['problem'] as
                | { status: number; type: string; code?: string }
                | undefined;
              return problem === undefined
                ? '200'
                : [problem.status, problem.type, problem.code].filter((part) => part !== undefined).join(' ');
            };
            const action = await observed(() => ask(cast.ownerPrincipal));
            const principals: Record<string, Principal | null> = { nobody: null };
            for (const scope of SCOPES)
              principals[`all but ${scope}`] = {
                ...cast.ownerPrincipal,
                scopes: SCOPES.filter((other) => other !== scope),
              };
            for (const role of ROLES)
              principals[role] = {
                ...cast.ownerPrincipal,
                workspace: { id: cast.ownerPrincipal.accountId, role, homeAccountId: cast.ownerPrincipal.accountId },
              };
            const outcomes: Record<string, string | undefined> = {};
            for (const [who, principal] of Object.entries(principals)) outcomes[who] = refusalIn(await ask(principal));
            found[place] = action === undefined ? 'covered by no permission' : outcomes;
            expected[place] =
              action === undefined
                ? 'an action'
                : Object.fromEntries(Object.keys(principals).map((who) => [who, refusals(action)[who]]));
          }
        }
      }
      expect(Object.keys(found)).toEqual(
        expect.arrayContaining([
          'attribution Attribution',
          'attribution DataSource',
          'agents Agent',
          'agents Workspace',
          'billing Agent.totalDeltaRCents',
          'billing Attribution.platformFeeCents',
          'billing Attribution.billed',
        ]),
      );
      expect(found).toEqual(expected);
    });
  });
});
