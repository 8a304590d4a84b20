import { execute, isUnionType, parse } from 'graphql';
import { ACTIONS, type Action } from '../../schema/actions.ts';
import { findUnprotectedTables } from '../../platform/postgres/tenant-tables.ts';
import type { Caller as Outgoing } from '../../platform/outgoing/caller.ts';
import type { Principal } from '../../schema/principal.ts';
import type { IdPrefix } from '../../schema/id-prefixes.ts';
import { newRequestId, uuidFromPublicId } from '../../platform/identifiers.ts';
import { buildSubgraphs } from '../../processes/subgraph-set.ts';
import { Caller, TEST_SECRET } from '../house.ts';
import { answerOf, identityOf, issueKey, openCast, say, send, textOf, type Cast, type Player } from './cast.ts';
import {
  exampleRequest,
  idPlaces,
  OPERATION_PATHS,
  sayings,
  unknownId,
  type ChooseId,
  type IdKind,
  type Place,
} from './example-requests.ts';
import { furnish } from './furnish.ts';
import type { Belongings } from './noun-objects.ts';

/** Somebody who may not see what the owner has, and what of it is not a secret to them. */
interface Outsider extends Player {
  readonly principal: Principal;
  readonly own: Belongings;
  readonly knows: readonly IdKind[];
  /**
   * Rights to what is of the account as a whole, in both environments and with all its workspaces: billing, and the one
   * audit log.
   */
  readonly mayRead: readonly string[];
}

/** Agents know each other: their public face can be read, and anybody can be asked into a workspace. */
const OF_ANY_AGENT = new Set(['getAgent path/agent_id', 'addWorkspaceAgent body/agent_id']);
const OUTSIDERS = [
  'another account',
  'a test key of the account',
  'a member of another workspace of the account',
] as const;

/** Tables that the objects of the cast leave empty, with the test that fills them. */
const OF_NOBODY_IN_THE_CAST: Readonly<Record<string, string>> = {
  'attribution.connector_credentials': 'environment-isolation.test.ts, by a connector that takes any credentials',
};

/** What may be answered for an id that leads nowhere: one in a filter finds nothing. */
const LEADS_NOWHERE = new RegExp(
  [
    /^(404 resource_not_found|422 validation_error unknown_\w+)$/,
    /^(403 insufficient_permissions (role|account_required)|200)$/,
  ]
    .map(({ source }) => source)
    .join('|'),
);

/** Whether a subgraph resolves references to a type. */
function isReferable(extensions: unknown): boolean {
  const said = extensions as { apollo?: { subgraph?: { resolveReference?: unknown } } } | undefined;
  return said?.apollo?.subgraph?.resolveReference !== undefined;
}

/** An answer with all that differs between two equal requests taken out. */
const anonymous = (text: string, id: string): string =>
  text
    .replaceAll(id, 'ID')
    .replaceAll(/req_\w+/g, 'REQUEST')
    .replaceAll(/"\d{4}-\d\d-\d\dT[^"]*"/g, '"TIME"');

