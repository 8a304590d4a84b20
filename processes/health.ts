import type { ComputePool } from '../compute/pool.ts';
import type { HealthCheck, HealthReport } from '../rest-adapter/representations/health-report.ts';
import type { BackingServices } from './backing-services.ts';

/** Of the interface, as its OpenAPI document says it. */
const VERSION = '1.0.0';

/** A compute queue this deep makes callers wait for seconds. */
const DEEP_QUEUE = 16;

/** How everything is that a request needs: `down` when one of the stores does not answer. */
export async function healthReport(backing: Pick<BackingServices, 'database' | 'clickhouse'>, pool: ComputePool | null, uptimeSeconds: number): Promise<HealthReport> {
  const [database, clickhouse] = await Promise.all([timed(() => backing.database.ping()), timed(() => backing.clickhouse.ping())]);
  const checks = { database, columnar_store: clickhouse, ...(pool === null ? {} : { compute_pool: poolCheck(pool) }) };
  const statuses = new Set(Object.values(checks).map((check) => check.status));
  const status = statuses.has('down') ? 'down' : statuses.has('degraded') ? 'degraded' : 'ok';
  return { status, version: VERSION, environment: 'live', uptimeSeconds, checks };
}

async function timed(check: () => Promise<void>): Promise<HealthCheck> {
  const startedMs = performance.now();
  try {
    await check();
    return { status: 'ok', latencyMs: Math.round((performance.now() - startedMs) * 10) / 10 };
  } catch {
    // The failure is the answer; whoever owns the connection has logged its cause.
    return { status: 'down', latencyMs: Math.round(performance.now() - startedMs) };
  }
}

function poolCheck(pool: ComputePool): HealthCheck {
  const { threads, queued } = pool.stats();
  return { status: queued > DEEP_QUEUE ? 'degraded' : 'ok', threads, queueDepth: queued };
}
