import { Client } from 'pg';

/**
 * Stops the database clock that windows and expiries are judged by, or moves it: no test may fail because a minute
 * ended under it. Only the owner of the schema can do this.
 */
export class FrozenClock {
  readonly #ownerUrl: string;

  constructor(ownerUrl: string) {
    this.#ownerUrl = ownerUrl;
  }

  /** From now on it is this moment: that of the call, moved by `offset`, an SQL interval. */
  async stop(offset = '0 s'): Promise<void> {
    await this.#replace(async (client) => {
      const { rows } = await client.query<{ at: string }>(`select (now() + interval '${offset}')::text as at`);
      return `timestamptz '${rows[0]!.at}'`;
    });
  }

  /** From now on it is this moment. */
  async stopAt(moment: Date): Promise<void> {
    await this.#replace(async () => `timestamptz '${moment.toISOString()}'`);
  }

  /** It runs, `offset` before or behind the real one. */
  async run(offset = '0 s'): Promise<void> {
    await this.#replace(async () => `now() + interval '${offset}'`);
  }

  async #replace(moment: (client: Client) => Promise<string>): Promise<void> {
    const client = new Client({ connectionString: this.#ownerUrl });
    await client.connect();
    try {
      await client.query(
        `create or replace function auth.clock() returns timestamptz language sql stable as $$ select ` +
          `${await moment(client)} $$`,
      );
    } finally {
      await client.end();
    }
  }
}
