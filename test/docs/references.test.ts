import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { loadConfig } from '../../processes/config/config.ts';
import { describeConfig } from '../../processes/config/describe-config.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** Pages that are about today; decisions and the changelog tell of their own day. */
const PAGES = [
  'README.md',
  'schema/client/README.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.startsWith('decisions'))
    .map((name) => join('docs', name)),
];

const folders = new Set(
  readdirSync(ROOT, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map(({ name }) => name),
);
const scripts = Object.keys(
  (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly scripts: object }).scripts,
);
const variables = describeConfig(loadConfig({})).map((line) => line.split(' = ', 1)[0]!);

/** What a page names in code type and the repository does not have: files, npm scripts, benchmarks. */
function unknownIn(text: string): string[] {
  const named = [...text.matchAll(/`([^`\n]+)`/g)].map((match) => match[1]!);
  const paths = named.filter((name) => folders.has(name.split('/', 1)[0]!) && /^[\w./-]+\/[\w.-]*$/.test(name));
  const commands = named.flatMap((name) => {
    const [, script, bench] = /^npm run ([\w:]+)(?: (?:-- )?([\w/-]+))?/.exec(name) ?? [];
    return script === undefined ? [] : [{ script, bench }];
  });
  const isUnknown = ({ script, bench }: (typeof commands)[number]): boolean =>
    !scripts.includes(script) ||
    (script === 'bench' && bench !== undefined && bench !== 'NAME' && !existsSync(join(ROOT, 'bench', `${bench}.ts`)));
  return [
    ...paths.filter((path) => !existsSync(join(ROOT, path))),
    ...commands.filter(isUnknown).map(({ script, bench }) => [script, bench].join(' ').trim()),
  ];
}

describe('what the pages name', () => {
  test.each(PAGES)('%s names files, scripts and benchmarks that there are', (page) => {
    expect(unknownIn(readFileSync(join(ROOT, page), 'utf8'))).toEqual([]);
  });

  test('a file, a script and a benchmark that there is not are caught', () => {
    expect(
      unknownIn(
        '`processes/config/config.ts` `platform/gone.ts` `npm run check` `npm run lint` `npm run bench main-job` ' +
          '`npm run bench gone/job`',
      ),
    ).toEqual(['platform/gone.ts', 'lint', 'bench gone/job']);
  });

  test('every variable of the configuration is explained, and no other', () => {
    const page = readFileSync(join(ROOT, 'docs/operating/running.md'), 'utf8');
    const explained = [...page.matchAll(/`([A-Z]+(?:_[A-Z]+)*)`(?=[^\n]*\|)/g)].map((match) => match[1]!);
    expect(variables.filter((variable) => !explained.includes(variable))).toEqual([]);
    expect(explained.filter((name) => name.includes('_') && !variables.includes(name))).toEqual([]);
  });
});
