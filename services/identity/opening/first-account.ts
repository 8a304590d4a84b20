import { createHash, timingSafeEqual } from 'node:crypto';
import type { SqlEntityManager } from '@mikro-orm/postgresql';
import { z } from 'zod';
import { ProblemError } from '../../../schema/problems.ts';
import type { Database } from '../../../platform/postgres/database.ts';
import type { KeyStore } from '../keys/key-store.ts';
import { openAccount, type OpenedAccount } from './open-account.ts';
import type { Plan, RequestContext } from '../../../schema/principal.ts';

const request = z.object({ email: z.email().max(320), name: z.string().max(80) });

/**
 * Opens the first account that people run to whoever knows the token of the installation. Accounts of agents do not
 * count: anyone may register one, and must not be able to shut the operator out. The token opens one account; from
 * then on it opens nothing, also where that account came from the command line.
 */
export class FirstAccount {
  readonly #database: Database;
  readonly #keys: KeyStore;
  readonly #plan: Plan;
  readonly #token: Buffer;

  /** @param plan that the account is put on */
  constructor(database: Database, keys: KeyStore, plan: Plan, token: string) {
    this.#database = database;
    this.#keys = keys;
    this.#plan = plan;
    this.#token = digest(token);
  }

  /**
   * @throws ProblemError `insufficient_permissions` / `wrong_token`, `validation_error` (param `/email`, `/name`),
   *   `conflict` (`account_exists`, `operator_already_registered`)
   */
  async open(
    given: { readonly token: string; readonly email: string; readonly name: string },
    context: Pick<RequestContext, 'requestId' | 'origin'>,
  ): Promise<OpenedAccount> {
    // Digests have one length, so that the comparison tells nothing of the token's.
    if (!timingSafeEqual(digest(given.token), this.#token))
      throw new ProblemError(
        'insufficient_permissions',
        'This is not the token. Enter the value of BOOTSTRAP_TOKEN of this installation.',
        { code: 'wrong_token', param: '/token' },
      );
    const parsed = request.safeParse({ email: given.email.trim(), name: given.name.trim() });
    if (!parsed.success) {
      const name = String(parsed.error.issues[0]!.path[0]);
      throw new ProblemError(
        'validation_error',
        name === 'email' ? 'Enter an e-mail address, such as ops@shop.example.' : 'The name has 80 characters at most.',
        { param: `/${name}` },
      );
    }
    const { email, name } = parsed.data;
    return openAccount(
      { database: this.#database, keys: this.#keys, context, precondition: assertNoneYet },
      { email, plan: this.#plan, ...(name === '' ? {} : { name }) },
    );
  }
}

async function assertNoneYet(em: SqlEntityManager): Promise<void> {
  const [row] = await em.execute<[{ open: boolean }]>(`select auth.claim_first_account() as open`);
  if (row.open) return;
  throw new ProblemError(
    'conflict',
    'The first account exists already, so this token has no further use. The operator of this installation creates ' +
      'more accounts with: npx liftgraph admin account create. Lost keys are replaced with: npx liftgraph ' +
      'admin key create.',
    { code: 'account_exists' },
  );
}

function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
