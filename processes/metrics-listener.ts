import type { RequestListener } from 'node:http';
import type { Middleware } from 'koa';
import { ProblemError } from '../schema/problems.ts';
import { newRequestId } from '../platform/identifiers.ts';
import type { MetricsDoor } from '../platform/telemetry/metrics-door.ts';
import { errorObject } from '../rest-adapter/error-answer.ts';

/** `GET /metrics` of a process that faces clients; what is refused there is answered as everything else is. */
export function metricsPage(door: MetricsDoor): Middleware {
  return async (http, next) => {
    if (!door.takes(http.req)) return next();
    const { mediaType, text } = await door.read(http.req);
    http.set({ 'Cache-Control': 'no-store', 'Content-Type': mediaType });
    http.body = text;
    return undefined;
  };
}

/** `GET /metrics` in front of a listener that serves other processes only. */
export function metricsListener(door: MetricsDoor, publicBaseUrl: string, inside: RequestListener): RequestListener {
  return (request, response) => {
    if (!door.takes(request)) return inside(request, response);
    door.read(request).then(
      ({ mediaType, text }) =>
        response
          .writeHead(200, { 'cache-control': 'no-store', 'content-type': mediaType })
          .end(request.method === 'HEAD' ? undefined : text),
      (thrown: unknown) => {
        const problem =
          thrown instanceof ProblemError
            ? thrown
            : new ProblemError('internal_error', 'The metrics cannot be read because of an error on our side.', {
                cause: thrown,
              });
        const body = JSON.stringify({ error: errorObject(problem, newRequestId(), publicBaseUrl) });
        response
          .writeHead(problem.problem.status, {
            'cache-control': 'no-store',
            'content-type': 'application/json; charset=utf-8',
          })
          .end(request.method === 'HEAD' ? undefined : body);
      },
    );
  };
}
