import { fork } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DataDirectoryError, holdDataDirectory, knownSecret } from '../../processes/data-directory.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'liftgraph-data-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const elsewhere = async (path: string) => {
  const child = fork(fileURLToPath(new URL('data-directory-holder.mjs', import.meta.url)), [path], { execArgv: [] });
  const [answer] = (await once(child, 'message')) as [string];
  return { child, answer };
};

describe('the data directory', () => {
  test('is made, closed to others', () => {
    const directory = holdDataDirectory(join(folder, 'a', 'b'));
    expect(directory.path).toBe(join(folder, 'a', 'b'));
    expect(statSync(directory.path).mode & 0o777).toBe(0o700);
    directory.release();
  });

  test('a second process is refused in one line that names the first and what to do', async () => {
    const directory = holdDataDirectory(folder, () => new Date('2026-02-01T10:00:00Z'));
    const second = await elsewhere(folder);
    expect(second.answer).toBe(
      `The data directory ${folder} is in use by process ${process.pid} since 2026-02-01T10:00:00.000Z. Stop it ` +
        `first, or give this one a directory of its own with LIFTGRAPH_DATA_DIR.`,
    );
    directory.release();
  });

  test('the hold of a process killed with -9 ends with it', async () => {
    const { child, answer } = await elsewhere(folder);
    expect(answer).toBe('held');
    expect(() => holdDataDirectory(folder)).toThrow(new RegExp(`in use by process ${child.pid}`));
    child.kill('SIGKILL');
    await once(child, 'exit');
    holdDataDirectory(folder).release();
  });

  test('released, it can be held again', () => {
    holdDataDirectory(folder).release();
    holdDataDirectory(folder).release();
  });

  test('a secret is made once, for its owner alone, and differs by name', () => {
    const first = holdDataDirectory(folder);
    expect(knownSecret(folder, 'internal')).toBeUndefined();
    const secret = first.secret('internal');
    expect(knownSecret(folder, 'internal')).toBe(secret);
    expect(Buffer.from(secret, 'base64url')).toHaveLength(32);
    expect(first.secret('other')).not.toBe(secret);
    first.release();
    const second = holdDataDirectory(folder);
    expect(second.secret('internal')).toBe(secret);
    expect(statSync(join(folder, 'internal.secret')).mode & 0o777).toBe(0o600);
    chmodSync(join(folder, 'internal.secret'), 0o644);
    expect(() => second.secret('internal')).toThrow(DataDirectoryError);
    second.release();
  });

  test('a place that cannot be written is refused with advice', () => {
    writeFileSync(join(folder, 'file'), '');
    expect(() => holdDataDirectory(join(folder, 'file', 'data'))).toThrow(/cannot be written .*LIFTGRAPH_DATA_DIR/);
  });
});
