import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type QueryConfig } from 'pg';
import { ProblemError } from '../../schema/problems.ts';
import type { Logger } from '../telemetry/logs.ts';
import type { Database, SqlEntityManager } from './database.ts';
import type { MigrationOwner } from './migrate.ts';
import { outageAsProblem } from './outage.ts';
import { RESYNC, Subscription, type Resync } from './subscription.ts';

export { RESYNC, type Resync };

/** Topics of small JSON messages between all processes on one database. Nobody listening, nothing kept. */
export interface PubSub {
  /** Sent when the transaction of `em` commits, or never. */
  publish(em: SqlEntityManager, topic: string, payload: unknown): Promise<void>;
  /** Sent now. Messages of one process arrive in the order of the calls. @throws ProblemError `service_unavailable` */
  publishNow(topic: string, payload: unknown): Promise<void>;
  /**
   * From this call on, every message of the topic. {@link RESYNC} comes in place of messages that may have been missed
   * (the connection was lost, or the consumer fell too far behind): read the state anew.
   */
  subscribe<T = unknown>(topic: string): AsyncIterableIterator<T | Resync>;
  close(): Promise<void>;
}

export interface PubSubOptions {
  readonly url: string;
  readonly database: Database;
  readonly logger: Logger;
  /** How often the connection is probed; 10,000 ms. */
  readonly heartbeatMs?: number;
}

/** Messages too large for NOTIFY wait here for their readers, ten minutes. */
export const pubSubOwner: MigrationOwner = {
  schema: 'pub_sub',
  migrations: [
    {
      name: '001-large-messages',
      up: [
        'create table pub_sub.large_messages (id bigint generated always as identity primary key, payload jsonb not ' +
          'null, sent_at timestamptz not null default now())',
        'create index on pub_sub.large_messages (sent_at)',
        `create function pub_sub.send(topic text, payload jsonb) returns void language plpgsql as $$
          declare
            message text := json_build_object('topic', topic, 'payload', payload)::text;
            message_id bigint;
          begin
            -- NOTIFY takes less than 8000 bytes.
            if octet_length(message) > 7900 then
              delete from pub_sub.large_messages where sent_at < now() - interval '10 minutes';
              insert into pub_sub.large_messages (payload) values (payload) returning id into message_id;
              message := json_build_object('topic', topic, 'large', message_id)::text;
            end if;
            perform pg_notify('liftgraph', message);
          end $$`,
      ],
    },
  ],
};

const SEND_SQL = 'select pub_sub.send(?, ?::jsonb)';
const SEND_NOW = { text: 'select pub_sub.send($1, $2::jsonb)', query_timeout: 2_000 };
const HEARTBEAT_MS = 10_000;
const GOODBYE_MS = 500;
const HEARTBEAT_TIMEOUT_MS = 2_000;
const RECONNECT_FIRST_MS = 50;
const RECONNECT_LAST_MS = 2_000;

interface Message {
  readonly topic: string;
  readonly payload?: unknown;
  readonly large?: number;
}

/**
 * Opens the one connection that listens and publishes for this process.
 * @throws ProblemError `service_unavailable` when the server cannot be reached; lost later, it comes back by itself
 */
export async function createPubSub(options: PubSubOptions): Promise<PubSub> {
  const pubSub = new PostgresPubSub(options);
  try {
    await pubSub.connect();
  } catch (error) {
    await pubSub.close();
    throw outageAsProblem(error);
  }
  return pubSub;
}

class PostgresPubSub implements PubSub {
  readonly #options: PubSubOptions;
  readonly #subscriptions = new Map<string, Set<Subscription<unknown>>>();
  #client: Client | undefined;
  #heartbeat: NodeJS.Timeout | undefined;
  #reconnect: NodeJS.Timeout | undefined;
  #closed = false;
  /** Large messages are fetched, so everything behind them waits: order is kept. */
  #delivery: Promise<void> = Promise.resolve();
  #undelivered = 0;

  constructor(options: PubSubOptions) {
    this.#options = options;
  }

  async publish(em: SqlEntityManager, topic: string, payload: unknown): Promise<void> {
    await em.execute(SEND_SQL, [topic, JSON.stringify(payload)]);
  }

  async publishNow(topic: string, payload: unknown): Promise<void> {
    const client = this.#client;
    if (client === undefined)
      throw new ProblemError(
        'service_unavailable',
        'The database cannot be reached at the moment. Try again in a few seconds.',
        { retryAfterS: 2 },
      );
    try {
      await client.query({ ...SEND_NOW, values: [topic, JSON.stringify(payload)] });
    } catch (error) {
      throw outageAsProblem(error);
    }
  }

