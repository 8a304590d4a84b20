import { ProblemError } from '../../schema/problems.ts';
import { recordEnvelope } from '../../services/trust/envelope.ts';
import type { Environment } from '../../schema/principal.ts';
import type { Call, Step } from '../call.ts';
import type { HealthCheck } from '../representations/health-report.ts';
import { isSandboxHost } from '../sandbox-host.ts';
import { presentTrust } from '../representations/trust-envelope.ts';
import { CURRENT_VERSION } from '../versions.ts';

const RETRY_AFTER_S = 5;
const TEST_KEY = /^Bearer +svc_test_/i;

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
    const environment = addressedEnvironment(call);
    const checks = Object.entries(report.checks);
    call.answer = {
      status: 200,
      body: {
        status: report.status,
        version: report.version,
        api_version: CURRENT_VERSION,
        environment,
        time: now.toISOString(),
        uptime_seconds: Math.floor(report.uptimeSeconds),
        checks: Object.fromEntries(checks.map(([name, check]) => [name, presentCheck(check)])),
        trust: presentTrust(recordEnvelope(checks.length, now, CURRENT_VERSION)),
      },
      headers: environment === 'sandbox' ? { 'SVC-Environment': environment } : {},
    };
  },
};

/** The sandbox for its own host and for what begins like a test key: nobody is asked who is calling. */
function addressedEnvironment({ http, door }: Call): Environment {
  const onSandboxHost = isSandboxHost(door.config.sandboxBaseUrl, http.get('Host'));
  return onSandboxHost || TEST_KEY.test(http.get('Authorization')) ? 'sandbox' : 'live';
}

function presentCheck({ status, latencyMs, threads, queueDepth, reason }: HealthCheck): Record<string, unknown> {
  return {
    status,
    ...(latencyMs === undefined ? {} : { latency_ms: latencyMs }),
    ...(threads === undefined ? {} : { threads }),
    ...(queueDepth === undefined ? {} : { queue_depth: queueDepth }),
    ...(reason === undefined ? {} : { reason }),
  };
}
