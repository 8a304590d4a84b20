const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' });
/** Their punctuation and full-width forms come with them. */
const EAST_ASIAN = [
  String.raw`\p{Script=Han}`,
  String.raw`\p{Script=Hangul}`,
  String.raw`\p{Script=Hiragana}`,
  String.raw`\p{Script=Katakana}`,
  String.raw`\u3000-\u303F`,
  String.raw`\uFF01-\uFF60`,
  String.raw`\uFFE0-\uFFE6`,
];
/** East Asian wide and full-width letters, and pictographs: two cells each (Unicode Standard Annex 11). */
const WIDE = new RegExp(String.raw`[${EAST_ASIAN.join('')}]|\p{Emoji_Presentation}`, 'u');
const INVISIBLE = /^[\p{Mark}\p{Format}]+$/u;

/** Cells that a text takes on a terminal. */
export function displayWidth(text: string): number {
  let cells = 0;
  for (const { segment } of GRAPHEMES.segment(text)) cells += INVISIBLE.test(segment) ? 0 : WIDE.test(segment) ? 2 : 1;
  return cells;
}

/**
 * Text from data, made harmless for a terminal: control characters (escape sequences among them) and
 * direction overrides become `·`, so that a channel's name can neither colour nor forge the output.
 */
export function printable(text: string): string {
  return text.replace(
    /[\p{Control}\p{Line_Separator}\p{Paragraph_Separator}\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu,
    '·',
  );
}

/** Cuts to `cells`, with an ellipsis where something is lost. */
export function truncate(text: string, cells: number): string {
  if (displayWidth(text) <= cells) return text;
  let kept = '';
  let width = 0;
  for (const { segment } of GRAPHEMES.segment(text)) {
    width += displayWidth(segment);
    if (width > cells - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** Fills with spaces to `cells`, the text at the start or at the end of them. */
export function align(text: string, cells: number, at: 'start' | 'end'): string {
  const spaces = ' '.repeat(Math.max(0, cells - displayWidth(text)));
  return at === 'start' ? text + spaces : spaces + text;
}

/** Breaks at spaces so that no line is longer than `cells`, unless a single word is. */
export function wrap(text: string, cells: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/)) {
    if (line !== '' && displayWidth(line) + 1 + displayWidth(word) > cells) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
