import { ProblemError } from '../../schema/problems.ts';
import { recordEnvelope } from '../../services/trust/envelope.ts';
import type { Step } from '../call.ts';
import type { HealthCheck } from '../representations/health-report.ts';
import { presentTrust } from '../representations/trust-envelope.ts';
import { CURRENT_VERSION } from '../versions.ts';

const RETRY_AFTER_S = 5;

/** Answers with the state of what every request needs. */
export const checkHealth: Step = {
  name: 'check-health',
  problems: [],
  async run(call) {
    const { door } = call;
    const report = await door.health();
    if (report.status === 'down') {
      const down = Object.entries(report.checks)
        .filter(([, check]) => check.status === 'down')
        .map(([name]) => name);
      throw new ProblemError(
        'service_unavailable',
        `The service is down: ${down.join(', ')}. Try again in a few seconds.`,
        { retryAfterS: RETRY_AFTER_S },
      );
    }
    const now = door.clock();
    const checks = Object.entries(report.checks);
    call.answer = {
      status: 200,
      body: {
        status: report.status,
        version: report.version,
        api_version: CURRENT_VERSION,
        environment: call.environment,
        time: now.toISOString(),
        uptime_seconds: Math.floor(report.uptimeSeconds),
        checks: Object.fromEntries(checks.map(([name, check]) => [name, presentCheck(check)])),
        trust: presentTrust(recordEnvelope(checks.length, now, CURRENT_VERSION)),
      },
      headers: {},
    };
  },
};

function presentCheck({ status, latencyMs, threads, queueDepth, reason }: HealthCheck): Record<string, unknown> {
  return {
    status,
    ...(latencyMs === undefined ? {} : { latency_ms: latencyMs }),
    ...(threads === undefined ? {} : { threads }),
    ...(queueDepth === undefined ? {} : { queue_depth: queueDepth }),
    ...(reason === undefined ? {} : { reason }),
  };
}
