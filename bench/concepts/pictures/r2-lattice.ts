import { bar, line, picture, text, type Ink } from '../svg.ts';
import type { pathExample } from '../worked-examples.ts';

const INKS: readonly Ink[] = ['orange', 'blue', 'teal'];
const TOP = 62;
const BOTTOM = 340;

/** R² of every subset of channels, by height; an edge adds one channel, and its rise is that channel's gain. */
export function r2Lattice({ channels, subsets, dominance }: ReturnType<typeof pathExample>): string {
  const full = subsets.at(-1)!;
  const height = (r2: number): number => BOTTOM - (r2 / full) * (BOTTOM - TOP);
  const members = (code: number): string[] => channels.filter((_, i) => (code >> i) & 1);
  const peers = (code: number): number[] =>
    Array.from(subsets.keys())
      .filter((other) => members(other).length === members(code).length)
      .toSorted((a, b) => subsets[b]! - subsets[a]!);
  const column = (code: number): number =>
    [80, 230, 420, 600][members(code).length]! + (peers(code).indexOf(code) - (peers(code).length - 1) / 2) * 46;
  const edges = subsets.flatMap((r2, code) =>
    channels.flatMap((_, i) => {
      const next = code | (1 << i);
      return next === code
        ? []
        : [
            line(column(code), height(r2), column(next), height(subsets[next]!), INKS[i]!, {
              width: 2.5,
              opacity: 0.75,
            }),
          ];
    }),
  );
  const nodes = subsets.map((r2, code) => {
    const [x, y] = [column(code), height(r2)];
    // Names stand on the side where no edge is: above the best of their size, below the others.
    const best = code !== 0 && (peers(code)[0] === code || (members(code).length === 1 && peers(code)[1] === code));
    const look = best
      ? { x: x - 9, y: y - 20, anchor: 'end' as const }
      : { x: x + 9, y: y + 16, anchor: 'start' as const };
    return (
      bar(x - 5, y - 5, 10, 10, 'ink') +
      text(look.x, look.y, members(code).join(' + ') || 'none', { size: 12, bold: true, anchor: look.anchor }) +
      text(look.x, look.y + 14, r2.toFixed(4), { size: 12, ink: 'faint', anchor: look.anchor })
    );
  });
  const legend = channels.map(
    (channel, i) =>
      line(180 + i * 190, 402, 206 + i * 190, 402, INKS[i]!, { width: 3 }) +
      text(214 + i * 190, 406, `${channel}: ${dominance.conversionOutcome.weight[i]!.toFixed(4)}`),
  );
  return picture(
    760,
    428,
    'R squared of every subset of channels in the worked example; each edge adds one channel, and a channel’s ' +
      'general dominance weight is the mean rise of its edges, averaged over subset sizes',
    [
      text(24, 30, 'R² of each subset', { bold: true }),
      ...edges,
      ...nodes,
      line(24, 380, 736, 380, 'line'),
      text(24, 406, 'Mean rise', { bold: true }),
      ...legend,
    ],
  );
}
