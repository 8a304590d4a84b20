import { CSV, readContent } from '../read-content.ts';

const dayOf = async (date: string, wishes = {}) => {
  const { refusal, rows } = await readContent(`date,channel,spend\n${date},snap,5\n`, CSV, wishes);
  expect(refusal).toBeUndefined();
  return rows.map(({ date: day }) => day);
};

describe('the day of spend is the one that stands in the file', () => {
  test.each([
    '2026-05-02T00:00:00.000+02:00',
    '2026-05-02 00:00:00 +0900',
    '2026-05-02T23:30:00-07:00',
    '2026-05-02T00:00:00Z',
    '2026-05-02',
    '02.05.2026 00:00 +02:00',
  ])('%s', async (date) => {
    expect(await dayOf(date)).toEqual(await dayOf('2026-05-02'));
  });

  test.each(['2026-05-02 00:00:00', '2026-05-02'])('%s, whatever the zone of the file is', async (date) => {
    expect(await dayOf(date, { timezone: 'Europe/Berlin' })).toEqual(await dayOf('2026-05-02'));
  });
});
