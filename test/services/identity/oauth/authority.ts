import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import pg from 'pg';
import { createAccount } from '../../../../services/identity/accounts/account-store.ts';
import type { ApiKeyKind } from '../../../../services/identity/keys/api-key.ts';
import { UNBOUND } from '../../../../services/identity/keys/key-bond.ts';
import { KeyStore } from '../../../../services/identity/keys/key-store.ts';
import { authOwner } from '../../../../services/identity/migrations.ts';
import { PostgresAdmission } from '../../../../services/identity/admission/postgres-admission.ts';
import type { RequestContext, Scope } from '../../../../schema/principal.ts';
import { openOauth, type Oauth } from '../../../../services/identity/oauth/oauth.ts';
import { oauthSecretKind } from '../../../../services/identity/oauth/token.ts';
import type { OauthClient } from '../../../../services/identity/oauth/oauth-client.ts';
import { RATE_CLASSES, type RateLimits } from '../../../../services/identity/limits/rate-limits.ts';
import { eventsOwner } from '../../../../services/event-migrations.ts';
import { newUuid, publicId, type Uuid } from '../../../../platform/identifiers.ts';
import { openDatabase } from '../../../../platform/postgres/database.ts';
import { createPubSub, pubSubOwner } from '../../../../platform/postgres/pub-sub.ts';
import { createLogger } from '../../../../platform/telemetry/logs.ts';
import { FrozenClock } from '../../../frozen-clock.ts';
import { createTestDatabase, PATIENCE_MS } from '../../../platform.ts';

export const CALLBACK = 'https://app.example/callback';
export const ARRIVAL = {
  requestId: 'req_0351EFTBArmmpvm2tVZ2Qh',
  origin: { clientAddress: '203.0.113.7', userAgent: null },
  onSandboxHost: false,
};
export const CONTEXT: RequestContext = {
  requestId: ARRIVAL.requestId,
  principal: null,
  apiVersion: '2026-02-01',
  origin: ARRIVAL.origin,
};

/** An agent that is a client, and its key. */
export interface RegisteredClient extends OauthClient {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** The authorization server on a database of its own, with people to try it. */
export interface Authority {
  readonly oauth: Oauth;
  /** The owner of the tables: sees all tenants. */
  readonly owner: pg.Client;
  /** What expiries are judged by. */
  readonly clock: FrozenClock;
  registerClient(options?: { scopes?: readonly Scope[]; isPublic?: boolean }): Promise<RegisteredClient>;
  /** A key of an account without an agent. */
  issueKey(kind: ApiKeyKind, scopes?: readonly Scope[]): Promise<{ readonly key: string; readonly accountId: Uuid }>;
  /** A code as the consent page gives it, and the verifier that fits. */
  authorise(
    client: RegisteredClient,
    key: string,
    scope?: string,
  ): Promise<{ readonly code: string; readonly codeVerifier: string }>;
  /** Whether a token works: an access token at the door, a refresh token by what is stored of it. */
  isLive(token: string): Promise<boolean>;
  /** Types, severities and reasons of what an account was told. */
  auditOf(accountId: string | null): Promise<readonly string[]>;
  close(): Promise<void>;
}

export async function openAuthority(): Promise<Authority> {
  const pepper = randomBytes(32);
  const logger = createLogger({
    level: 'silent',
    format: 'json',
    destination: new Writable({ write: (_chunk, _encoding, done) => done() }),
  });
  const testDatabase = await createTestDatabase([pubSubOwner, authOwner, eventsOwner]);
  const database = await openDatabase({
    url: testDatabase.applicationUrl,
    entities: [],
    applicationName: 'test',
    poolMax: 20,
    logger,
    timeoutMs: PATIENCE_MS,
  });
  const pubSub = await createPubSub({ url: testDatabase.applicationUrl, database, logger });
  const keys = new KeyStore(database, pepper);
  const rateLimits = Object.fromEntries(
    RATE_CLASSES.map((name) => [name, { perMinute: 1_000_000, perDay: null }]),
  ) as unknown as RateLimits;
  const admission = new PostgresAdmission({ database, pubSub, keyPepper: pepper, rateLimits, logger });
  const clients = new Map<Uuid, OauthClient>();
  const oauth = openOauth({
    database,
    keyPepper: pepper,
    admission,
    findClient: async (agentId) => clients.get(agentId) ?? null,
    publicBaseUrl: 'https://api.example/v1',
  });
  const owner = new pg.Client({ connectionString: testDatabase.ownerUrl });
  await owner.connect();

  async function issueKey(
    kind: ApiKeyKind,
    scopes?: readonly Scope[],
    agentId: Uuid | null = null,
  ): Promise<{ key: string; accountId: Uuid }> {
    const accountId = newUuid();
    const key = await database.asTenant(accountId, async (em) => {
      await createAccount(em, { accountId, operatorId: randomUUID(), operatorEmail: null });
      return keys.issue(em, { accountId, agentId, kind, bond: UNBOUND, ...(scopes === undefined ? {} : { scopes }) });
    });
    return { key, accountId };
  }

  return {
    oauth,
    owner,
    clock: new FrozenClock(testDatabase.ownerUrl),
    issueKey: (kind, scopes) => issueKey(kind, scopes),
    async registerClient({ scopes, isPublic = false } = {}) {
      const agentId = newUuid();
      const { key, accountId } = await issueKey('svc_agent_sk', scopes, agentId);
      const client: OauthClient = { agentId, accountId, name: 'test-client', redirectUris: [CALLBACK], isPublic };
      clients.set(agentId, client);
      return { ...client, clientId: publicId('agent', agentId), clientSecret: key };
    },
    async authorise(client, key, scope) {
      const codeVerifier = randomBytes(32).toString('base64url');
      const query = new URLSearchParams({
        response_type: 'code',
        client_id: client.clientId,
        redirect_uri: CALLBACK,
        code_challenge: createHash('sha256').update(codeVerifier).digest('base64url'),
        code_challenge_method: 'S256',
        ...(scope === undefined ? {} : { scope }),
      });
      const examination = await oauth.authorizations.examine(query);
      if (examination.outcome !== 'asked') throw new Error(`refused: ${JSON.stringify(examination)}`);
      const location = new URL(await oauth.authorizations.approve(examination.request, key, ARRIVAL));
      return { code: location.searchParams.get('code')!, codeVerifier };
    },
    async isLive(token) {
      if (oauthSecretKind(token) === 'access')
        return admission.admit({ ...ARRIVAL, authorization: `Bearer ${token}` }).then(
          () => true,
          () => false,
        );
      const { rows } = await owner.query<{ live: boolean }>(
        `select revoked_at is null and used_at is null and expires_at > auth.clock() as live from auth.tokens where ` +
          `sha256(salt || convert_to($1, 'UTF8')) = hash`,
        [token],
      );
      return rows[0]?.live === true;
    },
    async auditOf(accountId) {
      const { rows } = await owner.query<{ body: { type: string; severity: string; details: { reason?: string } } }>(
        'select body from events.told_audit_events where tenant_id is not distinct from $1 order by event_id',
        [accountId],
      );
      return rows.map(({ body }) => [body.type, body.severity, body.details.reason].filter(Boolean).join(' '));
    },
    async close() {
      await owner.end();
      await pubSub.close();
      await database.close();
      await testDatabase.drop();
    },
  };
}
