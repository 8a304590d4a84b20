/** Colours, light and dark. Classes instead of custom properties: renderers outside browsers know no others. */
const PALETTE = {
  ink: ['#1d2529', '#e6eaea'],
  faint: ['#5d676e', '#9aa6aa'],
  line: ['#d9dddb', '#343e42'],
  paper: ['#fcfcfa', '#161b1d'],
  blue: ['#2563eb', '#7aa7ff'],
  orange: ['#c2410c', '#f08a5d'],
  teal: ['#0f766e', '#3fb8ab'],
  sand: ['#b98a4e', '#d9b44a'],
  grey: ['#9ca3af', '#7d878c'],
} as const satisfies Record<string, readonly [light: string, dark: string]>;
export type Ink = keyof typeof PALETTE;

const rules = (shade: 0 | 1): string =>
  Object.entries(PALETTE)
    .map(([name, shades]) => `.f-${name}{fill:${shades[shade]}}.s-${name}{stroke:${shades[shade]}}`)
    .join('');

const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
/** Coordinates to a hundredth, so that a picture has the same bytes on every machine. */
const n = (value: number): string => String(Math.round(value * 100) / 100);

/** An attribute, left out where it would say what holds without it. */
const attribute = (name: string, value: string | number | undefined, byDefault?: string | number): string =>
  value === byDefault ? '' : ` ${name}="${value}"`;
const opacityOf = (opacity: number): string => attribute('opacity', opacity, 1);

export interface TextLook {
  readonly ink?: Ink;
  readonly size?: number;
  readonly anchor?: 'start' | 'middle' | 'end';
  readonly bold?: boolean;
}

export function text(
  x: number,
  y: number,
  words: string,
  { ink = 'ink', size = 13, anchor = 'start', bold = false }: TextLook = {},
): string {
  const anchored = attribute('text-anchor', anchor, 'start');
  const weight = attribute('font-weight', bold ? 600 : undefined);
  return (
    `<text x="${n(x)}" y="${n(y)}" class="f-${ink}" font-size="${size}"${anchored}${weight}>` +
    `${escape(words)}</text>`
  );
}

export function bar(x: number, y: number, width: number, height: number, ink: Ink, opacity = 1): string {
  return (
    `<rect x="${n(x)}" y="${n(y)}" width="${n(Math.max(0, width))}" height="${n(height)}" rx="2" ` +
    `class="f-${ink}"${opacityOf(opacity)}/>`
  );
}

export function dot(x: number, y: number, radius: number, ink: Ink, opacity = 1): string {
  return `<circle cx="${n(x)}" cy="${n(y)}" r="${n(radius)}" class="f-${ink}"${opacityOf(opacity)}/>`;
}

export interface StrokeLook {
  readonly width?: number;
  readonly dash?: string;
  readonly opacity?: number;
}

export function line(x1: number, y1: number, x2: number, y2: number, ink: Ink, look: StrokeLook = {}): string {
  return curve(`M${n(x1)} ${n(y1)}L${n(x2)} ${n(y2)}`, ink, look);
}

/** An open path. */
export function curve(d: string, ink: Ink, { width = 1, dash, opacity = 1 }: StrokeLook = {}): string {
  return (
    `<path d="${d}" fill="none" class="s-${ink}" stroke-width="${n(width)}"` +
    `${attribute('stroke-dasharray', dash)}${opacityOf(opacity)}/>`
  );
}

/** A filled shape through points. */
export function area(points: readonly (readonly [x: number, y: number])[], ink: Ink, opacity = 1): string {
  const corners = points.map(([x, y]) => `${n(x)},${n(y)}`).join(' ');
  return `<polygon points="${corners}" class="f-${ink}"${opacityOf(opacity)}/>`;
}

/**
 * A quadratic curve from one point to another, bent by `bend` to the left of its way, with an arrow head at its end.
 */
export function arrow(
  [x1, y1]: readonly [number, number],
  [x2, y2]: readonly [number, number],
  bend: number,
  ink: Ink,
  width: number,
): string {
  const length = Math.hypot(x2 - x1, y2 - y1);
  const [cx, cy] = [(x1 + x2) / 2 + ((y2 - y1) / length) * bend * 2, (y1 + y2) / 2 - ((x2 - x1) / length) * bend * 2];
  const angle = Math.atan2(y2 - cy, x2 - cx);
  const head = 6 + width;
  const [bx, by] = [x2 - head * Math.cos(angle), y2 - head * Math.sin(angle)];
  const side = head * 0.5;
  const [sx, sy] = [side * Math.sin(angle), side * Math.cos(angle)];
  return (
    curve(`M${n(x1)} ${n(y1)}Q${n(cx)} ${n(cy)} ${n(bx)} ${n(by)}`, ink, { width }) +
    area(
      [
        [x2, y2],
        [bx + sx, by - sy],
        [bx - sx, by + sy],
      ],
      ink,
    )
  );
}

/** A whole picture on its own paper, so that it can be read on any page; follows the reader's light or dark setting. */
export function picture(width: number, height: number, description: string, parts: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" ` +
      `role="img" font-family="system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif">`,
    `<title>${escape(description)}</title>`,
    `<style>${rules(0)}@media(prefers-color-scheme:dark){${rules(1)}}</style>`,
    `<rect width="${width}" height="${height}" rx="10" class="f-paper"/>`,
    ...parts,
    '</svg>\n',
  ].join('\n');
}
