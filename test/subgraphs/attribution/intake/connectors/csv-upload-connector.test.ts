import { csvUpload } from '../../../../../subgraphs/attribution/intake/connectors/csv-upload/csv-upload-connector.ts';
import { threadTimeMs } from '../../../../thread-time.ts';

const read = (content: string, encoding: 'utf-8' | 'base64' = 'base64') => csvUpload.read({ content, encoding }).rows;

test('takes rows as text, and as base64 with white space anywhere in it', () => {
  const rows = 'user_id,timestamp,channel\nü1,2026-01-05T10:00:00Z,email\n';
  const encoded = Buffer.from(rows).toString('base64');
  expect(read(rows, 'utf-8')?.toString()).toBe(rows);
  expect(read(encoded)?.toString()).toBe(rows);
  expect(read(` ${encoded.match(/.{1,20}/g)!.join('\r\n')}\n`)?.toString()).toBe(rows);
});

test.each(['not base64!', '====', 'a===', '=a', 'ü'])('refuses %s', (content) => {
  expect(() => read(content)).toThrow('this is not base64');
});

test.each([
  ['spaces', ' '],
  ['letters', 'a'],
  ['letters and spaces', 'a '],
])('refuses 20 MB of %s that end badly within two seconds of work', (_shape, part) => {
  const startedMs = threadTimeMs();
  expect(() => read(`${part.repeat(20_000_000 / part.length)}!`)).toThrow('this is not base64');
  expect(threadTimeMs() - startedMs).toBeLessThan(2_000);
});
