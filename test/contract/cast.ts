import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import pg from 'pg';
import WebSocket from 'ws';
import { generateApiKey } from '../../services/identity/keys/api-key.ts';
import { UNBOUND } from '../../services/identity/keys/key-bond.ts';
import { ROLES, SCOPES, type Principal, type Role, type Scope } from '../../schema/principal.ts';
import { publicId, uuidFromPublicId, type Uuid } from '../../platform/identifiers.ts';
import { wholeAccount } from '../../platform/postgres/database.ts';
import { appendCommission } from '../../subgraphs/billing/commissions/append-commission.ts';
import { Caller, openHouse, type House } from '../house.ts';
import { clock } from '../service-clock.ts';
import { SMALLEST_SHOP } from '../smallest-shop.ts';
import { addressOf, type ExampleRequest, type OperationPath, type Saying } from './example-requests.ts';
import { furnish } from './furnish.ts';
import type { Belongings } from './noun-objects.ts';

/** Somebody at the doors. */
export interface Player {
  readonly name: string;
  readonly caller: Caller;
  /** Public id of the workspace that it acts in. */
  readonly workspace: string | null;
}

/** A house with an account that owns something of every kind. */
export interface Cast {
  readonly house: House;
  readonly owner: Caller;
  readonly ownerPrincipal: Principal;
  readonly belongings: Belongings;
  /** Owns the tables; for what no door does. */
  readonly database: pg.Client;
  close(): Promise<void>;
}

export async function openCast(): Promise<Cast> {
  const house = await openHouse('one process', { clock });
  const database = new pg.Client({ connectionString: house.ownerUrl });
  await database.connect();
  const owner = await Caller.register(house.root);
  const identity = await identityOf(database, owner);
  const { rows } = await database.query<{ id: Uuid }>('select id from auth.api_keys where account_id = $1', [
    identity.accountId,
  ]);
  // The key that it calls with, not the spare one.
  const com = await commissionOf(house, identity);
  const inv = await invoiceOf(database, identity.accountId);
  const belongings: Belongings = { ...(await furnish(owner)), com, inv, key: publicId('key', rows[0]!.id) };
  return {
    house,
    owner,
    ownerPrincipal: {
      kind: 'agent',
      ...identity,
      credentialId: rows[0]!.id,
      scopes: SCOPES,
      environment: 'live',
      proof: 'secret',
      workspace: null,
    },
    belongings,
    database,
    async close() {
      await database.end();
      await house.stop();
    },
  };
}

/** An entry of the ledger of an agent, which is made by fees alone. */
export async function commissionOf(house: House, agent: { readonly accountId: Uuid; readonly agentId: Uuid }) {
  const { database, pubSub } = house.backing;
  const { id } = await database.asTenant(wholeAccount({ ...agent, environment: 'live' }), (em) =>
    appendCommission(em, pubSub, agent, {
      type: 'adjustment',
      sourceAgentId: agent.agentId,
      analysisId: null,
      amountCents: 100,
      currency: 'USD',
      deltaRCents: 0,
      rate: 0,
      reverses: null,
      waitsDays: 0,
    }),
  );
  return publicId('com', id);
}

/** An invoice, which the end of a month makes alone. */
async function invoiceOf(database: pg.Client, accountId: Uuid): Promise<string> {
  const { rows } = await database.query<{ id: Uuid }>(
    `insert into billing.invoices (id, account_id, month, currency, analyses_count, platform_fee_cents,
       floor_fee_cents, plan_fee_cents, total_billed_cents, status, due_date)
     values (gen_random_uuid(), $1, '2026-01-01', 'USD', 1, 100, 0, 0, 100, 'invoiced', '2099-02-15') returning id`,
    [accountId],
  );
  return publicId('inv', rows[0]!.id);
}

export async function identityOf(database: pg.Client, caller: Caller): Promise<{ accountId: Uuid; agentId: Uuid }> {
  const agentId = uuidFromPublicId('agent', String((await caller.get('/agents/me')).body['agent_id']))!;
  const { rows } = await database.query<{ account_id: Uuid }>('select account_id from agents.agents where id = $1', [
    agentId,
  ]);
  return { accountId: rows[0]!.account_id, agentId };
}

/** A further key of the owner. */
export async function issueKey(
  { house, ownerPrincipal }: Cast,
  options: { readonly scopes?: readonly Scope[]; readonly kind?: 'svc_live_sk' | 'svc_test_sk' } = {},
): Promise<string> {
  const [accountId, agentId] = [ownerPrincipal.accountId as Uuid, ownerPrincipal.agentId as Uuid];
  return house.backing.database.asTenant(accountId, (em) =>
    house.keys.issue(em, {
      accountId,
      agentId,
      kind: options.kind ?? 'svc_live_sk',
      bond: UNBOUND,
      ...(options.scopes === undefined ? {} : { scopes: options.scopes }),
    }),
  );
}

