import { jest } from '@jest/globals';
import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { matchRoute, pathsOf } from '../../rest-adapter/contract.ts';
import { errorBody, problemBody } from '../../rest-adapter/representations/error.ts';
import { fillAccount } from '../filled-account.ts';
import { Caller } from '../house.ts';
import { sized } from '../run-length.ts';
import { DataFolder } from './data-folder.ts';
import { DECLARED, requests, type FuzzRequest } from './fuzz/requests.ts';
import { INSPECTABLE, memoryKept, type Memory } from './inspected-memory.ts';
import { Service } from './service.ts';
import { UNLIMITED } from './unlimited.ts';

/** `FUZZ_REQUESTS=1000000 npm test test/faults/fuzz` goes on for hours; `FUZZ_SEED` makes other requests. */
const TOTAL = Number(process.env['FUZZ_REQUESTS'] ?? sized({ short: 2_000, long: 50_000 }));
const SEED = Number(process.env['FUZZ_SEED'] ?? 380_154);
const CHUNK = 1_000;
/** Enough to keep the service busy; more would wait for the database's connections, and measure that. */
const AT_A_TIME = 8;
const HANG_MS = 5_000;
/**
 * So many requests fill the caches; from then on the service may keep no more than a little more, however long the run.
 */
const WARM = 10_000;
const GROWTH = { liveMib: 6, nativeMib: 80 };
/** Garbage included, which V8 lets grow to a multiple of what it found alive. */
const RESIDENT_MIB = 1_280;
/** What never belongs into an answer: frames of a stack, our files, the words of the databases. */
const LEAK = new RegExp(
  [
    /node_modules|\.[mc]?[jt]s:\d+|\n\s+at \S+ \(|\/tmp\/|ECONNREFUSED|\[object Object\]/,
    /syntax error at or near|violates \S+ constraint|relation "\w|DB::Exception|DriverException/,
  ]
    .map(({ source }) => source)
    .join('|'),
);

/** Statuses that come up often enough for the length of the run. */
const EXPECTED = [200, 201, 204, 400, 401, 404, 405, 409, 415, 422, ...sized({ short: [], long: [202] })];

jest.setTimeout(60_000 + TOTAL * 20);

interface FuzzAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly elapsedMs: number;
}

