// Whether reading a file takes time in proportion to its size, whatever the file: each hostile shape is sent at a size,
// at twice the size, and so on, and doubling may never cost more than 2.5 times, beside what every upload costs. Then a
// random search over short patterns looks for shapes that nobody has thought of.
//   npm run bench intake/linear-time [random shapes, default 60] [--seed N] [--only TEXT]
import { seededRandom } from '../../compute/numerics/random.ts';
import { DataFolder } from '../../test/faults/data-folder.ts';
import { survivorsOf } from '../../test/faults/process-tree.ts';
import { Service } from '../../test/faults/service.ts';
import { UNLIMITED } from '../../test/faults/unlimited.ts';
import { memberOf, send, sendJson, type TimedAnswer } from '../door/timed-request.ts';
import { FILE_SHAPES, randomShape, type FileShape } from './file-shapes.ts';

const option = (name: string): string | undefined =>
  process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : undefined;
const SEARCHED = Number(/^\d+$/.exec(process.argv[2] ?? '')?.[0] ?? 60);
const SEED = Number(option('--seed') ?? 380_154);
const ONLY = option('--only');
const KIB = 1_024;
const [SMALLEST, LARGEST] = [16 * KIB, 16 * KIB * KIB];
/** The random search looks at this size and its double alone. */
const SEARCH_SIZE = 128 * KIB;
const MOST_RATIO = 2.5;
/** Below this a doubling is noise. */
const FLOOR_MS = 300;
/** Long enough to tell; a shape is not made larger beyond it. */
const ENOUGH_MS = 6_000;
const TIMEOUT_MS = 40_000;
/** The fastest of so many is how long it takes; what else the machine does only adds. */
const TRIES = 3;

const folder = new DataFolder();
const print = (line: string): void => void process.stdout.write(`${line}\n`);
let service: Service;
let key: string;
let source: string;

async function start(): Promise<void> {
  service = await Service.start({ env: { LIFTGRAPH_DATA_DIR: folder.path, LOG_LEVEL: 'error', ...UNLIMITED } });
  const root = service.root;
  key = memberOf(
    await sendJson(
      { root, path: '/v1/agents/register', timeoutMs: TIMEOUT_MS },
      { name: 'linear-time', operator_id: crypto.randomUUID() },
    ),
    'api_key',
  );
  source = memberOf(
    await sendJson(
      { root, key, path: '/v1/data-sources/connect', timeoutMs: TIMEOUT_MS },
      { type: 'csv_upload', credentials: {} },
    ),
    'data_source_id',
  );
}

/** By force: it may be in the middle of something that does not end. */
async function end(): Promise<void> {
  const family = service.tree();
  service.signal('SIGKILL');
  await service.ended;
  for (const { pid } of survivorsOf(family)) process.kill(pid, 'SIGKILL');
}

/** The fastest of some; one that is not answered is not tried again, and the service starts anew. */
async function timed(shape: FileShape, size: number, tries = TRIES): Promise<TimedAnswer> {
  const body = shape.file(size);
  let best: TimedAnswer | undefined;
  for (let left = tries; left > 0; left -= 1) {
    const answer = await send({
      root: service.root,
      method: 'POST',
      path: `/v1/data-sources/${source}/records`,
      key,
      headers: shape.headers,
      body,
      timeoutMs: TIMEOUT_MS,
    });
    if (best === undefined || answer.tookMs < best.tookMs) best = answer;
    if (answer.status !== 0) continue;
    await end();
    await start();
    break;
  }
  return best!;
}

interface Judged {
  /** Of the costliest doubling. */
  readonly ratio: number;
  readonly line: string;
}

async function judge(shape: FileShape, fixedMs: number, from = SMALLEST, to = LARGEST): Promise<Judged> {
  const told: string[] = [];
  let ratio = 0;
  let before: number | undefined;
  for (let size = from; size <= to; size *= 2) {
    const { status, tookMs } = await timed(shape, size, 1);
    let costMs = Math.max(0, tookMs - fixedMs);
    // Once more, both sizes, before it counts: something else may have been in the way.
    if (before !== undefined && before >= FLOOR_MS && costMs > MOST_RATIO * before && status !== 0) {
      before = Math.max(before, (await timed(shape, size / 2)).tookMs - fixedMs);
      costMs = Math.min(costMs, Math.max(0, (await timed(shape, size)).tookMs - fixedMs));
    }
    const doubled = before !== undefined && before >= FLOOR_MS ? costMs / before : undefined;
    // What is not answered at all took at least as long as was waited.
    if (doubled !== undefined) ratio = Math.max(ratio, doubled);
    else if (status === 0) ratio = Infinity;
    const growth = doubled === undefined ? '' : ` ×${doubled.toFixed(2)}`;
    told.push(`${size / KIB} KiB ${Math.round(tookMs)} ms${growth}${status === 202 ? '' : ` [${status}]`}`);
    before = costMs;
    if (status === 0 || status >= 500 || tookMs > ENOUGH_MS) break;
  }
  return { ratio, line: told.join(', ') };
}

/** Whether a shape costs much more at twice the size; a hint, judged properly afterwards. */
async function isSuspicious(shape: FileShape, fixedMs: number): Promise<boolean> {
  const [once, twice] = [await timed(shape, SEARCH_SIZE, 1), await timed(shape, 2 * SEARCH_SIZE, 1)];
  const costMs = twice.tookMs - fixedMs;
  return (
    twice.status === 0 ||
    once.status === 0 ||
    (costMs > FLOOR_MS && costMs > MOST_RATIO * Math.max(FLOOR_MS / 4, once.tookMs - fixedMs))
  );
}

const missed: string[] = [];
async function report(shape: FileShape, fixedMs: number): Promise<void> {
  const { ratio, line } = await judge(shape, fixedMs);
  const isMet = ratio <= MOST_RATIO;
  if (!isMet) missed.push(shape.name);
  const verdict = `at most ${MOST_RATIO}: ${isMet ? 'met' : 'MISSED'}`;
  print(`${shape.name}: worst doubling ×${ratio.toFixed(2)} (${verdict})
  ${line}`);
}

await start();
try {
  const smallest = FILE_SHAPES[0]!;
  await timed(smallest, KIB, 10);
  const { tookMs: fixedMs } = await timed(smallest, KIB, 10);
  print(`every upload costs ${fixedMs.toFixed(0)} ms; seed ${SEED}`);
  for (const shape of FILE_SHAPES) if (ONLY === undefined || shape.name.includes(ONLY)) await report(shape, fixedMs);
  const random = seededRandom(SEED);
  let suspicious = 0;
  for (let drawn = 0; drawn < (ONLY === undefined ? SEARCHED : 0); drawn += 1) {
    const shape = randomShape(random);
    if (!(await isSuspicious(shape, fixedMs))) continue;
    suspicious += 1;
    await report(shape, fixedMs);
  }
  print(`${suspicious} of ${SEARCHED} random shapes were looked at twice`);
  print(
    `${missed.length} shapes take more than their size's time${missed.length === 0 ? '' : `: ${missed.join('; ')}`}`,
  );
} finally {
  await end();
  folder.remove();
}
process.exitCode = missed.length === 0 ? 0 : 1;
