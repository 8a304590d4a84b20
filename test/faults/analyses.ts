import type { Caller, Json } from '../house.ts';
import { ProgressStream, type StreamEvent } from '../progress-stream.ts';
import { recentDays, type ShopRows } from './shop-rows.ts';

/** Connects an empty source. */
export async function connectSource(caller: Caller): Promise<string> {
  const { status, body } = await caller.post('/data-sources/connect', {
    type: 'csv_upload',
    credentials: { filename: 'events.csv' },
  });
  if (status !== 201) throw new Error(`connecting was answered with ${status}: ${JSON.stringify(body)}`);
  return String(body['data_source_id']);
}

/** Uploads a file, whole. */
export async function upload(caller: Caller, source: string, { csv }: Pick<ShopRows, 'csv'>): Promise<Json> {
  const { status, body } = await caller.send('POST', `/data-sources/${source}/records`, csv, {
    'content-type': 'text/csv',
  });
  if (status !== 202) throw new Error(`the upload was answered with ${status}: ${JSON.stringify(body)}`);
  return body;
}

/** What is stored of a source. */
export async function stored(
  caller: Caller,
  source: string,
): Promise<{ readonly touchpoints: number; readonly conversions: number }> {
  const { body } = await caller.get(`/data-sources/${source}/status`);
  return { touchpoints: Number(body['records']!['touchpoints']), conversions: Number(body['records']!['conversions']) };
}

/** Starts an analysis and watches it. */
export async function streamAnalysis(caller: Caller, source: string): Promise<ProgressStream> {
  const body = JSON.stringify({ data_source_id: source, date_range: recentDays() });
  return new ProgressStream(
    await caller.open('POST', '/attribution?stream=true', body, { 'content-type': 'application/json' }),
  );
}

/** Starts an analysis and waits for its end, as long as it takes. */
export async function analyse(caller: Caller, source: string): Promise<Json> {
  const { status, body } = await caller.post(
    '/attribution',
    { data_source_id: source, date_range: recentDays() },
    { prefer: 'wait=60' },
  );
  if (status !== 200) throw new Error(`the analysis was answered with ${status}: ${JSON.stringify(body)}`);
  return body;
}

/**
 * Every event of an analysis, once it has ended. A stream stops at the first result, so that what is kept behind it is
 * asked for as well; behind the last event of a finished analysis the answer is 204.
 */
export async function history(caller: Caller, id: string): Promise<readonly StreamEvent[]> {
  const read = async (after: number): Promise<readonly StreamEvent[]> => {
    const response = await caller.open('GET', `/attribution/${id}/stream?last_event_id=${after}`);
    if (response.status === 204) return [];
    const stream = new ProgressStream(response);
    await stream.ended;
    return stream.events;
  };
  const events = [...(await read(0))];
  const { body } = await caller.get(`/attribution/${id}`);
  if (!['completed', 'failed'].includes(String(body['status']))) return events;
  for (let more = await read(events.at(-1)?.id ?? 0); more.length > 0; more = await read(events.at(-1)!.id))
    events.push(...more);
  return events;
}

export function digestOf(attribution: Json): string {
  return String(attribution['diagnostics']!['run_digest']);
}

/** The events without the moment at which trust was judged: each reading judges it anew. */
export function asTold(events: readonly StreamEvent[]): unknown {
  return JSON.parse(JSON.stringify(events, (key, value: unknown) => (key === 'evaluated_at' ? undefined : value)));
}