  subscribe<T>(topic: string): AsyncIterableIterator<T | Resync> {
    const ofTopic = this.#subscriptions.get(topic) ?? new Set();
    this.#subscriptions.set(topic, ofTopic);
    const subscription = new Subscription<T>(() => {
      ofTopic.delete(subscription as Subscription<unknown>);
      if (ofTopic.size === 0 && this.#subscriptions.get(topic) === ofTopic) this.#subscriptions.delete(topic);
    });
    ofTopic.add(subscription as Subscription<unknown>);
    if (this.#closed) void subscription.return();
    return subscription;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#reconnect);
    clearInterval(this.#heartbeat);
    for (const subscription of this.#allSubscriptions()) void subscription.return();
    const client = this.#client;
    this.#client = undefined;
    // On a dead network the goodbye is never answered.
    await Promise.race([client?.end(), sleep(GOODBYE_MS, undefined, { ref: false })]);
    await this.#delivery;
  }

  async connect(): Promise<void> {
    const client = new Client({
      connectionString: this.#options.url,
      application_name: 'liftgraph-pub-sub',
      connectionTimeoutMillis: HEARTBEAT_TIMEOUT_MS,
      keepAlive: true,
      // Messages follow each other without waiting for the answers, still in order.
      pipeline: true,
    });
    client.on('error', (error) => this.#lost(client, error));
    client.on('end', () => this.#lost(client));
    client.on('notification', (notification) => this.#receive(notification.payload ?? ''));
    try {
      await client.connect();
      await client.query({ text: 'listen liftgraph', query_timeout: HEARTBEAT_TIMEOUT_MS } as QueryConfig);
    } catch (error) {
      void client.end();
      throw error;
    }
    if (this.#closed) return void client.end();
    this.#client = client;
    this.#heartbeat = setInterval(() => this.#beat(client), this.#options.heartbeatMs ?? HEARTBEAT_MS);
    this.#heartbeat.unref();
  }

  #beat(client: Client): void {
    client
      .query({ text: 'select 1', query_timeout: HEARTBEAT_TIMEOUT_MS } as QueryConfig)
      .catch((error: Error) => this.#lost(client, error));
  }

  #lost(client: Client, error?: Error): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    clearInterval(this.#heartbeat);
    void client.end();
    if (this.#closed) return;
    this.#options.logger.warn({ err: error }, 'the LISTEN connection was lost');
    this.#reconnectIn(RECONNECT_FIRST_MS);
  }

  #reconnectIn(delayMs: number): void {
    this.#reconnect = setTimeout(() => {
      this.connect().then(
        () => this.#resync(),
        () => this.#closed || this.#reconnectIn(Math.min(delayMs * 2, RECONNECT_LAST_MS)),
      );
    }, delayMs);
  }

  #resync(): void {
    this.#options.logger.info('the LISTEN connection is back');
    for (const subscription of this.#allSubscriptions()) subscription.push(RESYNC);
  }

  #receive(text: string): void {
    const message = JSON.parse(text) as Message;
    const ofTopic = this.#subscriptions.get(message.topic);
    if (ofTopic === undefined) return;
    if (message.large === undefined && this.#undelivered === 0) {
      for (const subscription of ofTopic) subscription.push(message.payload);
      return;
    }
    this.#delivery = this.#deliverAfter(this.#delivery, message, [...ofTopic]);
  }

  async #deliverAfter(
    previous: Promise<void>,
    message: Message,
    recipients: readonly Subscription<unknown>[],
  ): Promise<void> {
    this.#undelivered += 1;
    await previous;
    const payload = message.large === undefined ? message.payload : await this.#fetchLarge(message.large);
    this.#undelivered -= 1;
    for (const subscription of recipients) subscription.push(payload);
  }

  /** RESYNC when the message is no longer there: whoever needs it reads the state instead. */
  async #fetchLarge(id: number): Promise<unknown> {
    try {
      const rows = await this.#options.database.asNobody((em) =>
        em.execute<{ payload: unknown }[]>('select payload from pub_sub.large_messages where id = ?', [id]),
      );
      return rows[0] === undefined ? RESYNC : rows[0].payload;
    } catch (error) {
      this.#options.logger.warn({ err: error, id }, 'a large message could not be read');
      return RESYNC;
    }
  }

  #allSubscriptions(): Subscription<unknown>[] {
    return [...this.#subscriptions.values()].flatMap((ofTopic) => [...ofTopic]);
  }
}
