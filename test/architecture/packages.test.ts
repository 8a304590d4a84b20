import { readFileSync } from 'node:fs';
import { z } from 'zod';

const REPOSITORY = new URL('../../', import.meta.url);
const read = (file: string): unknown => JSON.parse(readFileSync(new URL(file, REPOSITORY), 'utf8'));

const versions = z.record(z.string(), z.string()).default({});
const manifest = z.object({ dependencies: versions, devDependencies: versions, optionalDependencies: versions });
const lock = z.object({
  packages: z.record(
    z.string(),
    z.object({
      license: z.string().optional(),
      integrity: z.string().optional(),
      dev: z.boolean().default(false),
      devOptional: z.boolean().default(false),
      link: z.boolean().default(false),
    }),
  ),
});

/** SPDX identifiers that let anyone run, change, pass on and sell a program that is made of such packages. */
const PERMISSIVE = new Set([
  'MIT',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'BlueOak-1.0.0',
  'CC0-1.0',
]);
const isPermissive = (expression: string): boolean =>
  expression
    .replaceAll(/[()]/g, '')
    .split(/ (?:AND|OR) /)
    .every((each) => PERMISSIVE.has(each));
const isExact = (version: string): boolean => /^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version);

const installed = Object.entries(lock.parse(read('package-lock.json')).packages)
  .filter(([path, { link }]) => path.includes('node_modules/') && !link)
  .map(([path, entry]) => ({ ...entry, name: path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length) }));
const shipped = installed.filter(({ dev, devOptional }) => !dev && !devOptional);

describe('packages', () => {
  it.each(['package.json', 'schema/client/package.json'])('%s pins each to one version', (file) => {
    const { dependencies, devDependencies, optionalDependencies } = manifest.parse(read(file));
    expect(
      Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies }).filter(
        ([, version]) => !isExact(version),
      ),
    ).toEqual([]);
  });

  it('have a hash in the lock file, so that what is installed is what was chosen', () => {
    expect(installed.length).toBeGreaterThan(300);
    expect(installed.filter(({ integrity }) => integrity === undefined).map(({ name }) => name)).toEqual([]);
  });

  /** Permissive by their own text, which no identifier of the lock file says. */
  const SAID_IN_TEXT: Readonly<Record<string, string | undefined>> = {
    'dejavu-fonts-ttf': 'SEE LICENSE IN README.md AND LICENSE',
    'png-js': undefined,
  };

  it('that are shipped are under permissive licences, but for those that README names', () => {
    const readme = readFileSync(new URL('README.md', REPOSITORY), 'utf8');
    const others = shipped.filter(({ license }) => license === undefined || !isPermissive(license));
    expect(others.map(({ license }) => license)).toEqual(
      others.map(({ name }) => (name in SAID_IN_TEXT ? SAID_IN_TEXT[name] : 'Elastic-2.0')),
    );
    expect(others.filter(({ name }) => !readme.includes(`\`${name}\``)).map(({ name }) => name)).toEqual([]);
  });
});
