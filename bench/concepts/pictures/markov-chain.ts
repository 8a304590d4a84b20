import { arrow, bar, line, picture, text } from '../svg.ts';
import type { pathExample } from '../worked-examples.ts';

const NODES = {
  start: [70, 170],
  video: [230, 170],
  search: [390, 170],
  email: [550, 170],
  conversion: [690, 70],
  null: [690, 270],
} as const satisfies Record<string, readonly [number, number]>;
type Node = keyof typeof NODES;

/** How far from the middle of a node its edges begin and end. */
const HALF = { width: 46, height: 17 } as const;
const BENDS: Readonly<Record<string, number>> = {
  'start search': 34,
  'start email': 66,
  'video conversion': 42,
  'search conversion': 14,
  'video null': -42,
  'search null': -14,
};

/** Where the labels of curved edges stand clear of the others. */
const LABELS: Readonly<Record<string, readonly [number, number]>> = {
  'start search': [228, 136],
  'start email': [310, 80],
  'video conversion': [420, 58],
  'search conversion': [508, 97],
  'email conversion': [640, 128],
  'video null': [420, 296],
  'search null': [545, 236],
  'email null': [640, 222],
};

function edge(from: Node, to: Node, probability: number, label: string): string {
  const bend = BENDS[`${from} ${to}`] ?? 0;
  const [x1, y1] = NODES[from];
  const [x2, y2] = NODES[to];
  const straight = bend === 0 && y1 === y2;
  const up = bend === 0 ? Math.sign(y1 - y2) : Math.sign(bend);
  const begin = straight ? ([x1 + HALF.width, y1] as const) : ([x1 + 20, y1 - up * HALF.height] as const);
  const end =
    straight || to === 'conversion' || to === 'null'
      ? ([x2 - HALF.width, y2] as const)
      : ([x2 - 14, y2 - up * HALF.height] as const);
  const ink = to === 'conversion' ? 'teal' : to === 'null' ? 'grey' : 'blue';
  const middle = [(begin[0] + end[0]) / 2, (begin[1] + end[1]) / 2 - bend] as const;
  const where = straight ? ([middle[0], middle[1] - 9] as const) : (LABELS[`${from} ${to}`] ?? middle);
  return (
    arrow(begin, end, bend, ink, 1 + 4 * probability) +
    text(where[0], where[1], label, { size: 12, anchor: 'middle', ink: ink === 'grey' ? 'faint' : ink })
  );
}

/** The first-order chain of the worked example, edges as wide as they are likely, and what removing a channel costs. */
export function markovChain({ channels, transitions, markov }: ReturnType<typeof pathExample>): string {
  const edges = (['start', ...channels] as Node[]).flatMap((from) =>
    ([...channels, 'conversion', 'null'] as Node[]).flatMap((to) => {
      const probability = from === to ? 0 : transitions(from, to);
      return probability === 0 ? [] : [edge(from, to, probability, probability.toFixed(3))];
    }),
  );
  const nodes = Object.entries(NODES).map(
    ([name, [x, y]]) =>
      bar(
        x - HALF.width,
        y - HALF.height,
        HALF.width * 2,
        HALF.height * 2,
        name === 'conversion' ? 'teal' : name === 'null' || name === 'start' ? 'grey' : 'blue',
      ) + text(x, y + 5, name, { ink: 'paper', anchor: 'middle', bold: true }),
  );
  const rows = [
    { name: 'all channels', left: 1 },
    ...channels.map((channel, c) => ({ name: `without ${channel}`, left: 1 - markov.removalEffect[c]! })),
  ];
  const bars = rows.map(({ name, left }, row) => {
    const y = 372 + row * 24;
    const width = 420 * left;
    return (
      text(170, y + 12, name, { anchor: 'end' }) +
      bar(182, y, width, 15, row === 0 ? 'teal' : 'blue') +
      text(
        190 + width,
        y + 12,
        `${(markov.probability * left).toFixed(4)}${row === 0 ? '' : ` · removal effect ${(1 - left).toFixed(4)}`}`,
        { ink: 'faint' },
      )
    );
  });
  return picture(
    760,
    480,
    'Markov chain of the worked example: transition probabilities between start, video, search, email, conversion ' +
      'and null, and the probability of a conversion with each channel removed',
    [
      ...edges,
      ...nodes,
      line(24, 336, 736, 336, 'line'),
      text(24, 358, 'Probability that a journey converts', { bold: true }),
      ...bars,
    ],
  );
}
