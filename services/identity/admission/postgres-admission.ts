import { createSecretKey, type KeyObject } from 'node:crypto';
import { ProblemError } from '../../../schema/problems.ts';
import { Batches } from '../../../platform/batches.ts';
import { Coalescer } from '../../../platform/coalescer.ts';
import type { Database } from '../../../platform/postgres/database.ts';
import type { PubSub } from '../../../platform/postgres/pub-sub.ts';
import type { Logger } from '../../../platform/telemetry/logs.ts';
import { credentialEnded } from '../keys/credential-standing.ts';
import type { Admission, Admitted, Arrival, ShownCredential } from './admission.ts';
import { apiKeyKind, apiKeyLookup, matchesApiKey } from '../keys/api-key.ts';
import { CredentialEnds } from './credential-ends.ts';
import { OpenStreams } from './open-streams.ts';
import type { Environment, Principal, Proof, Scope } from '../../../schema/principal.ts';
import {
  RateLimitError,
  type RateLimit,
  type RateLimits,
  type RateWindow,
  type StrangerClass,
} from '../limits/rate-limits.ts';
import { RequestsUnderWay } from './requests-under-way.ts';
import { RefusalLog, type RefusedCredential } from './refusal-log.ts';
import { enterWorkspace, WorkspaceStore } from '../workspaces/workspace-store.ts';

const BEARER_PATTERN = /^Bearer +(\S+)$/i;
const ACCESS_TOKEN_PATTERN = /^svc_at_[A-Za-z0-9_-]{43}$/;
const NONCE_PATTERN = /^[A-Za-z0-9_-]{8,128}$/;
/**
 * So many requests of one caller at a time crowd nobody: what came while this process was busy comes to it all at once.
 */
const MODEST = 100;
const PARAM = { param: 'header:Authorization' };

export interface PostgresAdmissionOptions {
  readonly database: Database;
  readonly pubSub: PubSub;
  readonly keyPepper: Buffer;
  readonly rateLimits: RateLimits;
  readonly logger: Logger;
}

/** Where the windows of a subject stand; both sides null where nothing was counted. */
interface WindowColumns {
  readonly minute_left: number | null;
  readonly day_left: number | null;
  readonly minute_resets_s: number;
  readonly day_resets_s: number;
  readonly is_news: boolean;
}

interface CredentialRow extends WindowColumns {
  readonly id: string;
  readonly key_id: string;
  readonly account_id: string;
  readonly agent_id: string | null;
  readonly salt: Buffer;
  readonly hash: Buffer;
  readonly scopes: Scope[];
  readonly environment: Environment;
  readonly proof: Proof;
  readonly api_version: string | null;
  readonly verdict: 'admitted' | 'ended' | 'wrong_host' | 'wrong_address' | RateWindow['name'];
  readonly minute_limit: number;
  readonly day_limit: number | null;
  /** The grant of a token, or a key that ends but for a rotation; null for a key without an end. */
  readonly bond: string | null;
  /** How many of those who asked together are let in; the verdict is what the others hear. */
  readonly calls: number;
}

/** What admission is asked of everybody who shows the same secret from the same address. */
interface Showing {
  readonly secret: string;
  readonly clientAddress: string;
  readonly onSandboxHost: boolean;
}

/** A nonce, and whom it belongs to. */
interface ScopedNonce {
  readonly scope: string;
  readonly nonce: string;
}

/**
 * Admission by a question to PostgreSQL that is asked after the request came: exact across processes, immediate on
 * revocation.
 */
