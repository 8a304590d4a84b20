import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { anchorsOf, linksOf } from './markdown.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const OUTSIDE = new Set(['node_modules', 'dist', '.data', '.git']);

function pagesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (OUTSIDE.has(entry.name)) return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? pagesBelow(path) : entry.name.endsWith('.md') ? [path] : [];
  });
}

/** Links of a page that lead to no file of the repository, or to no heading of it. */
function brokenIn(page: string, text: string): string[] {
  return linksOf(text).filter((link) => {
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? page : resolve(dirname(page), decodeURIComponent(path));
    if (relative(ROOT, target).startsWith('..') || !existsSync(target)) return true;
    return (
      anchor !== undefined &&
      target.endsWith('.md') &&
      !anchorsOf(target === page ? text : readFileSync(target, 'utf8')).includes(anchor)
    );
  });
}

/** Where a reader comes who follows links from `start`, as paths in the repository. */
function reachableFrom(start: string, textOf: (page: string) => string): ReadonlySet<string> {
  const reached = new Set([start]);
  for (const page of reached) {
    if (!page.endsWith('.md')) continue;
    for (const link of linksOf(textOf(page)))
      reached.add(join(dirname(page), decodeURIComponent(link.split('#')[0]!)) || page);
  }
  return reached;
}

const pages = pagesBelow(ROOT).map((page) => [relative(ROOT, page), page] as const);

describe('links between the pages of the repository', () => {
  test.each(pages)('%s leads nowhere in vain', (_, page) => {
    expect(brokenIn(page, readFileSync(page, 'utf8'))).toEqual([]);
  });

  test('a link to a file or a heading that there is not is caught', () => {
    const page = join(ROOT, 'docs/concepts/README.md');
    expect(
      brokenIn(
        page,
        '[a](markov.md) [b](markof.md) [c](markov.md#by-hand) [d](markov.md#by-foot) [e](../../../elsewhere.md)',
      ),
    ).toEqual(['markof.md', 'markov.md#by-foot', '../../../elsewhere.md']);
  });

  test('every page can be reached from the README', () => {
    const reached = reachableFrom('README.md', (page) => readFileSync(join(ROOT, page), 'utf8'));
    // Fixtures say beside themselves what they are.
    expect(pages.map(([name]) => name).filter((name) => !name.startsWith('test/') && !reached.has(name))).toEqual([]);
  });

  test('a page that nobody links to is not reached', () => {
    const texts: Readonly<Record<string, string>> = {
      'README.md': '[a](docs/a.md)',
      'docs/a.md': '[back](../README.md#top)',
      'docs/b.md': '[a](a.md)',
    };
    expect([...reachableFrom('README.md', (page) => texts[page]!)]).toEqual(['README.md', 'docs/a.md']);
  });
});
