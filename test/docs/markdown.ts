export type Table = readonly (readonly string[])[];

/** The text below a heading, up to the next one of its level. */
export function sectionOf(page: string, heading: string): string {
  const begin = page.indexOf(`\n${heading}\n`);
  if (begin < 0) throw new Error(`there is no heading ${heading}`);
  const level = /^#+ /.exec(heading)![0];
  const end = page.indexOf(`\n${level}`, begin + 1);
  return page.slice(begin + heading.length + 2, end < 0 ? undefined : end);
}

const isRow = (line: string): boolean => line.startsWith('|');
const cellsOf = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

/** Every table as its rows, the header first, without the line of dashes. */
export function tablesOf(text: string): Table[] {
  const tables: string[][][] = [];
  const lines = text.split('\n');
  lines.forEach((line, i) => {
    if (!isRow(line)) return;
    if (i === 0 || !isRow(lines[i - 1]!)) tables.push([]);
    if (!/^\|[-|\s]+\|$/.test(line)) tables.at(-1)!.push(cellsOf(line));
  });
  return tables;
}

/** Code blocks of a language, and the text without any code block. */
export const blocksOf = (text: string, language: string): string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map((match) => match[1]!);
export const withoutBlocks = (text: string): string => text.replaceAll(/^\s*```[\s\S]*?^\s*```/gm, '');

/** Decimal numbers in running text, as printed; those in tables and bare whole numbers are not among them. */
export function decimalsIn(text: string): string[] {
  const prose = text
    .split('\n')
    .filter((line) => !isRow(line))
    .join('\n');
  return [...prose.matchAll(/(?<![\w.])−?\d+\.\d+(?![\w.]*\.(?:md|csv))/g)].map((match) => match[0]);
}

/** Targets of links and pictures that lie in the repository, without those to other sites. */
export const linksOf = (text: string): string[] =>
  [...withoutBlocks(text).matchAll(/\]\(([^()\s]+)\)/g)]
    .map((match) => match[1]!)
    .filter((target) => !/^[a-z]+:/.test(target));

/** Anchors of a page's headings, as GitHub makes them. */
export const anchorsOf = (page: string): string[] =>
  withoutBlocks(page)
    .split('\n')
    .filter((line) => /^#+ /.test(line))
    .map((line) =>
      line
        .replace(/^#+ /, '')
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    );
