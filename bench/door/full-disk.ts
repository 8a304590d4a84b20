// What a tenant notices on a disk that is full: uploads are refused with the reason, reads go on, the probe says so,
// all of it heals when there is room again, and a start on a full disk names the disk. Linux only, as root: it mounts a
// small file system in memory for the service's data.
//   npm run bench door/full-disk
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { survivorsOf } from '../../test/faults/process-tree.ts';
import { Service } from '../../test/faults/service.ts';
import { recentDays, shopRows } from '../../test/faults/shop-rows.ts';
import { memberOf, send, sendJson, type TimedAnswer } from './timed-request.ts';

const DISK_MIB = 1_024;
const TIMEOUT_MS = 30_000;
const HEAL_MS = 30_000;
const START_MS = 60_000;
const SHOP = shopRows({ users: 400, channels: 4, touches: 5, seed: 71 });
const CSV = { 'content-type': 'text/csv' };

let missed = 0;
type Told = Pick<TimedAnswer, 'status' | 'text'>;

function judge(what: string, { status, text }: Told, expected: number, says?: RegExp): void {
  const isMet = status === expected && (says === undefined || says.test(text));
  if (!isMet) missed += 1;
  const bar = `${expected}${says === undefined ? '' : ` that says ${String(says)}`}`;
  process.stdout.write(`${what}: ${status} (${bar}: ${isMet ? 'met' : 'MISSED'})\n`);
  if (!isMet) process.stdout.write(`  ${text.slice(0, 300)}\n`);
}

/** Takes all the room that is left. */
function fill(file: string): void {
  const descriptor = openSync(file, 'w');
  try {
    for (const block = Buffer.alloc(1 << 20); ;) writeSync(descriptor, block);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(descriptor);
  }
}

const disk = mkdtempSync(join(tmpdir(), 'liftgraph-small-'));
const filler = join(disk, 'filler');
const env = { LIFTGRAPH_DATA_DIR: join(disk, 'data'), LOG_LEVEL: 'warn' };
execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MIB}m,mode=0711`, 'tmpfs', disk]);
let service = await Service.start({ env });
try {
  const { root } = service;
  const anonymous = { root, timeoutMs: TIMEOUT_MS };
  const registration = { name: 'on-a-disk', operator_id: '1' };
  const registered = await sendJson({ ...anonymous, path: '/v1/agents/register' }, registration);
  const caller = { ...anonymous, key: memberOf(registered, 'api_key') };
  const body = { type: 'csv_upload', credentials: {} };
  const connected = await sendJson({ ...caller, path: '/v1/data-sources/connect' }, body);
  const source = memberOf(connected, 'data_source_id');
  const path = `/v1/data-sources/${source}/records`;
  const upload = (csv: string) => send({ ...caller, method: 'POST', path, headers: CSV, body: csv });
  const get = (to: string) => send({ ...caller, method: 'GET', path: to });
  const analyse = () =>
    sendJson({ ...caller, path: '/v1/attribution' }, { data_source_id: source, date_range: recentDays() });
  judge('an upload', await upload(SHOP.csv), 202);
  const analysed = await analyse();
  judge('an analysis', analysed, 200);

  fill(filler);
  await sleep(5_000);
  process.stdout.write('the disk is full\n');
  judge('  an upload', await upload(SHOP.csv), 503, /disk/i);
  judge('  an analysis', await analyse(), 503, /disk/i);
  judge('  the profile', await get('/v1/agents/me'), 200);
  judge('  the list of analyses', await get('/v1/attribution'), 200);
  judge('  a result', await get(`/v1/attribution/${memberOf(analysed, 'id')}`), 200);
  judge('  the status of the source', await get(`/v1/data-sources/${source}/status`), 200);
  judge('  the probe', await get('/readyz'), 503, /disk/i);
  judge('  the sign of life', await get('/healthz'), 200);

  rmSync(filler);
  process.stdout.write('there is room again\n');
  const healedBy = performance.now() + HEAL_MS;
  while ((await get('/readyz')).status !== 200 && performance.now() < healedBy) await sleep(500);
  judge('  the probe', await get('/readyz'), 200);
  judge('  an upload', await upload(SHOP.csv), 202);

  await service.stop('SIGTERM');
  fill(filler);
  service = Service.spawn({ env });
  const outcome = await Promise.race([
    service.ended.then(({ stdout, stderr }) => stdout + stderr),
    service.printed(/ is up(?: at|:) .*\n/).then(
      () => service.stdout,
      () => service.stdout + service.stderr,
    ),
    sleep(START_MS, 'neither up nor over', { ref: false }),
  ]);
  const said = outcome.trim().split('\n').slice(-3).join('\n  ').slice(-600);
  process.stdout.write(`a start on a full disk says: ${said}\n`);
  // Which disk it is, and that it is full.
  judge('a start on a full disk', { status: 0, text: said }, 0, /(?=[^]*liftgraph-small-)[^]*(?:disk|space)/i);
} finally {
  const family = service.tree();
  service.signal('SIGKILL');
  await service.ended;
  await sleep(1_000);
  for (const { pid } of survivorsOf(family)) process.kill(pid, 'SIGKILL');
  await sleep(1_000);
  execFileSync('umount', ['-l', disk]);
  rmSync(disk, { recursive: true, force: true });
}
process.exitCode = missed === 0 ? 0 : 1;
