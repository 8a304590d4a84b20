import * as fc from 'fast-check';
import {
  TimeEvidence,
  WrittenTime,
  type DayOrder,
} from '../../../../../../../subgraphs/attribution/intake/files/reader/styles/time-style.ts';
import { TimeZone } from '../../../../../../../subgraphs/attribution/intake/files/reader/styles/time-zone.ts';

const ZONES = [
  'UTC',
  'Europe/Berlin',
  'Europe/London',
  'America/Chicago',
  'America/St_Johns',
  'Australia/Lord_Howe',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Pacific/Apia',
  'America/Sao_Paulo',
];
const MINUTE_MS = 60_000;
const seconds = fc.integer({ min: Date.UTC(2005, 0, 1) / 1000, max: Date.UTC(2030, 0, 1) / 1000 });

/** What the clock on the wall of a zone says, as if it were UTC; by Intl. */
function wallClock(ms: number, zone: string): number {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
  return Date.parse(`${format.format(ms).replace(' ', 'T')}Z`);
}

describe('local times', () => {
  test('are the moments at which the clock says so, the first of two', () => {
    fc.assert(
      fc.property(fc.constantFrom(...ZONES), seconds, (zone, second) => {
        const ms = second * 1000;
        const local = wallClock(ms, zone);
        const moment = new TimeZone(zone).momentOf(local);
        expect(wallClock(moment, zone)).toBe(local);
        expect(moment).toBeLessThanOrEqual(ms);
        // Clocks go back by no more than a day.
        expect(ms - moment).toBeLessThanOrEqual(24 * 60 * MINUTE_MS);
      }),
      { numRuns: 2_000 },
    );
  });

  test('at each change of the clock, minute by minute', () => {
    for (const zone of ZONES) {
      const known = new TimeZone(zone);
      for (let day = Date.UTC(2026, 0, 1); day < Date.UTC(2027, 0, 1); day += 86_400_000) {
        const offset = (ms: number) => wallClock(ms, zone) - ms;
        if (offset(day) === offset(day + 86_400_000)) continue;
        for (let ms = day; ms < day + 86_400_000; ms += 5 * MINUTE_MS) {
          const local = wallClock(ms, zone);
          expect([zone, wallClock(known.momentOf(local), zone)]).toEqual([zone, local]);
          expect(known.momentOf(local)).toBeLessThanOrEqual(ms);
        }
      }
    }
  });

  test('one that the clock leaves out is the moment that as long after midnight would be', () => {
    const berlin = new TimeZone('Europe/Berlin');
    expect(new Date(berlin.momentOf(Date.UTC(2026, 2, 29, 2, 30))).toISOString()).toBe('2026-03-29T01:30:00.000Z');
  });
});

type Writes = (date: Date) => string;
const two = (part: number): string => String(part).padStart(2, '0');
const clock = (date: Date): string =>
  [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map(two).join(':');
const halves = (date: Date): string =>
  `${date.getUTCHours() % 12 || 12}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())} ` +
  (date.getUTCHours() < 12 ? 'AM' : 'PM');
const [day, month, year] = [
  (date: Date) => date.getUTCDate(),
  (date: Date) => date.getUTCMonth() + 1,
  (date: Date) => date.getUTCFullYear(),
];
const named = (date: Date, locale: string): string =>
  new Intl.DateTimeFormat(locale, { timeZone: 'UTC', day: 'numeric', month: 'long', year: 'numeric' }).format(date);

const STYLES: Readonly<Record<string, readonly [DayOrder | null, Writes]>> = {
  german: ['day_first', (date) => `${two(day(date))}.${two(month(date))}.${year(date)} ${clock(date)}`],
  french: ['day_first', (date) => `${two(day(date))}/${two(month(date))}/${year(date)} ${clock(date)}`],
  american: ['month_first', (date) => `${month(date)}/${day(date)}/${year(date)}, ${halves(date)}`],
  dashes: ['day_first', (date) => `${two(day(date))}-${two(month(date))}-${year(date)} ${clock(date)}`],
  iso: [null, (date) => date.toISOString()],
  'year first': [null, (date) => `${year(date)}/${two(month(date))}/${two(day(date))} ${clock(date)}`],
  compact: [null, (date) => date.toISOString().replaceAll(/[-:]|\.\d+Z/g, '')],
  'English names': [null, (date) => `${named(date, 'en-US')} ${clock(date)}`],
  'German names': [null, (date) => `${named(date, 'de-DE')} ${clock(date)}`],
  'Spanish names': [null, (date) => `${named(date, 'es-ES')} ${clock(date)}`],
  seconds: [null, (date) => String(date.getTime() / 1000)],
  microseconds: [null, (date) => `${date.getTime()}000`],
};

test.each(Object.entries(STYLES))('times in the style "%s" read back the same', (_name, [order, writes]) => {
  fc.assert(
    fc.property(fc.array(seconds, { minLength: 1, maxLength: 10 }), (moments) => {
      // The thirteenth tells the order of the others.
      const dates = [...moments, Date.UTC(2026, 3, 13, 12) / 1000].map((second) => new Date(second * 1000));
      const evidence = new TimeEvidence();
      const [time, utc] = [new WrittenTime(), new TimeZone('UTC')];
      for (const date of dates) evidence.add(Buffer.from(writes(date)), 0, Buffer.byteLength(writes(date)));
      expect(evidence.dayOrder()).toBe(order);
      for (const date of dates) {
        const cell = Buffer.from(writes(date));
        time.take(cell, 0, cell.length);
        expect([writes(date), time.moment(order, utc)]).toEqual([writes(date), date.getTime()]);
      }
    }),
  );
});
