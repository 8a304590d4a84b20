import { fork, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '../../compute/numerics/random.ts';
import { publicId } from '../../platform/identifiers.ts';
import type { Delivery } from '../../services/webhooks/delivery.ts';
import { openPostOffice, VAULT_SECRET, type PostOffice } from '../services/webhooks/post-office.ts';
import { sized } from '../run-length.ts';
import {
  answer,
  hang,
  lie,
  openReceiver,
  reset,
  type Behaviour,
  type Received,
  type Receiver,
} from '../webhook-receiver.ts';

/** `FAULT_KILLS=100 FAULT_SEED=7 npm run test:long test/faults/webhook-deliveries` is a longer run. */
const KILLS = Number(process.env['FAULT_KILLS'] ?? sized({ short: 2, long: 10 }));
const SEED = Number(process.env['FAULT_SEED'] ?? 20_261);
const EVENTS = 100 * KILLS;
const SENDERS = 2;
const WAITS_MS = [10, 50, 300, 600, 900];
const TIMEOUT_MS = 500;
const LEASE_MS = 1_000;
const MOST_DELAY_MS = 300;

/**
 * Behaves badly in an attempt in five, the same way whenever that attempt is repeated; the last attempts always arrive.
 */
const MISCHIEF: readonly Behaviour[] = [
  answer(500),
  answer(302, '', { location: 'http://127.0.0.1:1/' }),
  reset,
  lie,
  hang,
];
const moody: Behaviour = (request, response, received) => {
  const attempt = Number(received.headers['x-svc-attempt']);
  const dice = createHash('sha256').update(`${received.message.id} ${attempt}`).digest();
  const behaviour = attempt < 5 && dice[0]! < 51 ? MISCHIEF[dice[1]! % MISCHIEF.length]! : answer(200);
  return behaviour(request, response, received);
};

/** What was promised and not kept; empty when all is well. */
function brokenPromises(
  eventIds: readonly string[],
  received: readonly Received[],
  deliveries: readonly Delivery[],
): string[] {
  const broken: string[] = [];
  const arrived = new Map<string, Received[]>();
  for (const each of received) arrived.set(each.message.id, [...(arrived.get(each.message.id) ?? []), each]);
  for (const id of eventIds) if (!arrived.has(id)) broken.push(`${id} was lost`);
  for (const id of arrived.keys()) if (!eventIds.includes(id)) broken.push(`${id} never happened`);
  const known = new Map(deliveries.map((delivery) => [publicId('dlv', delivery.id), delivery]));
  const succeeded = new Set(
    deliveries.filter(({ status }) => status === 'success').map(({ eventId }) => publicId('evt', eventId)),
  );
  for (const id of eventIds) if (!succeeded.has(id)) broken.push(`${id} is not on record as delivered`);
  for (const { headers, message } of received) {
    const delivery = known.get(headers['x-svc-delivery']!);
    if (headers['webhook-id'] !== message.id)
      broken.push(`${message.id} was sent under the id ${headers['webhook-id']}`);
    if (
      delivery === undefined ||
      publicId('evt', delivery.eventId) !== message.id ||
      String(delivery.attempt) !== headers['x-svc-attempt']
    )
      broken.push(`${headers['x-svc-delivery']} is on record as something else`);
  }
  for (const { id, eventId, attempt } of deliveries) {
    const twins = deliveries.filter(
      (other) => other.eventId === eventId && other.attempt === attempt && other.id !== id,
    );
    if (twins.length > 0) broken.push(`attempt ${attempt} at ${publicId('evt', eventId)} has two ids`);
  }
  return broken;
}

describe(`${EVENTS} events, ${KILLS} kills of a sender and one of all, with seed ${SEED}`, () => {
  let office: PostOffice;
  let receiver: Receiver;
  /** Those at work, by their places. */
  const senders: ChildProcess[] = [];
  /** Whatever a test came to: none stays behind. */
  const started: ChildProcess[] = [];

  beforeAll(async () => {
    [office, receiver] = await Promise.all([openPostOffice({}), openReceiver()]);
  });
  afterAll(async () => {
    await Promise.all(started.map(kill));
    await receiver.close();
    await office.close();
  });

  async function startSender(plant?: string): Promise<ChildProcess> {
    const options = {
      url: office.testDatabase.applicationUrl,
      vaultSecret: VAULT_SECRET,
      waitsMs: WAITS_MS,
      leaseMs: LEASE_MS,
      timeoutMs: TIMEOUT_MS,
      plant,
    };
    const sender = fork(fileURLToPath(new URL('webhook-sender.mjs', import.meta.url)), [JSON.stringify(options)], {
      execArgv: [],
    });
    started.push(sender);
    await once(sender, 'message');
    return sender;
  }

  async function kill(sender: ChildProcess): Promise<void> {
    if (sender.exitCode !== null || sender.signalCode !== null) return;
    sender.kill('SIGKILL');
    await once(sender, 'exit');
  }

  /** Kills all senders while a message is under way, so that somebody has to repeat it. */
  async function killInTheAct(path: string): Promise<void> {
    const underWay = Promise.withResolvers<void>();
    receiver.behave(path, () => underWay.resolve());
    await underWay.promise;
    await Promise.all(senders.map(kill));
    receiver.behave(path, moody);
    senders.splice(0, SENDERS, ...(await Promise.all(senders.map(() => startSender()))));
  }

  /** Events that happen while `disturb` goes on; what of the promises about them was not kept. */
  async function run(path: string, events: number, pauseMs: number, disturb: () => Promise<void>): Promise<string[]> {
    receiver.behave(path, moody);
    const { id } = await office.open(`${receiver.url}${path}`, ['attribution.completed']);
    const eventIds: string[] = [];
    const happening = async (): Promise<void> => {
      for (let event = 0; event < events; event += 1) {
        eventIds.push(publicId('evt', (await office.happen('attribution.completed')).eventId));
        await sleep(pauseMs);
      }
    };
    await Promise.all([happening(), disturb()]);
    const deliveries = await office.settled(id, events);
    await office.drop(id);
    return brokenPromises(
      eventIds,
      receiver.received.filter((each) => each.path === path),
      deliveries,
    );
  }

  test(
    'nothing is lost, and repeats have the ids of what they repeat',
    async () => {
      const random = seededRandom(SEED);
      for (let sender = 0; sender < SENDERS; sender += 1) senders.push(await startSender());
      const broken = await run('/moody', EVENTS, 10, async () => {
        await killInTheAct('/moody');
        for (let count = 0; count < KILLS; count += 1) {
          const [successor] = await Promise.all([startSender(), sleep(random() * MOST_DELAY_MS)]);
          const place = Math.floor(random() * SENDERS);
          await kill(senders[place]!);
          senders[place] = successor;
        }
      });
      // Whatever is found below: those who lie in the next tests work alone.
      await Promise.all(senders.splice(0).map(kill));
      const repeats =
        receiver.received.length - new Set(receiver.received.map(({ headers }) => headers['x-svc-delivery'])).size;
      expect(broken).toEqual([]);
      // The kills have met messages under way.
      expect(repeats).toBeGreaterThan(0);
    },
    60_000 + KILLS * 5_000,
  );

  test.each([
    ['says that it sent what it did not', / was lost$/],
    ['gives repeats another id', / was sent under the id /],
  ])('the checks find a sender that %s', async (plant, finding) => {
    const sender = await startSender(plant);
    const broken = await run(`/planted-${plant.length}`, 40, 1, () => Promise.resolve());
    await kill(sender);
    expect(broken).toContainEqual(expect.stringMatching(finding));
  });
});