/** Everybody whom the permission table treats in a way of its own, by name. */
export async function permissionPlayers(cast: Cast): Promise<readonly Player[]> {
  const { house, owner, database } = cast;
  const withKey = (name: string, key: string | null): Player => ({
    name,
    caller: new Caller(house.root, key),
    workspace: null,
  });
  const ended = async (name: string, change: string): Promise<Player> => {
    const key = await issueKey(cast);
    await database.query(
      `update auth.api_keys set ${change} where last4 = right($1, 4) and display_prefix = left($1, 16)`,
      [key],
    );
    return withKey(name, key);
  };
  const players = [
    withKey('nobody', null),
    withKey('an unknown key', generateApiKey('svc_live_sk')),
    await ended('a revoked key', 'revoked_at = now()'),
    await ended('an expired key', `expires_at = now() - interval '1 second'`),
    { name: 'a granted token', caller: await grantedToken(cast), workspace: null },
    withKey('a test key', await issueKey(cast, { kind: 'svc_test_sk' })),
  ];
  for (const scope of SCOPES)
    players.push(
      withKey(`all but ${scope}`, await issueKey(cast, { scopes: SCOPES.filter((other) => other !== scope) })),
    );
  const workspace = String((await owner.post('/workspaces', { name: 'Meeting' })).body['workspace_id']);
  for (const role of ROLES) players.push({ name: role, caller: await memberOf(cast, workspace, role), workspace });
  return players;
}

/** An agent of another account with a role in a workspace, acting in it. */
export async function memberOf({ house, owner }: Cast, workspace: string, role: Role): Promise<Caller> {
  const member = await Caller.register(house.root);
  const agent = String((await member.get('/agents/me')).body['agent_id']);
  const { status } = await owner.post(`/workspaces/${workspace}/agents`, { agent_id: agent, role });
  if (status !== 201) throw new Error(`could not add a member: ${status}`);
  return member.in(workspace);
}

/**
 * A token that the owner granted to an agent of another account: a key of the owner's, kept as a token that was
 * delegated.
 */
async function grantedToken(cast: Cast): Promise<Caller> {
  const key = await issueKey(cast);
  const other = await identityOf(cast.database, await Caller.register(cast.house.root));
  await cast.database.query(
    `with shown as (delete from auth.api_keys where last4 = right($1, 4) and display_prefix = left($1, 16) returning *)
     insert into auth.tokens (id, account_id, agent_id, use, proof, family_id, key_id, lookup, salt, hash, scopes,
       environment, expires_at)
     select id, account_id, $2, 'access', 'delegated', id, $3, lookup, salt, hash, scopes, 'live',
       now() + interval '1 hour' from shown`,
    [key, other.agentId, cast.ownerPrincipal.credentialId],
  );
  return new Caller(cast.house.root, key);
}

/** Sends a request of the contract. */
export function send(
  { operation, pattern }: OperationPath,
  request: ExampleRequest,
  caller: Caller,
): Promise<Response> {
  const isUpload = operation.kind === 'upload';
  const body = isUpload ? SMALLEST_SHOP : request.body === undefined ? undefined : JSON.stringify(request.body);
  return caller.open(operation.method, addressOf(pattern, request), body, {
    ...(body === undefined ? {} : { 'content-type': isUpload ? 'text/csv' : 'application/json' }),
    ...request.headers,
  });
}

/** Silence after which a stream without an end has told what there was to tell. */
const SILENCE_MS = 100;

/** The text of an answer; of an event stream, what it says before it falls silent. */
export async function textOf(response: Response): Promise<string> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response.text();
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const isSilent = text === '' ? new Promise<never>(() => undefined) : sleep(SILENCE_MS, null);
    const piece = await Promise.race([reader.read(), isSilent]);
    if (piece === null || piece.done) break;
    text += piece.value;
  }
  await reader.cancel();
  return text;
}

/** An answer and what came of it: `403 insufficient_permissions role`, or the status alone. */
export async function answerOf(response: Response): Promise<{ readonly outcome: string; readonly text: string }> {
  const text = await textOf(response);
  if (response.ok) return { outcome: String(response.status), text };
  const { error } = JSON.parse(text) as { error: { type: string; code?: string } };
  return { outcome: outcome(response.status, error.type, error.code), text };
}

function outcome(status: unknown, type: unknown, code: unknown): string {
  return [status, type, code]
    .filter((part) => part !== undefined)
    .map(String)
    .join(' ');
}

/** What the graph says to a player: its data as text, and its first refusal. */
export async function say(
  house: House,
  saying: Saying,
  variables: Record<string, unknown>,
  player: Pick<Player, 'caller' | 'workspace'>,
): Promise<{ readonly outcome: string; readonly text: string }> {
  const result =
    saying.kind === 'subscription'
      ? await firstEvent(house, saying, variables, player)
      : await player.caller.graphql(saying.text, variables);
  const error = (result.errors as readonly { extensions?: Record<string, unknown> }[] | undefined)?.[0]?.extensions;
  return {
    outcome: error === undefined ? '200' : outcome(error['http_status'], error['type'], error['reason']),
    text: JSON.stringify(result),
  };
}

/** graphql-transport-ws tells why a connection was refused in the reason of the close frame. */
const STATUS_OF_CLOSE: Readonly<Record<number, number>> = { 4401: 401, 4403: 403, 4429: 429 };

async function firstEvent(
  house: House,
  saying: Saying,
  variables: Record<string, unknown>,
  { caller, workspace }: Pick<Player, 'caller' | 'workspace'>,
): Promise<{ data?: unknown; errors?: unknown }> {
  const connectionParams = {
    ...(caller.key === null ? {} : { authorization: `Bearer ${caller.key}` }),
    ...(workspace === null ? {} : { workspace }),
  };
  const client = createClient({
    url: `${house.root.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    connectionParams,
  });
  try {
    for await (const result of client.iterate({ query: saying.text, variables }))
      return result as { data?: unknown; errors?: unknown };
    return { data: null };
  } catch (error) {
    if (Array.isArray(error)) return { errors: error };
    const { code, reason } = error as { code: number; reason: string };
    return { errors: [{ extensions: { http_status: STATUS_OF_CLOSE[code] ?? code, type: reason } }] };
  } finally {
    await client.dispose();
  }
}