describe('what outsiders can find out', () => {
  let cast: Cast;
  let outsiders: Readonly<Record<string, Outsider>>;
  let recordsSynced: unknown;

  beforeAll(async () => {
    cast = await openCast();
    const { house, owner, ownerPrincipal, database } = cast;
    recordsSynced = (await owner.get(`/data-sources/${cast.belongings.ds}/status`)).body['records_synced'];
    const stranger = await Caller.register(house.root);
    const tester = new Caller(house.root, await issueKey(cast, { kind: 'svc_test_sk' }));
    const guest = await Caller.register(house.root);
    const guestIdentity = await identityOf(database, guest);
    const workspace = String((await owner.post('/workspaces', { name: 'Elsewhere' })).body['workspace_id']);
    await owner.post(`/workspaces/${workspace}/agents`, { agent_id: guestIdentity.agentId, role: 'owner' });
    const acting = {
      id: uuidFromPublicId('ws', workspace)!,
      role: 'owner',
      homeAccountId: guestIdentity.accountId,
    } as const;
    outsiders = {
      [OUTSIDERS[0]]: {
        name: OUTSIDERS[0],
        caller: stranger,
        workspace: null,
        principal: { ...ownerPrincipal, ...(await identityOf(database, stranger)) },
        own: await furnish(stranger),
        knows: [],
        mayRead: [],
      },
      [OUTSIDERS[1]]: {
        name: OUTSIDERS[1],
        caller: tester,
        workspace: null,
        principal: { ...ownerPrincipal, environment: 'sandbox' },
        own: await furnish(tester, { within: 'sandbox' }),
        knows: ['agent'],
        mayRead: ['audit'],
      },
      [OUTSIDERS[2]]: {
        name: OUTSIDERS[2],
        caller: guest.in(workspace),
        workspace,
        principal: { ...ownerPrincipal, agentId: guestIdentity.agentId, workspace: acting },
        own: { ...(await furnish(guest.in(workspace), { within: 'workspace' })), ws: workspace },
        knows: ['agent'],
        mayRead: ['administer', 'audit'],
      },
    };
  });
  afterAll(() => cast?.close());

  const secretsOf = ({ knows }: Outsider): string[] =>
    Object.entries(cast.belongings).flatMap(([kind, id]) => (knows.includes(kind as IdKind) ? [] : [id]));

  const mayKnow = ({ mayRead }: Outsider, action: Action | null | undefined): boolean =>
    action != null && mayRead.includes(ACTIONS[action].right);

  /**
   * Asks twice, with the owner's id in one place and with one that nobody has; everything else is the outsider's own.
   */
  async function compare(
    outsider: Outsider,
    place: Place,
    ask: (choose: ChooseId) => Promise<{ readonly outcome: string; readonly text: string }>,
  ): Promise<void> {
    const kinds: IdKind[] = [];
    const asked = async (pick: (kind: IdKind) => string): Promise<{ id: string; outcome: string; text: string }> => {
      let id = '';
      const answer = await ask((prefix, at) => {
        if (at !== place) return outsider.own[prefix] ?? unknownId(prefix);
        kinds.push(prefix);
        return (id = pick(prefix));
      });
      return { ...answer, id };
    };
    const foreign = await asked((prefix) => cast.belongings[prefix] ?? taught(prefix));
    if (kinds.some((kind) => outsider.knows.includes(kind))) return;
    const unknown = await asked(unknownId);
    const isInPath = place.startsWith('path/');
    if (!LEADS_NOWHERE.test(foreign.outcome) || (isInPath && foreign.outcome === '200')) {
      const wrong = isInPath
        ? 'what the path names is ignored: ask for it, too, wherever the store reads, changes or deletes'
        : 'whoever may not see what a request names learns nothing of it';
      throw new Error(`an id of the owner's was answered with ${foreign.outcome}; ${wrong}`);
    }
    expect(anonymous(foreign.text, foreign.id)).toBe(anonymous(unknown.text, unknown.id));
    if (foreign.outcome === '200')
      for (const secret of secretsOf(outsider)) expect(foreign.text.replaceAll(foreign.id, 'ID')).not.toContain(secret);
  }

  function taught(prefix: IdKind): never {
    throw new Error(`nobody in the cast owns a ${prefix}_…: say how one is made in test/contract/objects.ts`);
  }

  describe.each(OUTSIDERS)('%s', (name) => {
    const places = OPERATION_PATHS.flatMap((each) =>
      idPlaces(each.operation).map(({ place, optional }) => ({
        each,
        place,
        optional,
        title: `${each.name}, ${place}`,
      })),
    );
    test.each(
      places.filter(
        ({ each, place }) => each.operation.action !== null && !OF_ANY_AGENT.has(`${each.operation.id} ${place}`),
      ),
    )('$title: foreign as unknown', async ({ each, place, optional }) => {
      const outsider = outsiders[name]!;
      if (mayKnow(outsider, each.operation.action)) return;
      await compare(outsider, place, async (choose) =>
        answerOf(
          await send(each, exampleRequest(each.operation, choose, optional ? place : undefined), outsider.caller),
        ),
      );
    });

    test.each(OPERATION_PATHS.filter(({ operation, pattern }) => operation.method === 'GET' && !pattern.includes('{')))(
      '$name shows nothing of the owner',
      async (each) => {
        const outsider = outsiders[name]!;
        if (mayKnow(outsider, each.operation.action)) return;
        const text = await textOf(await send(each, exampleRequest(each.operation, unknownId), outsider.caller));
        for (const secret of secretsOf(outsider)) expect(text).not.toContain(secret);
      },
    );

    const said = sayings().flatMap((saying) =>
      saying.places.map(({ place, optional }) => ({
        saying,
        place,
        optional,
        title: `${saying.kind} ${saying.field}, ${place}`,
      })),
    );
    test.each(
      said.filter(
        ({ saying, place }) =>
          saying.operation?.action !== null && !OF_ANY_AGENT.has(`${saying.operation?.id} ${place}`),
      ),
    )('$title: foreign as unknown', async ({ saying, place, optional }) => {
      const outsider = outsiders[name]!;
      if (mayKnow(outsider, saying.operation?.action)) return;
      await compare(outsider, place, (choose) =>
        say(cast.house, saying, saying.variables(choose, optional ? place : undefined), outsider),
      );
    });

    test.each(sayings().filter(({ kind, places }) => kind === 'query' && places.length === 0))(
      'query $field shows nothing of the owner',
      async (saying) => {
        const outsider = outsiders[name]!;
        if (mayKnow(outsider, saying.operation?.action)) return;
        const { text } = await say(cast.house, saying, saying.variables(unknownId), outsider);
        for (const secret of secretsOf(outsider)) expect(text).not.toContain(secret);
      },
    );

    test('references between subgraphs lead to foreign entities as to unknown ones', async () => {
      const outsider = outsiders[name]!;
      const subgraphs = await buildSubgraphs({
        backing: cast.house.backing,
        keyPepper: Buffer.alloc(32),
        keyEncryptionKey: TEST_SECRET,
        outgoing: {} as Outgoing,
        auditPlaces: cast.house.auditPlaces,
        clock: () => new Date(0),
        config: { billing: 'on' },
      });
      const kinds: Readonly<Record<string, readonly [IdPrefix, string]>> = {
        Attribution: ['attr', 'id deltaRCents'],
        DataSource: ['ds', 'id name'],
        Agent: [
          'agent',
          'id operatorId operatorEmail referralCode agentUuid activeReferrals totalApiCalls nextTier { name }',
        ],
        Workspace: ['ws', 'id name members { agentId }'],
      };
      let seen = 0;
      for (const { name: subgraph, schema } of subgraphs) {
        const union = schema.getType('_Entity');
        const missing = (isUnionType(union) ? union.getTypes() : []).filter(
          ({ name: type, extensions }) => isReferable(extensions) && kinds[type] === undefined,
        );
        if (missing.length > 0)
          throw new Error(`references to ${missing.join(', ')} are not tried: add them to "kinds" of this test`);
        for (const [type, [prefix, selection]] of Object.entries(kinds)) {
          if (!isReferable(schema.getType(type)?.extensions) || outsider.knows.includes(prefix)) continue;
          const document = parse(
            `query ($of: [_Any!]!) { _entities(representations: $of) { ... on ${type} { ${selection} } } }`,
          );
          const read = async (principal: Principal, id: string): Promise<string> =>
            JSON.stringify(
              await execute({
                schema,
                document,
                variableValues: { of: [{ __typename: type, id }] },
                contextValue: { requestId: newRequestId(), apiVersion: '2026-02-01', principal },
              }),
            ).replaceAll(id, 'ID');
          const owned = await read(cast.ownerPrincipal, cast.belongings[prefix]!);
          expect({ subgraph, type, owned }).toMatchObject({ owned: expect.stringContaining('"id":"ID"') });
          const foreign = await read(outsider.principal, cast.belongings[prefix]!);
          if (prefix === 'agent')
            expect(foreign).toBe(
              '{"data":{"_entities":[{"id":"ID","operatorId":null,"operatorEmail":null,"referralCode":null,' +
                '"agentUuid":null,"activeReferrals":null,"totalApiCalls":null,"nextTier":null}]}}',
            );
          else expect(foreign).toBe(await read(outsider.principal, unknownId(prefix)));
          seen += 1;
        }
      }
      expect(seen).toBeGreaterThan(1);
    });
  });

  // Last, since it looks back on all attempts above.
  test('the owner has everything still, and reads it', async () => {
    const { owner, belongings } = cast;
    for (const path of [
      `/data-sources/${belongings.ds}/status`,
      `/attribution/${belongings.attr}`,
      `/attribution/${belongings.attr}/export`,
      `/experiments/${belongings.exp}`,
      `/webhooks/${belongings.webhook}`,
      `/agents/${belongings.agent}`,
    ]) {
      expect([path, (await owner.open('GET', path)).status]).toEqual([path, 200]);
    }
    expect(JSON.stringify((await owner.get('/workspaces')).body)).toContain(belongings.ws!);
    expect((await owner.get(`/data-sources/${belongings.ds}/status`)).body['records_synced']).toBe(recordsSynced);
  });

  test(
    'every table that holds tenants’ rows is under row level security, narrowed where rows lie in workspaces and ' +
      'environments',
    async () => {
      const open = await findUnprotectedTables(cast.house.ownerUrl);
      if (open.length > 0)
        throw new Error(
          `${open.join(', ')} could be read by others: tenantTable, environmentTable and narrowTenant of ` +
            `platform/postgres/tenant-tables.ts close a table in its migration`,
        );
    },
  );

  test('the stores show nothing to code that forgets to ask, or says no more than the account', async () => {
    const { database } = cast.house.backing;
    // Tables of the account as such show all of their rows to whoever says no more than the account.
    const { rows: tables } = await cast.database.query<{ name: string }>(
      `select polrelid::regclass::text as name from pg_policy where polname = 'tenant'
         and pg_get_expr(polqual, polrelid) like '%liftgraph.environment%' order by 1`,
    );
    const names = tables.map(({ name }) => name).filter((name) => !(name in OF_NOBODY_IN_THE_CAST));
    expect(names).toEqual(
      expect.arrayContaining([
        'attribution.attributions',
        'attribution.experiments',
        'attribution.uploads',
        'events.webhook_deliveries',
        'events.webhook_endpoints',
      ]),
    );
    const counts = names.map((name) => `select '${name}' as name, count(*)::integer as n from ${name}`);
    const read = async (em: Parameters<Parameters<typeof database.asNobody>[0]>[0]) =>
      em.execute<{ name: string; n: number }[]>(counts.join(' union all '));
    const [nobody, account, whole] = [
      await database.asNobody(read),
      await database.asTenant(cast.ownerPrincipal.accountId, read),
      await database.asTenant(cast.ownerPrincipal, read),
    ];
    expect([...nobody, ...account].filter(({ n }) => n > 0)).toEqual([]);
    const empty = whole.filter(({ n }) => n === 0).map(({ name }) => name);
    if (empty.length > 0)
      throw new Error(`nothing fills ${empty.join(', ')}: say how their objects are made in test/contract/objects.ts`);
  });
});
