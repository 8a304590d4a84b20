import type { Caller, Json } from '../house.ts';
import { EventStream } from './event-stream.ts';
import { recentDays, type ShopRows } from './shop-rows.ts';

/** Connects an empty source. */
export async function connectSource(caller: Caller): Promise<string> {
  const { status, body } = await caller.post('/data-sources/connect', { type: 'csv_upload', credentials: { filename: 'events.csv' } });
  if (status !== 201) throw new Error(`connecting was answered with ${status}: ${JSON.stringify(body)}`);
  return String(body['data_source_id']);
}

/** Uploads a file, whole. */
export async function upload(caller: Caller, source: string, { csv }: Pick<ShopRows, 'csv'>): Promise<Json> {
  const { status, body } = await caller.send('POST', `/data-sources/${source}/records`, csv, { 'content-type': 'text/csv' });
  if (status !== 202) throw new Error(`the upload was answered with ${status}: ${JSON.stringify(body)}`);
  return body;
}

/** What is stored of a source. */
export async function stored(caller: Caller, source: string): Promise<{ readonly touchpoints: number; readonly conversions: number }> {
  const { body } = await caller.get(`/data-sources/${source}/status`);
  return { touchpoints: Number(body['records']!['touchpoints']), conversions: Number(body['records']!['conversions']) };
}

/** Starts an analysis and watches it. */
export async function streamAnalysis(caller: Caller, source: string): Promise<EventStream> {
  const body = JSON.stringify({ data_source_id: source, date_range: recentDays() });
  return new EventStream(await caller.open('POST', '/attribution?stream=true', body, { 'content-type': 'application/json' }));
}

/** Starts an analysis and waits for its end, as long as it takes. */
export async function analyse(caller: Caller, source: string): Promise<Json> {
  const { status, body } = await caller.post('/attribution', { data_source_id: source, date_range: recentDays() }, { prefer: 'wait=60' });
  if (status !== 200) throw new Error(`the analysis was answered with ${status}: ${JSON.stringify(body)}`);
  return body;
}

/** The history of an analysis from its start, and what comes after, to its end. */
export async function history(caller: Caller, id: string): Promise<EventStream> {
  const stream = new EventStream(await caller.open('GET', `/attribution/${id}/stream`));
  await stream.ended;
  return stream;
}

export function digestOf(attribution: Json): string {
  return String(attribution['diagnostics']!['run_digest']);
}
