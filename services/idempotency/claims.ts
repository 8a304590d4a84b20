import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import type { IdempotencyClaim } from '../../schema/principal.ts';
import { Batches } from '../../platform/batches.ts';
import { newUuid } from '../../platform/identifiers.ts';
import type { Database } from '../../platform/postgres/database.ts';
import type { PubSub } from '../../platform/postgres/pub-sub.ts';
import type { Logger } from '../../platform/telemetry/logs.ts';
import { claimSecrets, opened, sealed, type ClaimSecrets } from './claim-secrets.ts';
import { idempotencyConflict, idempotencyInProgress } from './idempotency-key.ts';

/** A request that came with an idempotency key. */
export interface KeyedRequest {
  readonly scope: string;
  readonly key: string;
  /** Hex. */
  readonly fingerprint: string;
}

/** The right to answer a key, for as long as the attempt lives; it must end with {@link keep} or {@link giveUp}. */
export interface HeldClaim<Answer> {
  /** What travels to whoever commits the effect. */
  readonly claim: IdempotencyClaim;
  /**
   * Keeps the answer for a day.
   * @returns null when it was kept; else the answer that another attempt gave meanwhile, which counts
   * @throws ProblemError `idempotency_in_progress` when another attempt has taken over and not answered yet
   */
  keep(answer: Answer): Promise<Answer | null>;
  /** Keeps nothing: whoever comes next may try at once, and finds the effect where there was one. */
  giveUp(): Promise<void>;
}

/** Either the right to answer, or the answer that was given. */
export type Taken<Answer> = { readonly held: HeldClaim<Answer> } | { readonly answer: Answer };

/** Who may answer a key, and what was answered; exact across processes. */
export interface Claims {
  /**
   * Takes the key, or tells what was answered to it; while another attempt runs, waits up to ten seconds for its end,
   * unless sixteen of the same scope wait already.
   * @throws ProblemError `idempotency_conflict` (the key came with another request), `idempotency_in_progress`
   */
  take<Answer>(request: KeyedRequest, answer: z.ZodType<Answer>): Promise<Taken<Answer>>;
}

export interface ClaimsOptions {
  readonly database: Database;
  readonly pubSub: PubSub;
  /** The secret of the installation that seals things at rest. */
  readonly secret: string;
  readonly logger: Logger;
  /** How long an attempt may be silent before another one takes over; 30,000 ms. */
  readonly leaseMs?: number;
  /** Longest wait for another attempt; 10,000 ms. */
  readonly waitMs?: number;
}

interface TakenRow {
  readonly state: 'taken' | 'answered' | 'conflict' | 'running';
  readonly effect: Buffer | null;
  readonly answer: Buffer | null;
  readonly lease_left_ms: number;
}

const LEASE_MS = 30_000;
const WAIT_MS = 10_000;
/** Requests of one scope that may wait at a time, in this process: each asks the database about once a second. */
const MAX_WAITING = 16;
/** Notifications can be lost with their connection, and the end of a lease sends none. */
const POLL_MS = 1_000;
const RENEWALS_PER_LEASE = 3;

/**
 * Claims in PostgreSQL: one statement to take, one to keep, each for all who come together; by the database's clock.
 */
export class PostgresClaims implements Claims {
  readonly #options: ClaimsOptions;
  readonly #secretsOf: (scope: string, key: string) => ClaimSecrets;
  /** How many wait, by scope. */
  readonly #waiting = new Map<string, number>();
  readonly #unknown = new Batches<Attempt, boolean>((attempts) => this.#takeUnknown(attempts));
  /** A commit of its own for each would make the disk the limit. */
  readonly #keeping = new Batches<Keeping, Buffer | null>((answers) => this.#keepAll(answers), { atOnce: 1 });

  constructor(options: ClaimsOptions) {
    this.#options = options;
    this.#secretsOf = claimSecrets(options.secret);
  }

