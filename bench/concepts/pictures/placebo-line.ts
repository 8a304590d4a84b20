import { area, dot, line, picture, text } from '../svg.ts';
import type { sampleExample } from '../worked-examples.ts';

/** Names whose usual place right of the point is taken. */
const ABOVE = new Set(['retargeting', 'paid_search', 'brand_search']);
const BELOW = new Set(['affiliate']);
/** Points closer to the origin than this share one line of names. */
const CROWDED = 0.04;

/** Lift against pull per channel of the sample: the placebos fix the line; what is above it is effect. */
export function placeboLine({ channels, isBaseline, prav }: ReturnType<typeof sampleExample>): string {
  const most = { pull: 0.48, lift: 0.18 } as const;
  const x = (pull: number): number => 84 + (pull / most.pull) * 620;
  const y = (lift: number): number => 372 - (lift / most.lift) * 320;
  const ray = (kappa: number): readonly [number, number] => {
    const pull = Math.min(most.pull, most.lift / kappa);
    return [x(pull), y(kappa * pull)];
  };
  const [low, high] = prav.kappaRange;
  const ticks = [0, 0.1, 0.2, 0.3, 0.4].map((pull) =>
    text(x(pull), 392, pull.toFixed(1), { size: 12, anchor: 'middle', ink: 'faint' }),
  );
  const grid = [0.05, 0.1, 0.15].map(
    (lift) =>
      line(84, y(lift), 704, y(lift), 'line') +
      text(74, y(lift) + 4, lift.toFixed(2), { size: 12, anchor: 'end', ink: 'faint' }),
  );
  const points = channels.map((channel, c) => {
    const [px, py] = [x(prav.pull[c]!), y(prav.lift[c]!)];
    const left = ABOVE.has(channel) || BELOW.has(channel);
    const shift = ABOVE.has(channel) ? -5 : BELOW.has(channel) ? 16 : 5;
    const effect =
      isBaseline[c] === 1
        ? ''
        : line(px, py, px, y(prav.kappa * Math.max(0, prav.pull[c]!)), prav.effect[c]! > 0 ? 'teal' : 'orange', {
            width: 3,
          });
    const name =
      prav.pull[c]! < CROWDED
        ? ''
        : text(left ? px - 10 : px + 10, py + shift, channel, {
            anchor: left ? 'end' : 'start',
            bold: isBaseline[c] === 1,
          });
    return effect + dot(px, py, 6, isBaseline[c] === 1 ? 'sand' : 'blue') + name;
  });
  const crowd = channels.filter((_, c) => prav.pull[c]! < CROWDED).toSorted();
  return picture(
    760,
    440,
    'Lift in conversions against pull on unpaid visits, per channel of the sample, with the line that the placebo ' +
      'channels fix; the distance above it is the effect per touch',
    [
      area([[x(0), y(0)], ray(low), [x(most.pull), y(Math.min(most.lift, high * most.pull))], ray(high)], 'sand', 0.16),
      ...grid,
      line(84, 372, 704, 372, 'faint'),
      line(84, 52, 84, 372, 'faint'),
      ...ticks,
      line(x(0), y(0), ...ray(prav.kappa), 'sand', { width: 2 }),
      ...points,
      text(x(CROWDED), y(0.004), crowd.join(', ')),
      text(84, 34, 'D, extra conversions per touch', { bold: true }),
      text(704, 420, 'S, extra unpaid visits per touch', { anchor: 'end', bold: true }),
      text(704, y(0.035), `κ = ${prav.kappa.toFixed(3)}: what selection alone explains`, { anchor: 'end' }),
      text(704, y(0.035) + 18, `shaded: κ from ${low.toFixed(3)} to ${high.toFixed(3)}`, {
        anchor: 'end',
        ink: 'faint',
      }),
      text(120, 68, 'above the line: effect', { ink: 'teal' }),
      text(120, 88, 'below: none', { ink: 'orange' }),
    ],
  );
}
