import { bar, curve, picture, text, type Ink } from '../svg.ts';
import type { pathExample } from '../worked-examples.ts';

const INKS: readonly Ink[] = ['orange', 'blue', 'teal'];
const TALL = 300;
const GAP = 14;

/** What the orthogonal counterparts explain (left) is handed to the channels (right) by the squared entries of Λ. */
export function relativeWeightFlow({
  channels,
  counterparts: { root, beta },
  rwa,
}: ReturnType<typeof pathExample>): string {
  const { weight, r2 } = rwa.conversionOutcome;
  const size = channels.length;
  const explained = beta.map((b) => b * b);
  const tall = (share: number): number => (share / r2) * TALL;
  const topsOf = (amounts: ArrayLike<number>): number[] => {
    let y = 54;
    return Array.from(amounts, (amount) => {
      const top = y;
      y += tall(amount) + GAP;
      return top;
    });
  };
  const leftTops = topsOf(explained);
  const rightTops = topsOf(weight);
  const leftFrom = [...leftTops];
  const rightFrom = [...rightTops];
  const ribbons: string[] = [];
  for (let k = 0; k < size; k++) {
    for (let j = 0; j < size; j++) {
      const width = tall(root[j * size + k]! ** 2 * explained[k]!);
      const [y1, y2] = [leftFrom[k]! + width / 2, rightFrom[j]! + width / 2];
      leftFrom[k]! += width;
      rightFrom[j]! += width;
      ribbons.push(
        curve(`M292 ${y1.toFixed(2)}C415 ${y1.toFixed(2)} 415 ${y2.toFixed(2)} 538 ${y2.toFixed(2)}`, INKS[k]!, {
          width: Math.max(width, 0.4),
          opacity: 0.45,
        }),
      );
    }
  }
  const sides = channels.map(
    (channel, i) =>
      bar(278, leftTops[i]!, 14, tall(explained[i]!), INKS[i]!) +
      text(268, leftTops[i]! + tall(explained[i]!) / 2 + 5, `counterpart of ${channel}  ${explained[i]!.toFixed(4)}`, {
        anchor: 'end',
      }) +
      bar(538, rightTops[i]!, 14, tall(weight[i]!), INKS[i]!) +
      text(562, rightTops[i]! + tall(weight[i]!) / 2 + 5, `${weight[i]!.toFixed(4)}  ${channel}`),
  );
  return picture(
    760,
    400,
    'What each orthogonal counterpart explains of conversion in the worked example, and how the squared entries of ' +
      'the root of the correlation matrix hand it to the channels',
    [
      text(268, 36, 'explained by the counterparts, β²', { anchor: 'end', bold: true }),
      text(562, 36, 'relative weights', { bold: true }),
      ...ribbons,
      ...sides,
    ],
  );
}
