import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CSV, NDJSON, readContent } from '../read-content.ts';

const FILES = join(import.meta.dirname, '../vendor-files');

/** Exports in which one row is a touch and the next an order, each with columns that the other has not. */
test.each([
  ['ga4-bigquery-ndjson/events_20260518-000000000000.json', NDJSON],
  ['one-shop-four-exports/events_202606.json', NDJSON],
  ['ga4-bigquery-csv/bq-results-20260512.csv', CSV],
  ['appsflyer-in-app-events/com.example.shop_in-app-events_2026-08-01_2026-08-14_UTC.csv', CSV],
])('what is read of a row of %s has nothing of the rows before', async (file, mediaType) => {
  const lines = (await readFile(join(FILES, file), 'utf8')).split('\n').filter((line) => line !== '');
  const [header] = mediaType === CSV ? lines.splice(0, 1) : [''];
  const whole = await readContent([...(header === '' ? [] : [header]), ...lines].join('\n'), mediaType);
  expect(whole.rows.length).toBeGreaterThan(5);
  const alone = new Set<string>();
  for (const line of lines) {
    const { rows } = await readContent(header === '' ? line : `${header}\n${line}`, mediaType);
    for (const row of rows) alone.add(JSON.stringify(row));
  }
  expect(whole.rows.map((row) => JSON.stringify(row)).filter((row) => !alone.has(row))).toEqual([]);
});
