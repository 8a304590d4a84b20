import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '../../compute/numerics/random.ts';
import { auditLog } from '../../processes/audit-services.ts';
import { recordEvent } from '../../services/events/outbox.ts';
import { newUuid } from '../../platform/identifiers.ts';
import { wholeAccount } from '../../platform/postgres/database.ts';
import { checkBooks } from '../../subgraphs/billing/books/check-books.ts';
import { sized } from '../run-length.ts';
import { openEconomy, type Economy, type Member } from '../subgraphs/billing/economy.ts';
import { ended } from '../subgraphs/billing/fees/books.ts';

/** `FAULT_KILLS=300 FAULT_SEED=7 npm test test/faults/commissions` is a longer run. */
const KILLS = Number(process.env['FAULT_KILLS'] ?? sized({ short: 2, long: 30 }));
const SEED = Number(process.env['FAULT_SEED'] ?? 20_262);
const ANALYSES = 30 * KILLS;
const RELAYS = 2;
const POLL_MS = 20;

describe(`${ANALYSES} fees that three agents earn on, ${KILLS} kills, with seed ${SEED}`, () => {
  let economy: Economy;
  const random = seededRandom(SEED);
  /** Whatever a test came to: none stays behind. */
  const started: ChildProcess[] = [];

  beforeAll(async () => {
    economy = await openEconomy();
  });
  afterAll(async () => {
    await Promise.all(started.map(kill));
    await economy?.close();
  });

  async function startRelay(plant?: string): Promise<ChildProcess> {
    const options = { url: economy.url, dawdleMs: 10, earns: true, plant };
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

  /** Who referred whom, the last of whom serves the brand: all three earn on each of its fees. */
  async function chain(): Promise<readonly [Member, Member, Member]> {
    const first = await economy.agent();
    const second = await economy.agent(first);
    const serving = await economy.agent(second);
    await economy.analyse(serving.accountId, serving, 100_000);
    return [first, second, serving];
  }

  async function complete(serving: Member, count: number, pauseMs: number): Promise<void> {
    const brand = await economy.brand();
    for (let each = 0; each < count; each += 1) {
      const { id: _id, ...event } = ended(brand, { deltaRCents: Math.floor(random() * 1e6), agentId: serving.agentId });
      await economy.database.asTenant(wholeAccount(event), (em) => recordEvent(em, economy.pubSub, event));
      await sleep(pauseMs);
    }
  }

  async function relayed(): Promise<void> {
    const waiting = `select from events.outbox where relayed_at is null and type = 'attribution.completed'`;
    while ((await economy.owner.query(waiting)).rowCount !== 0) await sleep(POLL_MS);
  }

  const disagreements = async () => {
    const places = { headsFile: join(tmpdir(), `heads-${newUuid()}`), archiveDirectory: tmpdir() };
    const log = auditLog(economy.database, randomBytes(32), places);
    return (await checkBooks({ database: economy.database, auditLog: log })).disagreements;
  };
  const entries = async (members: readonly Member[]) =>
    Promise.all(members.map(async (member) => (await economy.commissions(member)).length));

  test(
    'nobody loses a commission, nobody has one twice, and the books agree',
    async () => {
      const members = await chain();
      const before = await entries(members);
      const relays = await Promise.all(Array.from({ length: RELAYS }, () => startRelay()));
      const killing = async (): Promise<void> => {
        for (let count = 0; count < KILLS; count += 1) {
          await sleep(random() * 400);
          const place = Math.floor(random() * RELAYS);
          await kill(relays[place]!);
          relays[place] = await startRelay();
        }
      };
      await Promise.all([complete(members[2], ANALYSES, 2), killing()]);
      await relayed();
      await Promise.all(relays.map(kill));
      expect((await entries(members)).map((count, index) => count - before[index]!)).toEqual([
        ANALYSES,
        ANALYSES,
        ANALYSES,
      ]);
      expect(await disagreements()).toEqual([]);
    },
    120_000 + KILLS * 8_000,
  );

  test('a process that earns outside of the event’s transaction, again and again, still earns once', async () => {
    const members = await chain();
    const before = await entries(members);
    const relay = await startRelay('earns before the event is its own');
    await complete(members[2], 12, 0);
    await relayed();
    await kill(relay);
    expect((await entries(members)).map((count, index) => count - before[index]!)).toEqual([12, 12, 12]);
    expect(await disagreements()).toEqual([]);
  }, 120_000);

  test('the check finds a process that passes over an event', async () => {
    const members = await chain();
    const relay = await startRelay('passes over an event');
    const before = await entries(members);
    await complete(members[2], 24, 0);
    await relayed();
    await kill(relay);
    expect((await entries(members))[0]).toBeLessThan(before[0]! + 24);
  }, 120_000);
});
