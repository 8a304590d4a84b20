import { readdirSync } from 'node:fs';
import { GUIDES_PATH, guideAt } from '../../rest-adapter/guides.ts';

const SHELVES = ['concepts', 'operating'];
const pages = SHELVES.flatMap((shelf) =>
  readdirSync(new URL(`../../docs/${shelf}`, import.meta.url))
    .filter((file) => file.endsWith('.md'))
    .map((file) => (file === 'README.md' ? shelf : `${shelf}/${file.slice(0, -'.md'.length)}`)),
);
const contentAt = (address: string): string => guideAt(address)!.content;

test('every guide is on the list', () => {
  for (const name of pages) expect(contentAt(GUIDES_PATH)).toContain(`href="../docs/guides/${name}"`);
});

test.each(pages)('%s: its links and pictures lead to what is served, its formulas are drawn', (name) => {
  const address = `${GUIDES_PATH}/${name}`;
  const content = contentAt(address);
  const targets = [...content.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, target]) => target!);
  for (const target of targets.filter((each) => !/^(?:https?|data):/.test(each))) {
    const { pathname, hash } = new URL(target, `http://x${address}`);
    if (['/docs', '/docs/errors', '/docs/versions'].includes(pathname)) continue;
    expect([target, guideAt(pathname)]).toEqual([target, expect.anything()]);
    if (hash !== '') expect(contentAt(pathname)).toContain(`id="${decodeURIComponent(hash.slice(1))}"`);
  }
  expect(content).not.toContain('temml-error');
  expect(content.replaceAll(/<(pre|code)>[\s\S]*?<\/\1>/g, '')).not.toMatch(/\$[^$<]{1,60}\$/);
});

test.each([
  '/docs/guides/../README',
  '/docs/guides/concepts/../../README',
  '/docs/guides/decisions/001-rooms',
  '/docs/guides/',
])('%s is not served', (address) => expect(guideAt(address)).toBeUndefined());

test('what a guide says of the code stays text', () => {
  const content = contentAt(`${GUIDES_PATH}/concepts/causal`);
  expect(content).toContain('<code>events.csv</code>'.replaceAll(/<\/?code>/g, ''));
  expect(content).not.toContain('test/compute/fixtures');
  expect(content).toContain('<math');
});
