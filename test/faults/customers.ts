import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom, type Random } from '../../compute/numerics/random.ts';
import { Caller, type Answer } from '../house.ts';
import { rotateKey, type AcknowledgedSource, type AcknowledgedTenant, type Ledger } from './ledger.ts';
import { isRefusedRefresh, logIn, noteRefresh, openedSession, refresh } from './sessions.ts';
import { recentDays, shopRows } from './shop-rows.ts';

const PAUSE_MS = 50;
const FILES = 2;
const ANALYSES = 2;
const REFRESHES = 3;

/**
 * Customers who register, rotate their keys, log in, refresh their tokens, connect, upload and analyse, over and over,
 * whatever happens to the service. What was answered with a success goes into the ledger; what was not answered is
 * asked again: it may have happened or not.
 */
export class Customers {
  readonly ledger: Ledger = [];
  readonly #root: string;
  readonly #random: Random;
  #acknowledged = 0;
  #closing = false;
  #waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  #files = 0;

  constructor(root: string, seed: number) {
    this.#root = root;
    this.#random = seededRandom(seed);
  }

  callerOf = (key: string): Caller => new Caller(this.#root, key);

  /** Lets this many act at once; resolves when each has finished its shop after {@link close}. */
  async act(count: number): Promise<void> {
    await Promise.all(
      Array.from({ length: count }, async () => {
        while (!this.#closing) await this.#keepShop();
      }),
    );
  }

  /** No new shops from now on. */
  close(): void {
    this.#closing = true;
  }

  /** Resolves after this many more acknowledgements. */
  async acknowledged(more: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ count: this.#acknowledged + more, resolve });
    await promise;
  }

  async #keepShop(): Promise<void> {
    // Another operator at each try: an answer that was lost may have been that of a registration.
    const { body: agent } = await this.#insist(201, () =>
      new Caller(this.#root, null).post('/agents/register', {
        name: 'fault-customer',
        operator_id: crypto.randomUUID(),
      }),
    );
    const tenant: AcknowledgedTenant = {
      agentId: String(agent['agent_id']),
      key: String(agent['api_key']),
      rotations: [],
      sessions: [],
      sources: [],
    };
    this.ledger.push(tenant);
    const caller = this.callerOf(await this.#rotateKey(tenant));
    await this.#keepSession(tenant);

    const { body: connected } = await this.#insist(201, () =>
      caller.post('/data-sources/connect', { type: 'csv_upload', credentials: {} }),
    );
    const source: AcknowledgedSource = {
      id: String(connected['data_source_id']),
      touchpoints: 0,
      conversions: 0,
      analyses: [],
    };
    tenant.sources.push(source);

    for (let file = 0; file < FILES; file += 1) {
      const rows = shopRows({
        users: 100 + Math.floor(900 * this.#random()),
        channels: 12,
        touches: 6,
        seed: (this.#files += 1),
      });
      await this.#insist(202, () =>
        caller.send('POST', `/data-sources/${source.id}/records`, rows.csv, { 'content-type': 'text/csv' }),
      );
      source.touchpoints += rows.touchpoints;
      source.conversions += rows.conversions;
    }
    for (let run = 0; run < ANALYSES; run += 1) {
      const { body } = await this.#insist(200, () =>
        caller.post(
          '/attribution',
          { data_source_id: source.id, date_range: recentDays() },
          { prefer: 'respond-async' },
        ),
      );
      source.analyses.push(String(body['id']));
    }
  }

  /** Replaces the key that the registration gave, under one idempotency key however often it has to be asked. */
  async #rotateKey(tenant: AcknowledgedTenant): Promise<string> {
    const idempotencyKey = crypto.randomUUID();
    const { text, body } = await this.#insist(200, () => rotateKey(this.callerOf(tenant.key), idempotencyKey));
    const key = String(body['key']);
    tenant.rotations.push({ idempotencyKey, text, key });
    return key;
  }

  /**
   * Logs in and refreshes. Where it is not known whether a token was used up, showing it again may end the session:
   * then it logs in anew.
   */
  async #keepSession(tenant: AcknowledgedTenant): Promise<void> {
    const { agentId, sessions } = tenant;
    const enter = async () =>
      openedSession(agentId, await this.#insist(200, () => logIn(this.#root, agentId, tenant.key)));
    sessions.push(await enter());
    for (let refreshes = 0; refreshes < REFRESHES;) {
      const session = sessions.at(-1)!;
      const answer = await this.#insist(
        200,
        () => refresh(this.#root, agentId, session.refreshToken),
        isRefusedRefresh,
      );
      if (answer.status === 200) {
        noteRefresh(session, answer);
        refreshes += 1;
      } else {
        session.hasEnded = true;
        sessions.push(await enter());
      }
    }
  }

  /**
   * Asks until the answer is this one, or one that tells that an earlier try, whose answer was lost, has happened.
   * @throws Error for an answer that a fault does not excuse
   */
  async #insist(
    wanted: number,
    ask: () => Promise<Answer>,
    hasHappened: (answer: Answer) => boolean = () => false,
  ): Promise<Answer> {
    for (let wasLost = false; ; wasLost = true) {
      const answer = await ask().catch(noAnswer);
      if (answer?.status === wanted) {
        this.#count();
        return answer;
      }
      if (answer !== undefined && wasLost && hasHappened(answer)) return answer;
      if (answer !== undefined && answer.status !== 503 && !isStillHeld(answer))
        throw new Error(`answered with ${answer.status}: ${answer.text}`);
      await sleep(PAUSE_MS);
    }
  }

  #count(): void {
    this.#acknowledged += 1;
    for (const { resolve } of this.#waiting.filter(({ count }) => count <= this.#acknowledged)) resolve();
    this.#waiting = this.#waiting.filter(({ count }) => count > this.#acknowledged);
  }
}

/** Whoever held the idempotency key was killed; its lease has not ended yet. */
function isStillHeld({ status, body }: Answer): boolean {
  return status === 409 && (body['error']?.['type'] as unknown) === 'idempotency_in_progress';
}

/**
 * The connection was refused, or broke before or within the answer: all that fetch throws is a TypeError of Node's own
 * realm.
 */
function noAnswer(error: unknown): undefined {
  if ((error as { name?: unknown }).name === 'TypeError') return undefined;
  throw error;
}
