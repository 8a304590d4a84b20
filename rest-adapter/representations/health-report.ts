import { z } from 'zod';
import { ENVIRONMENTS } from '../../schema/value-lists.ts';
import { trustEnvelope } from './trust-envelope.ts';

export type CheckStatus = 'ok' | 'degraded' | 'down';

/** How one thing is that requests need. */
export interface HealthCheck {
  readonly status: CheckStatus;
  readonly latencyMs?: number;
  readonly threads?: number;
  readonly queueDepth?: number;
  /** Why it is not `ok`, in words that everybody may read. */
  readonly reason?: string;
  /** Reads go on, and new uploads and analyses are refused. */
  readonly refusesWork?: true;
}

/**
 * What the port behind GET /health reports. Names of checks are snake_case: database, columnar_store, queue,
 * gateway, compute_pool, disk.
 */
export interface HealthReport {
  readonly status: CheckStatus;
  /** Of the software. */
  readonly version: string;
  readonly uptimeSeconds: number;
  readonly checks: Readonly<Record<string, HealthCheck>>;
}

const check = z.object({
  status: z.enum(['ok', 'degraded', 'down']),
  latency_ms: z.number().optional(),
  threads: z.int().optional(),
  queue_depth: z.int().optional(),
  reason: z.string().optional(),
});

export const healthReport = z
  .object({
    status: z.enum(['ok', 'degraded']),
    version: z.string(),
    api_version: z.iso.date(),
    environment: z.enum(ENVIRONMENTS),
    time: z.iso.datetime(),
    uptime_seconds: z.number(),
    checks: z.record(z.string(), check),
    trust: trustEnvelope,
  })
  .meta({ id: 'Health' });
