import { bar, line, picture, text, type Ink } from '../svg.ts';
import type { pathExample } from '../worked-examples.ts';

const INKS: readonly Ink[] = ['orange', 'blue', 'teal'];
const PER_CONVERSION = 22;

/**
 * Each path's conversions cut into equal parts for its distinct channels, and what the parts add up to beside last
 * click.
 */
export function shapleySplit({ rows, channels, shapley, rules }: ReturnType<typeof pathExample>): string {
  const ink = (channel: string): Ink => INKS[channels.indexOf(channel)]!;
  const split = rows.map(({ path, conversions }, row) => {
    const y = 62 + row * 30;
    const members = channels.filter((channel) => path.includes(channel));
    const part = (conversions * PER_CONVERSION) / members.length;
    return (
      text(250, y + 14, path.join(' > '), { anchor: 'end' }) +
      members.map((channel, i) => bar(262 + i * part, y, part - 1.5, 19, ink(channel))).join('') +
      text(
        270 + conversions * PER_CONVERSION,
        y + 14,
        members.length === 1
          ? String(conversions)
          : `${conversions} = ${members.length} × ${(conversions / members.length).toFixed(2)}`,
        { ink: 'faint' },
      )
    );
  });
  const sums = channels.map((channel, c) => {
    const y = 292 + c * 40;
    return (
      text(250, y + 20, channel, { anchor: 'end', bold: true }) +
      bar(262, y, shapley.conversions[c]! * PER_CONVERSION, 17, ink(channel)) +
      text(270 + shapley.conversions[c]! * PER_CONVERSION, y + 13, `Shapley ${shapley.conversions[c]!.toFixed(2)}`) +
      bar(262, y + 19, rules.last.conversions[c]! * PER_CONVERSION, 9, 'grey') +
      text(
        270 + rules.last.conversions[c]! * PER_CONVERSION,
        y + 29,
        `last click ${rules.last.conversions[c]!.toFixed(0)}`,
        { ink: 'faint', size: 12 },
      )
    );
  });
  const legend = channels.map(
    (channel, c) => bar(262 + c * 90, 20, 12, 12, ink(channel)) + text(280 + c * 90, 31, channel),
  );
  return picture(
    760,
    420,
    'Conversions of each path of the worked example, divided equally among its distinct channels, and the sum per ' +
      'channel beside last click',
    [
      text(24, 31, 'Each path’s conversions', { bold: true }),
      ...legend,
      ...split,
      line(24, 256, 736, 256, 'line'),
      text(24, 280, 'Added up', { bold: true }),
      ...sums,
    ],
  );
}
