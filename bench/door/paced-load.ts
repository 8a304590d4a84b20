import { Agent, request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

export interface PacedRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: () => Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Counts of answers by their kind; latencies in milliseconds from when a request was due, not from when it left. */
export interface PacedResult {
  readonly '2xx': number;
  readonly non2xx: number;
  readonly errors: number;
  /** In seconds. */
  readonly duration: number;
  readonly latency: { readonly p50: number; readonly p99: number; readonly max: number };
  /** Of answers without success alone; autocannon does not tell. */
  readonly slowestRefusalMs?: number;
}

const TICK_MS = 2;

/**
 * Sends requests at an even rate whatever comes back, so that a slow answer does not slow the load down and its wait is
 * counted for those behind it, too (an open system; autocannon sends a second's worth at once and then waits for the
 * next).
 */
export async function pacedLoad(
  request: PacedRequest,
  perSecond: number,
  seconds: number,
  maxSockets: number,
): Promise<PacedResult> {
  const agent = new Agent({ keepAlive: true, maxSockets, maxFreeSockets: maxSockets });
  const latencies: number[] = [];
  let slowestRefusalMs = 0;
  const counts = { '2xx': 0, non2xx: 0, errors: 0 };
  const startMs = performance.now();
  const underWay = new Set<Promise<void>>();
  const sendOne = async (dueMs: number): Promise<void> => {
    const outcome = await send(request, agent);
    const latencyMs = performance.now() - dueMs;
    counts[outcome] += 1;
    latencies.push(latencyMs);
    if (outcome === 'non2xx') slowestRefusalMs = Math.max(slowestRefusalMs, latencyMs);
  };
  const total = Math.round(perSecond * seconds);
  for (let sent = 0; sent < total;) {
    for (
      const dueCount = Math.min(total, ((performance.now() - startMs) / 1000) * perSecond);
      sent < dueCount;
      sent += 1
    ) {
      const answered = sendOne(startMs + (sent / perSecond) * 1000).finally(() => underWay.delete(answered));
      underWay.add(answered);
    }
    await sleep(TICK_MS);
  }
  await Promise.all(underWay);
  const duration = (performance.now() - startMs) / 1000;
  agent.destroy();
  const sorted = latencies.toSorted((one, other) => one - other);
  const at = (share: number): number =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
  return {
    ...counts,
    duration,
    latency: { p50: at(0.5), p99: at(0.99), max: at(1) },
    slowestRefusalMs: Math.round(slowestRefusalMs),
  };
}

function send({ url, method, headers, body }: PacedRequest, agent: Agent): Promise<'2xx' | 'non2xx' | 'errors'> {
  return new Promise((resolve) => {
    const sending = httpRequest(url, { method, agent, headers: headers() }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode! < 300 ? '2xx' : 'non2xx'));
      response.once('error', () => resolve('errors'));
    });
    sending.once('error', () => resolve('errors'));
    sending.end(body);
  });
}
