import { operation } from '../operation.ts';
import { healthReport } from '../representations/health-report.ts';
import { exampleTrust } from '../representations/trust-envelope.ts';

export const healthOperations = [
  operation({
    id: 'getHealth',
    tag: 'Health',
    method: 'GET',
    path: '/health',
    kind: 'publicRead',
    action: null,
    document: null,
    summary: 'Ask whether the service is up',
    description:
      'Answers without a key; a test key, or the host of the sandbox, asks for the sandbox. 503 when something is ' +
      'down that every request needs. `degraded` when it is slow, or when the disk is nearly full: reads go on ' +
      'then, and changes are refused.',
    success: { status: 200, description: 'It is up', schema: healthReport },
    problems: [],
    variables: () => ({}),
    present: (data) => data,
    example: {
      response: {
        status: 'ok',
        version: '1.0.0',
        api_version: '2026-02-01',
        environment: 'live',
        time: '2026-02-01T09:30:00.000Z',
        uptime_seconds: 86_400,
        checks: {
          database: { status: 'ok', latency_ms: 2 },
          columnar_store: { status: 'ok', latency_ms: 3 },
          queue: { status: 'ok', queue_depth: 0 },
          gateway: { status: 'ok', latency_ms: 1 },
          compute_pool: { status: 'ok', threads: 8, queue_depth: 0 },
          disk: { status: 'ok' },
        },
        trust: exampleTrust(1),
      },
    },
  }),
];
