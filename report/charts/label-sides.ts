import { displayWidth } from '../terminal-text.ts';

/** A dot with its label, in pixels from the top left corner of the plot. */
export interface LabelledDot {
  readonly x: number;
  readonly y: number;
  readonly label: string;
}

export type LabelSide = 'right' | 'left' | 'top' | 'bottom';

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Of a character at 13 pixels in a wide font: an overestimate keeps labels apart in every font. */
const CHARACTER = 7.8;
const LINE = 16;
const RADIUS = 9;
/** Around the plot there is little to cover. */
const OUTSIDE = 1 / 3;
const SIDES = ['right', 'left', 'top', 'bottom'] as const;

/**
 * On which side of its dot each label covers least of the other dots, of the labels before it, and of what is outside
 * the plot.
 */
export function labelSides(
  dots: readonly LabelledDot[],
  plot: { readonly width: number; readonly height: number },
): readonly LabelSide[] {
  const marks = dots.map(({ x, y }): Box => ({
    left: x - RADIUS,
    right: x + RADIUS,
    top: y - RADIUS,
    bottom: y + RADIUS,
  }));
  const labels: Box[] = [];
  return dots.map((dot, index) => {
    const taken = [...marks.filter((_, other) => other !== index), ...labels];
    const cost = (side: LabelSide): number => {
      const box = labelBox(dot, side);
      const outside = area(box) - overlap(box, { left: 0, right: plot.width, top: 0, bottom: plot.height });
      return taken.reduce((sum, other) => sum + overlap(box, other), outside * OUTSIDE);
    };
    const best = SIDES.reduce((least, side) => (cost(side) < cost(least) ? side : least));
    labels.push(labelBox(dot, best));
    return best;
  });
}

function labelBox({ x, y, label }: LabelledDot, side: LabelSide): Box {
  const width = displayWidth(label) * CHARACTER;
  if (side === 'right') return { left: x + RADIUS, right: x + RADIUS + width, top: y - LINE / 2, bottom: y + LINE / 2 };
  if (side === 'left') return { left: x - RADIUS - width, right: x - RADIUS, top: y - LINE / 2, bottom: y + LINE / 2 };
  const top = side === 'top' ? y - RADIUS - LINE : y + RADIUS;
  return { left: x - width / 2, right: x + width / 2, top, bottom: top + LINE };
}

function overlap(a: Box, b: Box): number {
  return (
    Math.max(0, Math.min(a.right, b.right) - Math.max(a.left, b.left)) *
    Math.max(0, Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top))
  );
}

function area({ left, right, top, bottom }: Box): number {
  return (right - left) * (bottom - top);
}
