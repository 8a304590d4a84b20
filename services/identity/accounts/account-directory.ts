import { Client } from 'pg';
import { isUuid, type Uuid } from '../../../platform/identifiers.ts';
import type { Plan } from '../../../schema/principal.ts';

/** An account as whoever runs the installation sees it. */
export interface AccountRecord {
  readonly accountId: Uuid;
  readonly operatorEmail: string | null;
  readonly operatorId: string | null;
  readonly name: string | null;
  readonly plan: Plan;
  /** Of its agent; null for accounts that people run. */
  readonly tier: string | null;
  readonly agentId: Uuid | null;
  readonly requestsPerMinute: number | null;
  readonly requestsPerDay: number | null;
  /** How many keys work now. */
  readonly workingKeys: number;
  readonly createdAt: Date;
}

const ACCOUNTS = `select account_id as "accountId", operator_email as "operatorEmail", operator_id as "operatorId",
  name, plan, tier,
    requests_per_minute as "requestsPerMinute", requests_per_day as "requestsPerDay", created_at as "createdAt",
    (select agent_id from auth.api_keys key where key.account_id = account.account_id and agent_id is not null
      limit 1) as "agentId",
    (select count(*)::int from auth.api_keys key where key.account_id = account.account_id and revoked_at is null
      and coalesce(least(expires_at, grace_ends_at) > auth.clock(), true)) as "workingKeys"
  from auth.accounts account`;

/** All accounts, over a connection of the owner of the schemas: nobody who serves requests can see them. */
export class AccountDirectory implements AsyncDisposable {
  readonly #client: Client;

  private constructor(client: Client) {
    this.#client = client;
  }

  /** @param ownerUrl of the role that owns the tables; any other would see nothing */
  static async open(ownerUrl: string): Promise<AccountDirectory> {
    const client = new Client({ connectionString: ownerUrl, application_name: 'liftgraph-admin' });
    await client.connect();
    return new AccountDirectory(client);
  }

  /** Newest first. */
  async list(): Promise<readonly AccountRecord[]> {
    return (await this.#client.query<AccountRecord>(`${ACCOUNTS} order by created_at desc, account_id desc`)).rows;
  }

  /** The account with this id, e-mail or operator id; undefined where there is none. */
  async find(reference: string): Promise<AccountRecord | undefined> {
    const condition = isUuid(reference)
      ? '(account_id = $1::uuid or operator_id = $1::text)'
      : reference.includes('@')
        ? 'lower(operator_email) = lower($1)'
        : 'operator_id = $1';
    return (await this.#client.query<AccountRecord>(`${ACCOUNTS} where ${condition}`, [reference])).rows[0];
  }

  /** Puts an account on a plan; limits that are null follow it. */
  async setPlan(
    accountId: Uuid,
    plan: Plan,
    limits: { readonly requestsPerMinute: number | null; readonly requestsPerDay: number | null },
  ): Promise<void> {
    await this.#client.query(
      `update auth.accounts set plan = $2, requests_per_minute = $3, requests_per_day = $4 where account_id = $1`,
      [accountId, plan, limits.requestsPerMinute, limits.requestsPerDay],
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.end();
  }
}
