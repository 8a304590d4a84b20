import type { IncomingMessage } from 'node:http';
import type { Middleware } from 'koa';
import type { HealthReport } from '../rest-adapter/representations/health-report.ts';

/** Addresses of the probes; they take GET and HEAD. */
export const PROBE_PATHS = ['/healthz', '/readyz'] as const;

/** Whether a request is for one of them. */
export function isProbe({ method, url = '' }: Pick<IncomingMessage, 'method' | 'url'>): boolean {
  return (method === 'GET' || method === 'HEAD') && (PROBE_PATHS as readonly string[]).includes(url.split('?', 1)[0]!);
}

/**
 * `GET /healthz`: the process lives. `GET /readyz`: a new upload or analysis would be taken (200), or not (503):
 * something is down, the disk is nearly full, or the process drains. A load balancer looks elsewhere then.
 */
export function probes(health: () => Promise<HealthReport>, isDraining: () => boolean): Middleware {
  return async (http, next) => {
    if (!isProbe(http.req)) return next();
    http.set('Cache-Control', 'no-store');
    if (http.path === '/healthz') {
      http.body = { status: 'ok' };
      return undefined;
    }
    const report = await health();
    const takesWork = report.status !== 'down' && !Object.values(report.checks).some(({ refusesWork }) => refusesWork);
    const ready = takesWork && !isDraining();
    http.status = ready ? 200 : 503;
    http.body = { ready, draining: isDraining(), checks: report.checks };
    return undefined;
  };
}
