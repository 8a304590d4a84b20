import { Gauge, type Registry } from 'prom-client';
import type { Database } from '../../platform/postgres/database.ts';
import type { Logger } from '../../platform/telemetry/logs.ts';

interface BacklogRow {
  /** Numbers of type bigint come as text. */
  readonly events: string;
  readonly oldest_event_s: number;
  readonly deliveries: string;
  readonly oldest_delivery_s: number;
}

interface Backlog extends BacklogRow {
  readonly queues: readonly { readonly name: string; readonly waiting: number }[];
}

/** Whoever scrapes waits for this. */
const TIMEOUT_MS = 1_000;

/**
 * Shows what waits to be done in the whole installation, asked of the database once per scrape. While that is out of
 * reach these metrics are absent: nothing is better than what was true a while ago.
 */
export function showBacklog(registry: Registry, database: Database, logger: Logger): void {
  let reading: Promise<Backlog | null> | undefined;
  // All of them are collected in the same moment.
  const read = (): Promise<Backlog | null> => {
    reading ??= backlogOf(database)
      .catch((error: unknown) => {
        logger.debug({ err: error }, 'the backlog could not be read for the metrics');
        return null;
      })
      .finally(() => (reading = undefined));
    return reading;
  };
  const show = (name: string, help: string, figure: (backlog: Backlog) => number): void => {
    const gauge: Gauge = new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const backlog = await read();
        if (backlog === null) gauge.remove();
        else gauge.set(figure(backlog));
      },
    });
  };
  show(
    'liftgraph_outbox_events_waiting',
    'Events of the whole installation in the outbox that were not relayed yet.',
    ({ events }) => Number(events),
  );
  show(
    'liftgraph_outbox_oldest_event_age_seconds',
    'Age of the eldest event that was not relayed yet; 0 when there is none.',
    ({ oldest_event_s: seconds }) => seconds,
  );
  show(
    'liftgraph_webhook_deliveries_due',
    'Webhook deliveries of the whole installation whose time has come and that nobody is sending.',
    ({ deliveries }) => Number(deliveries),
  );
  show(
    'liftgraph_webhook_oldest_delivery_due_seconds',
    'How long the eldest of these has been due; 0 when there is none.',
    ({ oldest_delivery_s: seconds }) => seconds,
  );
  const jobs: Gauge<'queue'> = new Gauge({
    name: 'liftgraph_jobs_waiting',
    help:
      'Jobs of the whole installation that could begin and wait for a worker, by queue; counted anew every tenth ' +
      'of the lease (JOB_LEASE_S).',
    labelNames: ['queue'],
    registers: [registry],
    async collect() {
      const backlog = await read();
      jobs.reset();
      for (const { name, waiting } of backlog?.queues ?? []) jobs.set({ queue: name }, waiting);
    },
  });
}

/** @throws ProblemError `service_unavailable` */
function backlogOf(database: Database): Promise<Backlog> {
  return database.asNobody(
    async (em) => {
      const [row] = await em.execute<[BacklogRow]>('select * from events.backlog()');
      return {
        ...row,
        queues: await em.execute<{ name: string; waiting: number }[]>(
          'select name, ready_count as waiting from jobs.queue order by name',
        ),
      };
    },
    { timeoutMs: TIMEOUT_MS },
  );
}