export class PostgresAdmission implements Admission {
  readonly #database: Database;
  readonly #keyPepper: KeyObject;
  readonly #rateLimits: RateLimits;
  /** As the database takes them: `{"pro": [500, null], …}`. */
  readonly #limitsJson: string;
  readonly #refusals: RefusalLog;
  readonly #ends: CredentialEnds;
  readonly #streams = new OpenStreams();
  readonly #underWay = new RequestsUnderWay();
  readonly #showings = new Coalescer<Showing, CredentialRow | undefined>((showing, calls) =>
    this.#find(showing, calls),
  );
  readonly #nonces = new Batches<ScopedNonce, boolean>((nonces) => this.#areFresh(nonces));

  constructor({ database, pubSub, keyPepper, rateLimits, logger }: PostgresAdmissionOptions) {
    this.#database = database;
    this.#keyPepper = createSecretKey(keyPepper);
    this.#rateLimits = rateLimits;
    this.#limitsJson = JSON.stringify(
      Object.fromEntries(
        Object.entries(rateLimits).map(([name, { perMinute, perDay }]) => [name, [perMinute, perDay]]),
      ),
    );
    this.#refusals = new RefusalLog(database, logger);
    this.#ends = new CredentialEnds(database, pubSub, logger);
  }

  refuseWhenOverloaded(authorization: string | undefined): void {
    this.#database.refuseWhenOverloaded({
      announced: this.#showings.gathering,
      isModest: this.#underWay.of(authorization) <= MODEST,
    });
  }

  arrive(authorization: string | undefined): () => void {
    return this.#underWay.begin(authorization);
  }

  async admit(arrival: Arrival): Promise<Admitted> {
    this.refuseWhenOverloaded(arrival.authorization);
    const secret = shownSecret(arrival.authorization);
    const {
      origin: { clientAddress },
      onSandboxHost,
    } = arrival;
    const { place, answer } = this.#showings.join(`${secret} ${clientAddress} ${onSandboxHost}`, {
      secret,
      clientAddress,
      onSandboxHost,
    });
    const row = await this.#known(await answer, arrival);
    if (place >= row.calls) await this.#refuse(row, arrival, place === row.calls);
    // Those who came behind him are counted, too, as if one had been let in after the other.
    const windows = windowsOf(row, limitsOf(row), row.calls - 1 - place);
    return {
      principal: principalOf(row),
      pinnedVersion: row.api_version,
      windows,
      credential: { id: row.id, keyId: row.key_id, accountId: row.account_id },
    };
  }

  async authenticate(arrival: Arrival): Promise<Principal> {
    const secret = shownSecret(arrival.authorization);
    const { origin, onSandboxHost } = arrival;
    const showing = { secret, clientAddress: origin.clientAddress, onSandboxHost };
    const row = await this.#known(await this.#find(showing, 0), arrival);
    if (row.verdict !== 'admitted') await this.#refuse(row, arrival, true);
    return principalOf(row);
  }

  async #known(row: CredentialRow | undefined, arrival: Arrival): Promise<CredentialRow> {
    if (row !== undefined) return row;
    await this.#refusals.authFailed(arrival, 'unknown_credential', null);
    throw new ProblemError(
      'invalid_api_key',
      'The key or token is unknown. Check that it was sent whole, or use another one.',
      PARAM,
    );
  }

  /** The credential behind a secret, with so many calls counted; undefined where nobody was given it. */
  async #find({ secret, clientAddress, onSandboxHost }: Showing, calls: number): Promise<CredentialRow | undefined> {
    const rows = await this.#database.ask<CredentialRow>({
      name: 'auth.admit',
      text: 'select * from auth.admit($1, $2, $3, $4, $5)',
      values: [
        apiKeyLookup(this.#keyPepper, secret),
        clientAddress === 'unknown' ? null : clientAddress,
        onSandboxHost,
        this.#limitsJson,
        calls,
      ],
    });
    // Absence must cost what a mismatch costs.
    if (rows.length === 0) matchesApiKey(undefined, secret);
    return rows.find((candidate) => matchesApiKey(candidate, secret));
  }

  enterWorkspace(principal: Principal, workspaceId: string): Promise<Principal> {
    return enterWorkspace(new WorkspaceStore(this.#database), principal, workspaceId, 'header:SVC-Workspace');
  }

  /** @param isFirst whether those before him, who asked together with him, were let in */
  async #refuse(row: CredentialRow, arrival: Arrival, isFirst: boolean): Promise<never> {
    const credential: RefusedCredential = {
      id: row.id,
      keyId: row.key_id,
      accountId: row.account_id,
      agentId: row.agent_id,
      environment: row.environment,
    };
    switch (row.verdict) {
      case 'ended':
        await this.#refusals.authFailed(arrival, 'revoked_or_expired', credential);
        throw credentialEnded();
      case 'wrong_host':
        await this.#refusals.authFailed(arrival, 'wrong_host', credential);
        throw new ProblemError(
          'invalid_api_key',
          'The sandbox takes test keys only (svc_test_sk_…). Send live keys to the production address.',
          { ...PARAM, code: 'live_key_in_sandbox' },
        );
      case 'wrong_address':
        await this.#refusals.authFailed(arrival, 'address_not_allowed', credential);
        throw new ProblemError(
          'ip_not_allowed',
          `The key may not be used from ${arrival.origin.clientAddress}. Send the request from an address on its ` +
            `allowlist.`,
          PARAM,
        );
      case 'admitted':
        throw new Error('a call was neither let in nor refused');
      default:
        throw await this.#exceeded(
          arrival,
          windowsOf(row, limitsOf(row)),
          row.verdict,
          row.is_news && isFirst,
          credential,
        );
    }
  }

  async countStranger(
    rateClass: StrangerClass,
    subject: string,
    arrival: Pick<Arrival, 'requestId' | 'origin'>,
  ): Promise<readonly RateWindow[]> {
    this.refuseWhenOverloaded(undefined);
    const { perMinute, perDay } = this.#rateLimits[rateClass];
    const [row] = await this.#database.ask<WindowColumns & { exceeded: RateWindow['name'] | null }>({
      name: 'auth.count_call',
      text: 'select * from auth.count_call($1, $2, $3)',
      values: [`${rateClass}:${subject}`, perMinute, perDay],
    });
    const windows = windowsOf(row!, { perMinute, perDay });
    if (row!.exceeded !== null) throw await this.#exceeded(arrival, windows, row!.exceeded, row!.is_news, null);
    return windows;
  }

  async #exceeded(
    arrival: Pick<Arrival, 'requestId' | 'origin'>,
    windows: readonly RateWindow[],
    name: RateWindow['name'],
    isNews: boolean,
    credential: RefusedCredential | null,
  ): Promise<RateLimitError> {
    const exceeded = windows.find((window) => window.name === name)!;
    if (isNews) await this.#refusals.limitExceeded(arrival, { window: name, limit: exceeded.limit }, credential);
    return new RateLimitError(windows, exceeded);
  }

  async consumeNonce(principal: Principal | null, clientAddress: string, nonce: string | undefined): Promise<void> {
    const param = { param: 'header:X-Nonce' };
    if (nonce === undefined || nonce === '')
      throw new ProblemError(
        'missing_nonce',
        'A request that changes state needs the header X-Nonce: a fresh UUID for every request, retries included. ' +
          'Over WebSocket it is extensions.nonce of the operation.',
        param,
      );
    if (!NONCE_PATTERN.test(nonce))
      throw new ProblemError(
        'invalid_request',
        'X-Nonce must be 8 to 128 letters, digits, - or _; a UUID will do.',
        param,
      );
    const scope = principal === null ? `address:${clientAddress}` : `credential:${principal.credentialId}`;
    if (!(await this.#nonces.add({ scope, nonce })))
      throw new ProblemError(
        'duplicate_nonce',
        'This nonce was used in the last 24 hours. Send a new X-Nonce with every request.',
        param,
      );
  }

  /** Uses up the nonces of those who came together, and tells which had not been used before. */
  async #areFresh(nonces: readonly ScopedNonce[]): Promise<readonly boolean[]> {
    const values = [nonces.map(({ scope }) => scope), nonces.map(({ nonce }) => nonce)];
    const fresh = await this.#database.ask<{ place: number }>({
      name: 'auth.consume_nonces',
      text: 'select * from auth.consume_nonces($1, $2) as place',
      values,
    });
    const places = new Set(fresh.map(({ place }) => place));
    return nonces.map((_nonce, index) => places.has(index + 1));
  }

  whenEnded(credential: ShownCredential, ended: () => void): () => void {
    return this.#ends.watch(credential, ended);
  }

  openStream(credential: ShownCredential): () => void {
    return this.#streams.open(credential);
  }

  async noticeRefusal(
    { problem: { type, code } }: ProblemError,
    { principal, credential }: Pick<Admitted, 'principal' | 'credential'>,
    arrival: Pick<Arrival, 'requestId' | 'origin'>,
  ): Promise<void> {
    if (type !== 'rate_limit_exceeded' || code !== 'concurrency') return;
    const { agentId, environment } = principal;
    await this.#refusals.crowdSeen(arrival, { ...credential, agentId, environment });
  }
}

