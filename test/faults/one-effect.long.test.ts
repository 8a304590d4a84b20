import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Caller } from '../house.ts';
import { openTwoInstances, type Point, type TwoInstances } from './two-instances.ts';

/** Requests under one key at a time; every third round something happens to their executor. */
const REQUESTS = 200;
const ROUNDS = Number(process.env['LIFTGRAPH_FAULT_ROUNDS'] ?? 9);
const PAUSE_MS = 100;
const FAULTS = ['killed before its commit', 'killed behind its commit', 'frozen past its lease'] as const;
type Fault = (typeof FAULTS)[number];
/** A connection is one message: whoever is to be late with it has to be frozen before he sends it. */
const POINT_OF: Readonly<Record<Fault, Point>> = {
  'killed before its commit': 'effect',
  'killed behind its commit': 'answer',
  'frozen past its lease': 'claim',
};

interface Outcome {
  readonly status: number;
  readonly text: string;
  readonly isReplay: boolean;
}

/** What one round led to. */
interface Verdict {
  readonly effects: number;
  readonly statuses: readonly number[];
  readonly differentAnswers: number;
  readonly firstAnswers: number;
}
const SOUND: Verdict = { effects: 1, statuses: [201], differentAnswers: 1, firstAnswers: 1 };

let instances: TwoInstances;
let key: string;
let rounds = 0;

beforeAll(async () => {
  instances = await openTwoInstances();
  key = (await Caller.register(instances.other.root)).key!;
}, 120_000);
afterAll(() => instances.stop(), 60_000);

/** Asks until there is an answer, at the other instance once the first one is gone. */
async function insist(root: string, name: string): Promise<Outcome> {
  let at = root;
  for (;;) {
    const response = await fetch(`${at}/v1/data-sources/connect`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'x-nonce': randomUUID(),
        'svc-idempotency-key': name,
      },
      body: JSON.stringify({ type: 'csv_upload', name, credentials: {} }),
    }).catch(() => undefined);
    const text = await response?.text().catch(() => undefined);
    if (response === undefined || text === undefined) at = instances.other.root;
    else if (response.status !== 503 && !text.includes('idempotency_in_progress'))
      return { status: response.status, text, isReplay: response.headers.get('svc-idempotent-replayed') === 'true' };
    await sleep(PAUSE_MS);
  }
}

async function round(fault: Fault | null): Promise<Verdict> {
  const name = `round ${(rounds += 1)}`;
  const roots = [instances.one.root, instances.other.root];
  const asked: Promise<Outcome>[] = [];
  const askOthers = () => {
    while (asked.length < REQUESTS) asked.push(insist(roots[asked.length % 2]!, name));
  };
  if (fault !== null) {
    const point = POINT_OF[fault];
    await instances.holdUpAt(point);
    asked.push(insist(instances.one.root, name));
    const backend = await instances.reached(point);
    if (fault === 'frozen past its lease') {
      instances.one.signal('SIGSTOP');
      await instances.letPass(point);
      await instances.letLeasesEnd();
      asked.push(insist(instances.other.root, name));
      await asked[1];
      instances.one.signal('SIGCONT');
      askOthers();
    } else {
      askOthers();
      await instances.one.stop('SIGKILL');
      await instances.doom(backend);
      await instances.letPass(point);
      await instances.letLeasesEnd();
    }
  }
  askOthers();
  const outcomes = await Promise.all(asked);
  if (instances.one.isOver) await instances.restart();
  const { rows } = await instances.owner.query<{ n: string }>(
    'select count(*) as n from attribution.data_sources where name = $1',
    [name],
  );
  return {
    effects: Number(rows[0]!.n),
    statuses: [...new Set(outcomes.map(({ status }) => status))],
    differentAnswers: new Set(outcomes.map(({ text }) => text)).size,
    firstAnswers: outcomes.filter(({ isReplay }) => !isReplay).length,
  };
}

test(`${REQUESTS} requests under one key: one effect, one answer, whatever happens to their executor`, async () => {
  for (let each = 0; each < ROUNDS; each += 1) {
    const fault = each % 3 === 2 ? FAULTS[Math.floor(each / 3) % FAULTS.length]! : null;
    expect({ fault, ...(await round(fault)) }).toEqual({ fault, ...SOUND });
  }
}, 600_000);

describe('the checker sees', () => {
  let sound: string;
  beforeAll(async () => {
    const { rows } = await instances.owner.query<{ definition: string }>(
      `select pg_get_functiondef('idempotency.settle'::regproc) as definition`,
    );
    sound = rows[0]!.definition;
  });
  afterEach(() => instances.owner.query(sound));

  test('an effect that is recorded outside of its transaction', async () => {
    await instances.owner.query(sound.replace(/update[^;]*;\s*return found;/, 'return true;'));
    expect((await round('killed behind its commit')).effects).toBe(2);
  }, 120_000);

  test('an attempt that is not fenced', async () => {
    await instances.owner.query(
      sound.replace(/ and attempt_id = in_attempt and answer is null/, '').replace('return found;', 'return true;'),
    );
    expect((await round('frozen past its lease')).effects).toBe(2);
  }, 120_000);

  test('none of them in the code as it is', async () => {
    expect(await round('killed behind its commit')).toEqual(SOUND);
    expect(await round('frozen past its lease')).toEqual(SOUND);
  }, 120_000);
});
