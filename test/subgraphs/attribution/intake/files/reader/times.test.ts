import * as fc from 'fast-check';
import {
  NOT_A_TIME,
  OFFSET_OUT_OF_RANGE,
  readTime,
} from '../../../../../../subgraphs/attribution/intake/files/reader/times.ts';

function timeOf(text: string): number {
  // Other bytes stand around a cell: none of them may be read.
  const data = Buffer.from(`99${text}99`);
  return readTime(data, 2, data.length - 2);
}

test.each([
  ['2025-01-02', '2025-01-02T00:00:00.000Z'],
  ['2025-01-02 03:04', '2025-01-02T03:04:00.000Z'],
  ['2025-01-02T03:04:05', '2025-01-02T03:04:05.000Z'],
  ['2025-01-02t03:04:05z', '2025-01-02T03:04:05.000Z'],
  ['2025-01-02 03:04:05.6789', '2025-01-02T03:04:05.678Z'],
  ['2025-01-02 03:04:05 UTC', '2025-01-02T03:04:05.000Z'],
  ['2025-01-02T03:04:05+01:00', '2025-01-02T02:04:05.000Z'],
  ['2025-01-02T03:04:05-0130', '2025-01-02T04:34:05.000Z'],
  ['2025-01-02T03:04:05-03', '2025-01-02T06:04:05.000Z'],
  ['2025-01-02 03:04:05.5 +14:00', '2025-01-01T13:04:05.500Z'],
  ['2024-02-29', '2024-02-29T00:00:00.000Z'],
  ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
  ['1735689600', '2025-01-01T00:00:00.000Z'],
  ['1735689600.25', '2025-01-01T00:00:00.250Z'],
  ['1735689600123', '2025-01-01T00:00:00.123Z'],
])('%s is %s', (text, expected) => {
  expect(new Date(timeOf(text)).toISOString()).toBe(expected);
});

test.each([
  '',
  '2025',
  '2025-01',
  '0000-00-00',
  '2026-05-00',
  '2026-00-10',
  '2025-02-29',
  '2025-02-30',
  '2025-13-01',
  '2025-04-31',
  '1900-02-29',
  '2025/01/02',
  '12-01-2025',
  '2025-1-2',
  '20250102',
  'yesterday',
  '2025-01-02T',
  '2025-01-02T25:00',
  '2025-01-02T24:00',
  '2025-01-02T03:60',
  '2025-01-02T03:04:61',
  '2025-01-02T03',
  '2025-01-02 03:04:05.',
  '2025-01-02T03:04:05X',
  '2025-01-02T03:04:05+1',
  '2025-01-02T03:04:05+01:',
  '2025-01-02T03:04:05+01:0',
  '2025-01-02T03:04:05Z ',
  '2025-01-0a',
  '173568960',
  '17356896001',
  '1735689600.',
  '1735689600,5',
  '-1735689600',
  '2025-01-02x03:04',
])('%j is no time', (text) => {
  expect(timeOf(text)).toBe(NOT_A_TIME);
});

test.each(['2025-01-02T00:00+14:01', '2025-01-02T00:00-99:00', '2025-01-02T00:00+0575'])(
  '%s has an offset that nowhere has',
  (text) => {
    expect(timeOf(text)).toBe(OFFSET_OUT_OF_RANGE);
  },
);

test('every moment that the platform writes is read as itself', () => {
  fc.assert(
    fc.property(
      fc.date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true }),
      (date) => {
        expect(timeOf(date.toISOString())).toBe(date.getTime());
      },
    ),
  );
});

test('of all days that can be written, those of the calendar are read', () => {
  const part = (max: number, digits: number) =>
    fc.integer({ min: 0, max }).map((value) => String(value).padStart(digits, '0'));
  fc.assert(
    fc.property(part(2400, 4), part(14, 2), part(33, 2), (year, month, day) => {
      const text = `${year}-${month}-${day}`;
      const date = new Date(`${text}T00:00:00Z`);
      const isReal = !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
      expect(timeOf(text)).toBe(isReal ? date.getTime() : NOT_A_TIME);
    }),
    { numRuns: 1000 },
  );
});
