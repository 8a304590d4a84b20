import { setTimeout as sleep } from 'node:timers/promises';
import { useRateLimits } from '../services/identity/limits/rate-limits.ts';
import { ConfigError, loadConfig, type Config } from './config/config.ts';
import { describeConfig } from './config/describe-config.ts';
import { createLogger, type Logger } from '../platform/telemetry/logs.ts';
import { useTrustWeights } from '../services/trust/weights.ts';
import { ProblemError } from '../schema/problems.ts';
import { killWithin } from './last-resort.ts';
import { watchParent } from './parent-watch.ts';
import type { Running } from './running.ts';

/** Exit status of a start that was refused for a reason that the user can mend. */
const REFUSED = 2;
/**
 * Whoever sends SIGTERM may have a load balancer in front, which looks at /readyz once a second; Ctrl-C is a person.
 */
const ANNOUNCE_MS = { SIGTERM: 1_500, SIGINT: 0 } as const;
/** Databases that are started beside the service may take longer than it does. */
const PATIENCE_MS = 30_000;
const PAUSE_MS = 1_000;
/** Whoever stops a service waits for 20 s before he kills it; then its databases would be left behind. */
const MOST_STOP_MS = 19_000;

const config = configOrExit();
if (process.argv.includes('--print-config')) {
  process.stdout.write(`${describeConfig(config).join('\n')}\n`);
  process.exit(0);
}
const logger = createLogger({ level: config.logLevel, format: config.logFormat });
let running: Running | undefined;
let stopping = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void stop(signal, ANNOUNCE_MS[signal]));
watchParent(() => void stop('the end of the parent process', 0));

try {
  running = await startPatiently(config, logger);
  if (stopping) {
    await running.stop();
    process.exit(0);
  }
  process.stdout.write(`${running.welcome.join('\n')}\n`);
} catch (error) {
  logger.debug({ err: error }, 'the start was refused');
  process.stderr.write(`liftgraph cannot start: ${reasonOf(error)}\n`);
  process.exit(REFUSED);
}

async function stop(cause: string, announceMs: number): Promise<void> {
  if (stopping) return;
  stopping = true;
  logger.info({ cause }, 'stopping');
  killWithin(MOST_STOP_MS);
  // Before the start is over there is nothing to stop yet; it stops itself then.
  if (running === undefined) return;
  try {
    await running.stop(announceMs);
    process.exit(0);
  } catch (error) {
    logger.error({ err: error }, 'stopping failed');
    process.exit(1);
  }
}

/** Starts, as soon as its databases can be reached. */
async function startPatiently(role: Config, log: Logger): Promise<Running> {
  const deadlineMs = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await startRole(role, log);
    } catch (error) {
      if (stopping || !isOutage(error) || performance.now() > deadlineMs) throw error;
      log.warn({ reason: reasonOf(error) }, 'a database cannot be reached yet, trying again');
      await sleep(PAUSE_MS);
    }
  }
}

function isOutage(error: unknown): error is ProblemError {
  return error instanceof ProblemError && error.type === 'service_unavailable';
}

/** Who starts the service may know what a client may not: what exactly cannot be reached. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return isOutage(error) && error.cause instanceof Error
    ? `${error.message} (${error.cause.message || (error.cause as NodeJS.ErrnoException).code})`
    : error.message;
}

/** Loads the code of the role alone: a worker needs no gateway. */
async function startRole(role: Config, log: Logger): Promise<Running> {
  useTrustWeights(role.trustWeights);
  useRateLimits(role.rateLimits);
  if (role.role === 'all') return (await import('./roles/all.ts')).startAll(role, log);
  if (role.role === 'gateway') return (await import('./roles/gateway.ts')).startGateway(role, log);
  if (role.role === 'worker') return (await import('./roles/worker.ts')).startWorkerRole(role, log);
  return (await import('./roles/subgraph.ts')).startSubgraph(role, log);
}

function configOrExit(): Config {
  try {
    return loadConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return process.exit(REFUSED);
  }
}
