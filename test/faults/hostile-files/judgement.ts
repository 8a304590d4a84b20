import { randomUUID } from 'node:crypto';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { z } from 'zod';
import { errorBody } from '../../../rest-adapter/representations/error.ts';
import { sized } from '../../run-length.ts';
import type { HostileCase } from './cases.ts';

/** Whom a case is sent by: an account of its own, so that none waits for another. */
export interface Sender {
  readonly root: string;
  readonly key: string;
  readonly source: string;
  readonly agent: Agent;
}

export interface HostileAnswer {
  readonly status: number;
  readonly requestId: string | undefined;
  readonly text: string;
  readonly elapsedMs: number;
}

/** No file takes longer to be answered, whatever it is; the short run does three other things at a time. */
export const HANG_MS = sized({ short: 30_000, long: 10_000 });
/** What a file can be refused with: none of them is about who sends it, how often, or what else goes on. */
const REFUSALS: ReadonlySet<number> = new Set([400, 413, 415, 422]);
/** What never belongs into an answer: frames of a stack, our files, the words of the databases. */
const LEAKS = [
  /node_modules|\.[mc]?[jt]s:\d+|\n\s+at \S+ \(|\/tmp\/|ECONN|\[object Object\]/,
  /syntax error at or near|violates \S+ constraint|relation "\w|DB::Exception|DriverException/,
];
const MOST_ERRORS = 100;

const rejects = z.array(
  z.object({
    line: z.int().min(0),
    column: z.string().nullable(),
    code: z.string().min(1),
    message: z.string().min(1),
  }),
);
const report = z.object({
  accepted: z.int().min(0),
  rejected: z.int().min(0),
  errors: rejects.max(MOST_ERRORS).optional(),
});
const graphAnswer = z.object({
  data: z.object({ addRecords: z.object({ ingest: report }).nullable() }).nullish(),
  errors: z.array(z.object({ message: z.string().min(1), extensions: z.object({ code: z.string() }) })).optional(),
});
const PATHS = { connect: '/v1/data-sources/connect', graphql: '/graphql' } as const;

/** Sends a case and waits for its answer. @throws Error when none comes in {@link HANG_MS}, or the connection breaks */
export async function sendCase({ door, headers, body }: HostileCase, sender: Sender): Promise<HostileAnswer> {
  const { root, key, source, agent } = sender;
  const path = door === undefined ? `/v1/data-sources/${source}/records` : PATHS[door];
  const bytes = door === 'graphql' ? Buffer.from(body.toString('latin1').replace('$SOURCE', source), 'latin1') : body;
  const startedMs = performance.now();
  const { promise, resolve, reject } = Promise.withResolvers<HostileAnswer>();
  const identity = { authorization: `Bearer ${key}`, 'x-nonce': randomUUID(), 'content-length': bytes.length };
  const sending = httpRequest(
    `${root}${path}`,
    { method: 'POST', agent, headers: { ...headers, ...identity } },
    (response: IncomingMessage) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () =>
        resolve({
          status: response.statusCode!,
          requestId: response.headers['x-request-id'] as string | undefined,
          text: Buffer.concat(chunks).toString(),
          elapsedMs: performance.now() - startedMs,
        }),
      );
    },
  );
  // An answer may come before all is sent, and the connection close behind it.
  sending.on('error', (error) => setTimeout(() => reject(error), 50));
  const timer = setTimeout(() => sending.destroy(new Error(`no answer in ${HANG_MS} ms`)), HANG_MS);
  sending.end(bytes);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
  }
}

/** What is wrong with the answer to a case; null when nothing is. */
export function faultOf(hostile: HostileCase, answer: HostileAnswer): string | null {
  const { status, text, elapsedMs } = answer;
  const shown = text.slice(0, 300);
  if (status >= 500) return `${status}: ${shown}`;
  if (elapsedMs > HANG_MS) return `took ${Math.round(elapsedMs)} ms`;
  const leak = LEAKS.map((each) => each.exec(text)?.[0]).find((found) => found !== undefined);
  if (leak !== undefined && !hostile.body.includes(leak.trim())) return `leaks ${leak}: ${shown}`;
  try {
    const body: unknown = JSON.parse(text);
    if (hostile.door === 'graphql') return graphFault(hostile, body, status);
    if (status >= 300) return refusalFault(body, answer);
    return countFault(hostile, z.object({ ingest: report.nullable() }).or(report).parse(body));
  } catch (error) {
    return `${status} without the structure (${String(error).slice(0, 200)}): ${shown}`;
  }
}

function refusalFault(body: unknown, { status, requestId }: HostileAnswer): string | null {
  const { error } = errorBody.parse(body);
  if (!REFUSALS.has(status)) return `${status} ${error.type} for a file: ${error.message}`;
  if (error.request_id !== requestId) return `${status} with another request_id`;
  if (error.message.length < 10) return `${status} says only ${JSON.stringify(error.message)}`;
  if (status === 422 && !(error.errors ?? []).some(({ code, message }) => code !== '' && message !== ''))
    return '422 names nothing';
  return null;
}

function countFault(
  { rows }: HostileCase,
  counted: z.infer<typeof report> | { ingest: z.infer<typeof report> | null },
): string | null {
  const ingest = 'ingest' in counted ? counted.ingest : counted;
  if (ingest === null) return null;
  const { accepted, rejected, errors } = ingest;
  if (rejected > 0 && errors?.length === 0) return `${rejected} rows are rejected and none is named`;
  if (rows !== undefined && accepted + rejected !== rows)
    return `${accepted} accepted and ${rejected} rejected of ${rows} rows`;
  return null;
}

function graphFault(hostile: HostileCase, body: unknown, status: number): string | null {
  const { data, errors } = graphAnswer.parse(body);
  if (status >= 300 && !REFUSALS.has(status)) return `${status} for rows: ${JSON.stringify(errors)}`;
  const masked = errors?.find(({ extensions: { code } }) => /^(?:INTERNAL|SERVICE_UNAVAILABLE|RATE_LIMIT)/.test(code));
  if (masked !== undefined) return `${masked.extensions.code}: ${masked.message}`;
  const ingest = data?.addRecords?.ingest;
  if (ingest === undefined) return errors === undefined ? 'neither data nor errors' : null;
  return countFault(hostile, ingest);
}
