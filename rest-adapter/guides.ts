import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Marked, type Tokens } from 'marked';
import temml from 'temml';
import { document, escape } from './pages.ts';

/** Where the guides are served. */
export const GUIDES_PATH = '/docs/guides';

const FOLDER = fileURLToPath(new URL('../docs/', import.meta.url));
/** The folders of `docs/` that are for whoever uses or runs the service, and what they are called. */
const SHELVES = { concepts: 'What the figures mean', operating: 'Calling and running the service' } as const;
const PICTURE = /^\w+\/pictures\/[\w-]+\.svg$/;

/** `concepts/prav`: the file's path without its ending; a folder's README goes by the folder's name. */
const nameOf = (file: string): string => file.replace(/\.md$/, '').replace(/\/README$/, '');

const files = new Map(
  Object.keys(SHELVES)
    .flatMap((shelf) =>
      existsSync(`${FOLDER}${shelf}`) ? readdirSync(`${FOLDER}${shelf}`).map((file) => `${shelf}/${file}`) : [],
    )
    .filter((file) => file.endsWith('.md'))
    .map((file) => [nameOf(file), file] as const),
);

/** What is served at an address of the guides; undefined where nothing is. */
export function guideAt(path: string): { readonly type: string; readonly content: string } | undefined {
  if (path === GUIDES_PATH) return { type: 'text/html', content: shelvesPage() };
  if (!path.startsWith(`${GUIDES_PATH}/`)) return undefined;
  const name = path.slice(GUIDES_PATH.length + 1);
  if (PICTURE.test(name))
    return existsSync(FOLDER + name)
      ? { type: 'image/svg+xml', content: readFileSync(FOLDER + name, 'utf8') }
      : undefined;
  const file = files.get(name);
  return file === undefined ? undefined : { type: 'text/html', content: guidePage(file) };
}

/** The way from a page to another address of the service, which may stand below a path of a proxy's. */
const from =
  (page: string) =>
  (address: string): string =>
    '../'.repeat(page.split('/').length - 2) + address.slice(1);

function navigationOf(page: string): string {
  const to = from(page);
  return `<nav><a href="${to('/docs')}">API reference</a> · <a href="${to(GUIDES_PATH)}">Guides</a> ·
<a href="${to('/docs/errors')}">Errors</a> · <a href="${to('/docs/versions')}">Versions</a></nav>`;
}

function shelvesPage(): string {
  const to = from(GUIDES_PATH);
  const shelves = Object.entries(SHELVES).map(([shelf, title]) => {
    const rows = [...files]
      .filter(([name]) => name.split('/', 1)[0] === shelf)
      // A folder's own page, which leads to the others, comes first.
      .toSorted(([name], [other]) => Number(other === shelf) - Number(name === shelf))
      .map(([name, file]) => `<li><a href="${to(`${GUIDES_PATH}/${name}`)}">${escape(titleOf(textOf(file)))}</a></li>`);
    return `<h2>${title}</h2><ul>${rows.join('\n')}</ul>`;
  });
  return document('Guides · Liftgraph', `${navigationOf(GUIDES_PATH)}\n<h1>Guides</h1>\n${shelves.join('\n')}`, STYLE);
}

function guidePage(file: string): string {
  const text = textOf(file);
  const body = rendererOf(file).parse(text) as string;
  return document(`${titleOf(text)} · Liftgraph`, `${navigationOf(addressOf(file))}\n${body}`, STYLE);
}

const addressOf = (file: string): string => `${GUIDES_PATH}/${nameOf(file)}`;
const textOf = (file: string): string => readFileSync(FOLDER + file, 'utf8');
const titleOf = (text: string): string => /^# (.*)$/m.exec(text)?.[1] ?? 'Guide';

/** Formulas as MathML, headings with GitHub's anchors, links to where the target is served. */
function rendererOf(file: string): Marked {
  return new Marked({
    extensions: [
      {
        name: 'formula',
        level: 'inline',
        start: (text) => text.indexOf('$'),
        tokenizer(text) {
          const [raw, formula] = /^\$(?!\s)((?:\\.|[^$\\`])+?)(?<!\s)\$(?!\w)/.exec(text) ?? [];
          return raw === undefined ? undefined : { type: 'formula', raw, text: formula };
        },
        renderer: ({ text }) => temml.renderToString(String(text)),
      },
    ],
    renderer: {
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${anchorOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      code({ text, lang }: Tokens.Code) {
        if (lang === 'math') return temml.renderToString(text, { displayMode: true });
        return `<pre><code>${escape(text)}</code></pre>\n`;
      },
      link({ href, tokens }) {
        const inside = this.parser.parseInline(tokens);
        const served = servedAt(file, href);
        // What lies beside the guides, such as the code, is not served.
        return served === undefined ? inside : `<a href="${escape(served)}">${inside}</a>`;
      },
      image({ href, text }) {
        return `<img src="${escape(servedAt(file, href) ?? href)}" alt="${escape(text)}">`;
      },
    },
  });
}

/** Where a link of a guide leads; undefined where that is not served. */
function servedAt(file: string, href: string): string | undefined {
  if (/^(?:https?:|#)/.test(href)) return href;
  const [path = '', anchor] = href.split('#');
  const target = posix.join(posix.dirname(file), path);
  if (!files.has(nameOf(target)) && !PICTURE.test(target)) return undefined;
  return `${from(addressOf(file))(addressOf(target))}${anchor === undefined ? '' : `#${anchor}`}`;
}

/** Of a heading, as GitHub makes them. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}

const STYLE = `
main { max-width: 54rem } h1 { margin-bottom: 1.5rem }
p, ul, ol, img { margin: 1rem 0; max-width: 100% } li { margin: .25rem 0 }
pre code { background: none; padding: 0 } math[display="block"] { margin: 1rem 0; overflow-x: auto }
table { display: block; overflow-x: auto } img { background: #fff; border-radius: 8px }
`;