  async take<Answer>({ scope, key, fingerprint }: KeyedRequest, answer: z.ZodType<Answer>): Promise<Taken<Answer>> {
    const secrets = this.#secretsOf(scope, key);
    const attempt = {
      scope,
      id: Buffer.from(secrets.id, 'base64url'),
      attemptId: newUuid(),
      fingerprint: Buffer.from(fingerprint, 'hex'),
    };
    const deadlineMs = performance.now() + (this.#options.waitMs ?? WAIT_MS);
    if (await this.#unknown.add(attempt))
      return { held: this.#held(scope, { ...secrets, attemptId: attempt.attemptId, hasEffect: false }, answer) };
    let row = await this.#try(attempt);
    if (row.state === 'running') row = await this.#waitInShare(scope, row, () => this.#waitFor(attempt, deadlineMs));
    switch (row.state) {
      case 'conflict':
        throw idempotencyConflict();
      case 'running':
        throw idempotencyInProgress();
      case 'answered':
        return { answer: answer.parse(opened(secrets, 'answer', row.answer!)) };
      case 'taken':
        return {
          held: this.#held(scope, { ...secrets, attemptId: attempt.attemptId, hasEffect: row.effect !== null }, answer),
        };
    }
  }

  /** Waits, unless too many of the scope do so already. */
  async #waitInShare(scope: string, row: TakenRow, wait: () => Promise<TakenRow>): Promise<TakenRow> {
    const before = this.#waiting.get(scope) ?? 0;
    if (before >= MAX_WAITING) return row;
    this.#waiting.set(scope, before + 1);
    try {
      return await wait();
    } finally {
      const left = this.#waiting.get(scope)! - 1;
      if (left === 0) this.#waiting.delete(scope);
      else this.#waiting.set(scope, left);
    }
  }

  async #waitFor(attempt: Attempt, deadlineMs: number): Promise<TakenRow> {
    const ended = this.#options.pubSub.subscribe(`idempotency.${attempt.id.toString('hex')}`);
    try {
      let told = ended.next();
      for (;;) {
        // Asked once the subscription is open, so that an end in between is not missed.
        const row = await this.#try(attempt);
        const leftMs = deadlineMs - performance.now();
        if (row.state !== 'running' || leftMs <= 0) return row;
        const pause = new AbortController();
        const pauseMs = Math.min(leftMs, POLL_MS, Math.max(1, row.lease_left_ms));
        const isTold = await Promise.race([
          told.then(() => true),
          sleep(pauseMs, false, { signal: pause.signal }).catch(() => false),
        ]);
        pause.abort();
        if (isTold) told = ended.next();
      }
    } finally {
      void ended.return?.();
    }
  }

  /**
   * Which of the keys nobody has sent in the last day, and are taken therefore. Nearly all are: the others cost one
   * question more.
   */
  async #takeUnknown(attempts: readonly Attempt[]): Promise<readonly boolean[]> {
    const values = [
      attempts.map(({ id }) => id),
      attempts.map(({ fingerprint }) => fingerprint),
      attempts.map(({ attemptId }) => attemptId),
      this.#leaseMs,
    ];
    const rows = await this.#options.database.ask<{ attempt_id: string }>({
      name: 'idempotency.take_unknown',
      text: 'select * from idempotency.take_unknown($1, $2, $3, $4) as attempt_id',
      values,
    });
    const taken = new Set(rows.map((row) => row.attempt_id));
    return attempts.map(({ attemptId }) => taken.has(attemptId));
  }

  async #keepAll(answers: readonly Keeping[]): Promise<readonly (Buffer | null)[]> {
    const values = [
      answers.map(({ id }) => id),
      answers.map(({ attemptId }) => attemptId),
      answers.map(({ answer }) => answer),
    ];
    const rows = await this.#options.database.perform<{ others: Buffer | null }>({
      name: 'idempotency.keep_all',
      text: 'select * from idempotency.keep_all($1, $2, $3) as others',
      values,
    });
    return rows.map(({ others }) => others);
  }

  async #try(attempt: Attempt): Promise<TakenRow> {
    const [row] = await this.#options.database.perform<TakenRow>(
      {
        name: 'idempotency.take',
        text: 'select * from idempotency.take($1, $2, $3, $4)',
        values: [attempt.id, attempt.fingerprint, attempt.attemptId, this.#leaseMs],
      },
      attempt.scope,
    );
    return row!;
  }

  #held<Answer>(scope: string, claim: IdempotencyClaim, schema: z.ZodType<Answer>): HeldClaim<Answer> {
    const { database, logger } = this.#options;
    const keeping = this.#keeping;
    const owner = [Buffer.from(claim.id, 'base64url'), claim.attemptId] as const;
    const renewal = setInterval(() => {
      database
        .perform(
          {
            name: 'idempotency.renew',
            text: 'select idempotency.renew($1, $2, $3)',
            values: [...owner, this.#leaseMs],
          },
          scope,
        )
        .catch((error: unknown) => logger.warn({ err: error }, 'the lease of an idempotency key could not be renewed'));
    }, this.#leaseMs / RENEWALS_PER_LEASE);
    renewal.unref();
    const giveUp = async (): Promise<void> => {
      clearInterval(renewal);
      // The lease ends by itself where this fails; what went wrong before is what the client must hear.
      await database
        .perform({ name: 'idempotency.give_up', text: 'select idempotency.give_up($1, $2)', values: owner }, scope)
        .catch((error: unknown) => logger.warn({ err: error }, 'an idempotency key could not be given up'));
    };
    return {
      claim,
      giveUp,
      async keep(answer) {
        clearInterval(renewal);
        const others = await keeping
          .add({ id: owner[0], attemptId: owner[1], answer: sealed(claim, 'answer', answer) })
          .catch(async (error: unknown) => {
            // The next try need not wait for the end of the lease.
            await giveUp();
            throw error;
          });
        if (others === null) return null;
        if (others.length === 0) throw idempotencyInProgress();
        return schema.parse(opened(claim, 'answer', others));
      },
    };
  }

  get #leaseMs(): number {
    return this.#options.leaseMs ?? LEASE_MS;
  }
}

interface Attempt {
  readonly scope: string;
  readonly id: Buffer;
  readonly attemptId: string;
  readonly fingerprint: Buffer;
}

/** An answer on its way to the claim of its attempt. */
interface Keeping {
  readonly id: Buffer;
  readonly attemptId: string;
  readonly answer: Buffer;
}
