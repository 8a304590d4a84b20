import { figures } from '../../../test/compute/run-in-thread.ts';
import { eventTable, wholeRange } from '../../../test/compute/reference-data.ts';
import { DAY_S } from '../../../compute/run-options.ts';
import { bar, dot, line, picture, text } from '../svg.ts';

/** Days of the five touches of one journey; the order is on the last of them. */
const DAYS = [0, 3, 9, 13, 14] as const;
const RULES = [
  ['last', 'last click'],
  ['first', 'first click'],
  ['linear', 'linear'],
  ['position', 'position'],
  ['timeDecay', 'time decay'],
] as const;

/** What each rule gives the five touches of one journey, as the product computes it. */
export function ruleWeights(): string {
  const touches = DAYS.map((day, i) => ({
    user: 'one',
    timeS: day * DAY_S,
    channel: `touch ${i + 1}`,
    conversion: false,
    value: 0,
  }));
  const events = eventTable([...touches, { user: 'one', timeS: 14 * DAY_S, channel: '', conversion: true, value: 1 }]);
  const { rules } = figures('comparison', { events, options: wholeRange(events) });
  const x = (day: number): number => 150 + day * 38;
  const heads = DAYS.map(
    (day, i) =>
      dot(x(day), 52, 5, 'ink') +
      text(x(day), 36, `day ${day}`, {
        size: 12,
        anchor: i === 3 ? 'end' : i === 4 ? 'start' : 'middle',
        ink: 'faint',
      }),
  );
  const rows = RULES.map(([rule, name], row) => {
    const floor = 138 + row * 68;
    const weights = DAYS.map((day, i) => {
      const weight = rules[rule].share[i]!;
      const words = `${(weight * 100).toFixed(0)} %`;
      return (
        bar(x(day) - 12, floor - weight * 44, 24, weight * 44, 'blue') +
        text(x(day), floor - weight * 44 - 4, weight === 0 ? '0' : words, { size: 11, anchor: 'middle', ink: 'faint' })
      );
    });
    return text(24, floor - 4, name, { bold: true }) + line(130, floor, 736, floor, 'line') + weights.join('');
  });
  return picture(
    760,
    440,
    'Credit of five touches on days 0, 3, 9, 13 and 14 of a journey under last click, first click, linear, position ' +
      'and time decay',
    [line(x(0), 52, x(14), 52, 'faint'), ...heads, ...rows],
  );
}