/** The key or token of the header. @throws ProblemError `invalid_api_key` for anything that can be neither */
function shownSecret(authorization: string | undefined): string {
  const refused = (message: string) => new ProblemError('invalid_api_key', message, PARAM);
  if (authorization === undefined)
    throw refused(
      'Send the header Authorization: Bearer <API key or access token>. POST /v1/agents/register gives you a key.',
    );
  const secret = BEARER_PATTERN.exec(authorization)?.[1];
  if (secret === undefined) throw refused('The Authorization header must read: Bearer <API key or access token>.');
  if (apiKeyKind(secret) === undefined && !ACCESS_TOKEN_PATTERN.test(secret))
    throw refused(
      'A key has the form svc_{agent|live|test}_sk_ and 24 letters or digits, an access token svc_at_ and 43 ' +
        'characters.',
    );
  return secret;
}

function principalOf(row: CredentialRow): Principal {
  return {
    kind: row.agent_id === null ? 'account' : 'agent',
    accountId: row.account_id,
    agentId: row.agent_id,
    credentialId: row.id,
    scopes: row.scopes,
    environment: row.environment,
    proof: row.proof,
    workspace: null,
    ...(row.bond === null ? {} : { bond: row.bond }),
  };
}

function limitsOf({ minute_limit: perMinute, day_limit: perDay }: CredentialRow): RateLimit {
  return { perMinute, perDay };
}

/** @param later calls that are counted in the row and came after this one */
function windowsOf(row: WindowColumns, { perMinute, perDay }: RateLimit, later = 0): readonly RateWindow[] {
  const minute: RateWindow = {
    name: 'minute',
    limit: perMinute,
    remaining: (row.minute_left ?? 0) + later,
    resetsInS: row.minute_resets_s,
  };
  return perDay === null
    ? [minute]
    : [minute, { name: 'day', limit: perDay, remaining: (row.day_left ?? 0) + later, resetsInS: row.day_resets_s }];
}
