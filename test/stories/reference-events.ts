import { readFileSync } from 'node:fs';
import type { Caller } from '../house.ts';

const FIXTURES = new URL('../compute/fixtures/', import.meta.url);
const EVENTS = readFileSync(new URL('events.csv', FIXTURES), 'utf8');
export const REFERENCE = JSON.parse(readFileSync(new URL('refs.events.json', FIXTURES), 'utf8')) as {
  credit: Record<string, number>;
  total_incremental: number;
};
/** Rows of the fixture that are no conversions. */
export const TOUCHES = EVENTS.trimEnd()
  .split('\n')
  .slice(1)
  .filter((row) => row.split(',')[5] === '0').length;
/** All of the fixture's history; the fixture's baseline channels are direct and organic. */
export const DATE_RANGE = ['2025-01-06', '2025-04-05'];
export const BASELINE = ['direct', 'organic*'];

/** The id of a source that holds the fixture. */
export async function connectEvents(caller: Caller): Promise<string> {
  const answer = await caller.post('/data-sources/connect', {
    type: 'csv_upload',
    credentials: { filename: 'events.csv', content: EVENTS },
    baseline_channels: BASELINE,
  });
  expect(answer.status).toBe(201);
  return String(answer.body['data_source_id']);
}
