import { execFileSync } from 'node:child_process';
import { limitIn, mostConnections, openFilesLimit, usualConnections } from '../../../processes/config/open-files.ts';

const LIMITS = (soft: string) =>
  [
    'Limit                     Soft Limit           Hard Limit           Units     ',
    'Max processes             1                    2                    processes ',
    `Max open files            ${soft.padEnd(20)} 1048576              files     `,
  ].join('\n');

test('the soft limit is what counts', () => {
  expect(limitIn(LIMITS('1024'))).toBe(1024);
  expect(limitIn(LIMITS('unlimited'))).toBe(Infinity);
  expect(limitIn('')).toBeUndefined();
});

test('it is read from the system where that is Linux', () => {
  const program = `import { openFilesLimit } from './processes/config/open-files.ts'; console.log(openFilesLimit())`;
  const shell = 'ulimit -n $2; exec "$0" --input-type=module --eval "$1"';
  const read = (limit: number) => Number(execFileSync('sh', ['-c', shell, process.execPath, program, String(limit)]));
  expect([read(700), read(1200)]).toEqual(process.platform === 'linux' ? [700, 1200] : [4_096, 4_096]);
  expect(openFilesLimit()).toBeGreaterThan(0);
});

test('whatever the limit, connections leave files for the service itself', () => {
  const limits = [1_024, 4_096, 20_000, 1_048_576, Infinity];
  expect(limits.map((limit) => usualConnections(limit, 16))).toEqual([248, 1_784, 9_736, 10_000, 10_000]);
  expect(mostConnections(20_000, 16)).toBe(19_472);
  expect([usualConnections(256, 16), mostConnections(256, 1_000)]).toEqual([64, 64]);
});