describe(`${TOTAL} requests made from the document, seed ${SEED}`, () => {
  const folder = new DataFolder();
  const agent = new Agent({ keepAlive: true, maxSockets: AT_A_TIME });
  let service: Service;

  beforeAll(async () => {
    service = await Service.start({
      env: { LIFTGRAPH_DATA_DIR: folder.path, LOG_LEVEL: 'warn', BILLING: 'on', ...UNLIMITED },
      nodeOptions: INSPECTABLE,
    });
  });
  afterAll(async () => {
    agent.destroy();
    if (service?.isOver === false) await service.stop();
    folder.remove();
  });

  const send = (request: FuzzRequest): Promise<FuzzAnswer> =>
    new Promise((resolve, reject) => {
      const startedMs = performance.now();
      const { method, path, headers, body } = request;
      const sent = httpRequest(
        service.root,
        {
          method,
          path,
          agent,
          headers: { ...headers, ...(body === null ? {} : { 'content-length': body.length }) },
          timeout: HANG_MS,
        },
        (response) => {
          const chunks: Buffer[] = [];
          const answer = (): void =>
            resolve({
              status: response.statusCode!,
              headers: response.headers,
              text: Buffer.concat(chunks).toString(),
              elapsedMs: performance.now() - startedMs,
            });
          // What happens has no end, and is answered once it begins.
          const isEndless = response.statusCode === 200 && path.startsWith('/v1/events');
          response.on('data', (chunk: Buffer) => (chunks.push(chunk), isEndless && (answer(), response.destroy())));
          response.on('end', answer);
          response.on('error', reject);
        },
      );
      sent.on('timeout', () => sent.destroy(new Error(`no answer in ${HANG_MS} ms`)));
      sent.on('error', reject);
      sent.end(body ?? undefined);
    });

  test('none fails the service; refusals have the structure; nothing undeclared, leaked, slow; no growth', async () => {
    // This service calls no address of the machine that it runs on.
    const own = await fillAccount(service.root, { without: ['webhooks', 'deliveries'] });
    const other = await Caller.register(service.root);
    const world = {
      keys: [own.caller.key!, other.key!],
      ids: {
        'data-sources': [own.idFor('ds')],
        attribution: [own.idFor('attr')],
        experiments: [own.idFor('exp')],
        agents: [own.idFor('agent')],
      },
    };
    const arbitrary = requests(world);
    const faults: string[] = [];
    const statuses = new Map<number, number>();
    const residentMib: number[] = [];
    const kept: Memory[] = [];

    for (let done = 0; done < TOTAL && faults.length < 20; done += CHUNK) {
      const chunk = fc.sample(arbitrary, { numRuns: Math.min(CHUNK, TOTAL - done), seed: SEED + done });
      let next = 0;
      const worker = async (): Promise<void> => {
        while (next < chunk.length) {
          const request = chunk[next++]!;
          const fault = await send(request).then(
            (answer) => {
              statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
              return faultOf(request, answer);
            },
            (error: unknown) => String(error),
          );
          if (fault !== null)
            faults.push(
              `${fault}: ${request.method} ${request.path.slice(0, 200)} ` +
                `${JSON.stringify(request.headers).slice(0, 300)} ${String(request.body ?? '').slice(0, 300)}`,
            );
        }
      };
      await Promise.all(Array.from({ length: AT_A_TIME }, worker));
      residentMib.push(residentMibOf(service.pid));
      if (done + CHUNK === WARM) kept.push(await memoryKept(service));
    }
    kept.push(await memoryKept(service));
    process.stdout.write(
      `${[...statuses]
        .toSorted(([one], [two]) => one - two)
        .map(([status, count]) => `${status}: ${count}`)
        .join(', ')}; kept ${JSON.stringify(kept.map(rounded))}, resident ${residentMib.join(' ')} MiB\n`,
    );

    expect(faults).toEqual([]);
    expect(service.log().filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([]);
    // A run that is all 401 would prove nothing.
    expect(EXPECTED.filter((status) => (statuses.get(status) ?? 0) < TOTAL / 10_000)).toEqual([]);
    // A run that is over before the caches are full has nothing to compare with.
    const [atFirst, atLast] = [kept[0]!, kept.at(-1)!];
    expect(atLast.liveMib - atFirst.liveMib).toBeLessThan(GROWTH.liveMib);
    expect(atLast.nativeMib - atFirst.nativeMib).toBeLessThan(GROWTH.nativeMib);
    expect(Math.max(...residentMib)).toBeLessThan(RESIDENT_MIB);
  });
});

/** What is wrong with an answer; null when nothing is. */
function faultOf(request: FuzzRequest, answer: FuzzAnswer): string | null {
  const { status, text, headers, elapsedMs } = answer;
  if (status >= 500) return `${status} ${text.slice(0, 300)}`;
  if (elapsedMs > HANG_MS) return `took ${elapsedMs} ms`;
  if (!isDeclared(request, status)) return `${status} is not declared (${text.slice(0, 200)})`;
  if (status >= 400 && request.method !== 'HEAD' && !hasStructure(request, answer))
    return `${status} without the Error structure: ${text.slice(0, 200)}`;
  const [leak] = LEAK.exec(text) ?? [];
  if (
    leak !== undefined &&
    headers['content-type']?.includes('html') !== true &&
    !request.path.startsWith('/docs') &&
    !`${unescaped(request.path)}${String(request.body)}`.includes(leak.trim())
  )
    return `leaks ${leak}`;
  return null;
}

function unescaped(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function isDeclared({ method, path }: FuzzRequest, status: number): boolean {
  const [pathname = ''] = path.split('?');
  if (!pathname.startsWith('/v1/')) return true;
  const route = matchRoute(method, pathname.slice('/v1'.length));
  // An unsupported version is told before the address is looked at.
  if (route.operation === null) return [400, route.allow.length > 0 ? 405 : 404].includes(status);
  const segments = pathname.slice('/v1'.length).split('/');
  const template = pathsOf(route.operation).find(
    (each) =>
      each.split('/').length === segments.length &&
      each.split('/').every((part, index) => part.startsWith('{') || part === segments[index]),
  )!;
  return DECLARED.get(`${method === 'HEAD' ? 'GET' : method} ${template}`)!.has(status);
}

function hasStructure({ path, headers: sent }: FuzzRequest, { headers, text, status }: FuzzAnswer): boolean {
  try {
    const body: unknown = JSON.parse(text);
    // Stock OAuth clients send forms, and read errors as RFC 6749 §5.2 has them.
    if (
      path.startsWith('/v1/oauth/') &&
      sent['content-type']?.includes('form') === true &&
      typeof (body as { error?: unknown }).error === 'string'
    )
      return true;
    if (path.startsWith('/graphql')) return Array.isArray((body as { errors?: unknown }).errors);
    if (headers['svc-api-version'] === undefined || headers['cache-control'] !== 'no-store') return false;
    if (headers['content-type'] === 'application/problem+json') return problemBody.parse(body).status === status;
    return errorBody.parse(body).error.request_id === headers['x-request-id'];
  } catch {
    return false;
  }
}

function residentMibOf(pid: number): number {
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024);
}

function rounded(memory: Memory): Memory {
  return {
    liveMib: Math.round(memory.liveMib),
    nativeMib: Math.round(memory.nativeMib),
    residentMib: Math.round(memory.residentMib),
  };
}
