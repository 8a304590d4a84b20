import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '../../compute/numerics/random.ts';
import { platformFeeCents } from '../../schema/platform-fee.ts';
import { recordEvent } from '../../services/events/outbox.ts';
import type { Uuid } from '../../platform/identifiers.ts';
import { wholeAccount } from '../../platform/postgres/database.ts';
import { sized } from '../run-length.ts';
import { ended, openBooks, type Books } from '../subgraphs/billing/fees/books.ts';

/** `FAULT_KILLS=300 FAULT_SEED=7 npm test test/faults/fees` is a longer run. */
const KILLS = Number(process.env['FAULT_KILLS'] ?? sized({ short: 3, long: 30 }));
const SEED = Number(process.env['FAULT_SEED'] ?? 20_261);
const ANALYSES = 60 * KILLS;
const RELAYS = 2;
const DAWDLE_MS = 20;
const MOST_PAUSE_MS = 400;
const POLL_MS = 20;
/** Of so many analyses one repeats an earlier one. */
const REPEATED = 4;

/** An analysis that has happened, and what it has to cost. */
interface Expected {
  readonly id: Uuid;
  readonly digest: string;
  readonly deltaRCents: number;
}

describe(`${ANALYSES} analyses, ${KILLS} kills of a process that charges them, with seed ${SEED}`, () => {
  let books: Books;
  const random = seededRandom(SEED);
  /** Whatever a test came to: none stays behind. */
  const started: ChildProcess[] = [];

  beforeAll(async () => {
    books = await openBooks();
  });
  afterAll(async () => {
    await Promise.all(started.map(kill));
    await books?.close();
  });

  async function startRelay(plant?: string): Promise<ChildProcess> {
    const options = { url: books.testDatabase.applicationUrl, dawdleMs: DAWDLE_MS, plant };
    const relay = fork(fileURLToPath(new URL('fee-relay.mjs', import.meta.url)), [JSON.stringify(options)], {
      execArgv: [],
    });
    started.push(relay);
    await once(relay, 'message');
    return relay;
  }

  async function kill(relay: ChildProcess): Promise<void> {
    if (relay.exitCode !== null || relay.signalCode !== null) return;
    relay.kill('SIGKILL');
    await once(relay, 'exit');
  }

  /** Analyses that complete one after the other, some of them twice. */
  async function complete(accountId: Uuid, count: number, pauseMs: number): Promise<readonly Expected[]> {
    const happened: Expected[] = [];
    for (let each = 0; each < count; each += 1) {
      const repeated = each % REPEATED === REPEATED - 1 ? happened[Math.floor(random() * happened.length)]! : null;
      const deltaRCents = repeated?.deltaRCents ?? Math.floor(random() * 1_000_000);
      const digest = repeated?.digest ?? `sha256:${each}`;
      const { id, ...event } = ended(accountId, { deltaRCents, inputDigest: digest });
      await books.database.asTenant(wholeAccount(event), (em) => recordEvent(em, books.pubSub, event));
      happened.push({ id, digest, deltaRCents });
      await sleep(pauseMs);
    }
    return happened;
  }

  async function relayed(): Promise<void> {
    while ((await books.owner.query('select from events.outbox where relayed_at is null')).rowCount !== 0)
      await sleep(POLL_MS);
  }

  /** What is wrong with the charges of an account; empty when all is well. */
  async function faults(accountId: Uuid, happened: readonly Expected[]): Promise<string[]> {
    const charges = new Map((await books.charges(accountId)).map((charge) => [charge.analysis, charge]));
    const found: string[] = [];
    const paid = new Map<string, bigint>();
    for (const { id, digest, deltaRCents } of happened) {
      const charge = charges.get(id);
      if (charge === undefined) found.push(`${id} was lost`);
      else if (charge.delta !== BigInt(deltaRCents)) found.push(`${id} has another recovered revenue`);
      else paid.set(digest, (paid.get(digest) ?? 0n) + charge.fee);
    }
    for (const [digest, fee] of paid) {
      const due = platformFeeCents(BigInt(happened.find((each) => each.digest === digest)!.deltaRCents));
      if (fee !== due) found.push(`${digest} cost ${fee} in place of ${due}`);
    }
    if (charges.size > happened.length) found.push('something was charged that never happened');
    return found;
  }

  test(
    'nothing is lost, and nothing is charged twice',
    async () => {
      const account = await books.open('pay_per_analysis');
      const relays = await Promise.all(Array.from({ length: RELAYS }, () => startRelay()));
      const killing = async (): Promise<void> => {
        for (let count = 0; count < KILLS; count += 1) {
          await sleep(random() * MOST_PAUSE_MS);
          const place = Math.floor(random() * RELAYS);
          await kill(relays[place]!);
          relays[place] = await startRelay();
        }
      };
      const [happened] = await Promise.all([complete(account, ANALYSES, 2), killing()]);
      await relayed();
      await Promise.all(relays.map(kill));
      expect(await faults(account, happened)).toEqual([]);
      expect((await books.charges(account)).filter(({ repeats }) => repeats !== null).length).toBeGreaterThan(0);
    },
    60_000 + KILLS * 5_000,
  );

  test.each([
    ['passes over an event', / was lost$/],
    ['forgets what was asked before', / cost \d+ in place of /],
  ])('the checks find a process that %s', async (plant, finding) => {
    const account = await books.open('pay_per_analysis');
    const relay = await startRelay(plant);
    const happened = await complete(account, 24, 0);
    await relayed();
    await kill(relay);
    expect(await faults(account, happened)).toContainEqual(expect.stringMatching(finding));
  });

  test('a charge outside of the event’s transaction, made again and again, is still one', async () => {
    const account = await books.open('pay_per_analysis');
    const relay = await startRelay('charges before the event is its own');
    const happened = await complete(account, 12, 0);
    await relayed();
    await kill(relay);
    expect(await faults(account, happened)).toEqual([]);
  }, 120_000);
});
