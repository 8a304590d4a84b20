// Ten agents that register themselves and do what stopped the service once, each in loops, from addresses of their own.
// A program of its own, so that its work is not in the way of whoever measures; see neighbours.ts, which starts it:
//   hostile-agents.ts ROOT SECONDS NUMBER[,NUMBER…]
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { seededRandom } from '../../compute/numerics/random.ts';
import { hostileCase } from '../../test/faults/hostile-files/cases.ts';
import { namedParquet, unfoldingParquet } from '../../test/faults/hostile-files/parquet-files.ts';
import { endlessParquet } from '../../test/faults/hostile-files/shapes.ts';
import { QUOTE_LINE } from '../../test/faults/hostile-files/text-files.ts';
import { memberOf, send, sendJson, type TimedAnswer } from './timed-request.ts';

const AGENTS = 10;
/** They leave after this long and come again, as somebody in a hurry. */
const TIMEOUT_MS = 30_000;
const PAUSE_MS = 300;
const BURST = 50;
const UNFOLDING_AT_ONCE = 8;
/** All ten together: what once took every file that the service may open. */
const CONNECTIONS = 1_985;
const CONNECTIONS_PER_TICK = 50;
const SEED = 380_154;
/** What one agent writes in all, at most: the disk is not ours alone. */
const FILL_BYTES = 100_000_000;
const FILL_FILE_BYTES = 10_000_000;

const CSV = { 'content-type': 'text/csv' };
const GZIPPED_CSV = { ...CSV, 'content-encoding': 'gzip' };
const PARQUET = { 'content-type': 'application/vnd.apache.parquet' };
const TOUCH_HEADER = 'user_id,timestamp,channel\n';
const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
const monthAgo = new Date(Date.now() - 30 * 86_400_000).toISOString().slice(0, 10);

const openQuotes = gzipSync(TOUCH_HEADER + QUOTE_LINE.repeat(80_000));
const unreadableLines = gzipSync(TOUCH_HEADER + 'x\n'.repeat(12_000_000));
const unfolding = unfoldingParquet(50_000_000);
const endless = endlessParquet();

/** One that has registered, with a source. */
export interface HostileAgent {
  readonly root: string;
  readonly address: string;
  readonly key: string;
  readonly source: string;
  readonly number: number;
  readonly isOver: () => boolean;
  /** Counts an answer. */
  readonly note: (status: number) => void;
}

async function upload(
  agent: HostileAgent,
  body: Uint8Array | string,
  headers: Readonly<Record<string, string>>,
  source = agent.source,
): Promise<TimedAnswer> {
  const { root, address: localAddress, key } = agent;
  const answer = await send({
    root,
    method: 'POST',
    path: `/v1/data-sources/${source}/records`,
    key,
    localAddress,
    headers,
    body,
    timeoutMs: TIMEOUT_MS,
  });
  agent.note(answer.status);
  return answer;
}

async function read(agent: HostileAgent, path: string): Promise<void> {
  const { root, address: localAddress, key } = agent;
  agent.note((await send({ root, method: 'GET', path, key, localAddress, timeoutMs: TIMEOUT_MS })).status);
}

async function ask(agent: HostileAgent, path: string, body: unknown): Promise<TimedAnswer> {
  const { root, address: localAddress, key } = agent;
  const answer = await sendJson({ root, path, key, localAddress, timeoutMs: TIMEOUT_MS }, body);
  agent.note(answer.status);
  return answer;
}

async function connectSource(agent: HostileAgent, credentials: object = {}): Promise<string> {
  return memberOf(await ask(agent, '/v1/data-sources/connect', { type: 'csv_upload', credentials }), 'data_source_id');
}

/** One round of each, by the number of the finding that it repeats. */
export const ATTACKS: Readonly<Record<number, (agent: HostileAgent, round: number) => Promise<void>>> = {
  // Lines that each leave a quote open.
  1: async (agent) => void (await upload(agent, openQuotes, GZIPPED_CSV)),

  // Parquet that is never read to its end.
  2: async (agent) => void (await upload(agent, endless, PARQUET)),

  // Days without end: a spend of the year 9999, then whatever expands the days.
  3: async (agent) => {
    const source = await connectSource(agent);
    for (const day of ['9999-12-31', '1900-01-01', '2299-12-31', yesterday])
      await upload(agent, `date,channel,spend\n${day},email,1\n`, CSV, source);
    await upload(agent, `${TOUCH_HEADER}u1,${yesterday}T10:00:00Z,email\n`, CSV, source);
    await read(agent, `/v1/data-sources/${source}/status`);
    await ask(agent, '/v1/attribution', { data_source_id: source, date_range: [monthAgo, yesterday] });
  },

  // Amounts that are none.
  4: async (agent) => {
    const amounts = ['1.234.567', '12.345.678.901', '1..5'];
    await upload(
      agent,
      `date,channel,spend\n${amounts.map((amount, row) => `${yesterday},c${row},${amount}`).join('\n')}`,
      CSV,
    );
  },

  // Parquet that unfolds.
  5: async (agent) =>
    void (await Promise.all(Array.from({ length: UNFOLDING_AT_ONCE }, () => upload(agent, unfolding, PARQUET)))),

  // Days that are in no calendar.
  6: async (agent) => {
    const days = ['0000-00-00', '2026-05-00', '2026-00-10'];
    await upload(agent, `date,channel,spend\n${days.map((day) => `${day},email,1`).join('\n')}`, CSV);
  },

  // What was answered with 500: damaged Parquet, names that are code, objects as text.
  7: async (agent, round) => {
    for (let place = 0; place < 3; place += 1)
      await upload(agent, hostileCase('parquet', SEED, 1_000 + agent.number * 1_000 + round * 3 + place).body, PARQUET);
    const name = round % 2 === 0 ? "x input('" : '{nosuch:String}';
    await upload(agent, namedParquet(name), PARQUET, await connectSource(agent, { mapping: { channel: name } }));
    const row = { user_id: { toString: 1 }, timestamp: `${yesterday}T10:00:00Z`, channel: 'email' };
    await upload(agent, JSON.stringify(row), { 'content-type': 'application/x-ndjson' });
    await upload(agent, JSON.stringify([row]), { 'content-type': 'application/json' });
  },

  // An order of a hundred trillion, then an analysis and the list.
  8: async (agent) => {
    const source = await connectSource(agent);
    await upload(agent, `${TOUCH_HEADER}u1,${yesterday}T09:00:00Z,email\n`, CSV, source);
    await upload(
      agent,
      `order_id,user_id,timestamp,revenue\no1,u1,${yesterday}T10:00:00Z,99999999999999\n`,
      CSV,
      source,
    );
    await ask(agent, '/v1/attribution', { data_source_id: source, date_range: [monthAgo, yesterday] });
    await read(agent, '/v1/attribution');
  },

  // Millions of lines that cannot be read.
  9: async (agent) => void (await upload(agent, unreadableLines, GZIPPED_CSV)),

  // As much as fits onto the disk, up to a bound of ours.
  10: async (agent, round) => {
    if (round * FILL_FILE_BYTES >= FILL_BYTES) return;
    const random = seededRandom(agent.number * 1_000 + round);
    const lines = Array.from(
      { length: FILL_FILE_BYTES / 100 },
      () => `${`${random()}${random()}${random()}`.padEnd(66, '0')},${yesterday}T10:00:00Z,email`,
    );
    await upload(agent, TOUCH_HEADER + lines.join('\n'), CSV);
  },

  // Fifty uploads to one source at once.
  11: async (agent) => {
    await Promise.all(
      Array.from({ length: BURST }, (_, row) =>
        upload(agent, `${TOUCH_HEADER}u${row},${yesterday}T10:00:00Z,email\n`, CSV),
      ),
    );
  },

  // Connections that are kept.
  12: async (agent) => {
    const kept = new Set<Socket>();
    while (!agent.isOver()) {
      for (let opened = 0; opened < CONNECTIONS_PER_TICK && kept.size < CONNECTIONS; opened += 1)
        keepConnection(agent, kept);
      await sleep(PAUSE_MS / 3);
    }
    for (const socket of kept) socket.destroy();
  },
};

/** Opens a connection, asks once, and stays. */
function keepConnection({ root, address, note }: HostileAgent, kept: Set<Socket>): void {
  const { port } = new URL(root);
  const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress: address });
  kept.add(socket);
  socket.once('connect', () =>
    socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n'),
  );
  socket.once('data', (data) => note(Number(/^HTTP\/1\.1 (\d+)/.exec(data.toString('latin1'))?.[1] ?? 0)));
  socket.on('error', () => undefined);
  socket.once('close', () => kept.delete(socket));
}

/** Registers from an address of its own: registrations are counted by address. */
async function register(root: string, number: number, isOver: () => boolean): Promise<Omit<HostileAgent, 'note'>> {
  const address = `127.0.0.${11 + number}`;
  const request = { root, localAddress: address, timeoutMs: TIMEOUT_MS };
  const registered = await sendJson(
    { ...request, path: '/v1/agents/register' },
    { name: `hostile-${number}`, operator_id: crypto.randomUUID() },
  );
  const key = memberOf(registered, 'api_key');
  const connected = await sendJson(
    { ...request, key, path: '/v1/data-sources/connect' },
    { type: 'csv_upload', credentials: {} },
  );
  return { root, address, key, source: memberOf(connected, 'data_source_id'), number, isOver };
}

/** Counts of answers by finding and status; 0 is none. */
export type AttackCounts = Readonly<Record<number, Readonly<Record<number, number>>>>;

async function main(root: string, seconds: number, numbers: readonly number[]): Promise<void> {
  const counts: Record<number, Record<number, number>> = {};
  let isOver = false;
  const agents = await Promise.all(Array.from({ length: AGENTS }, (_, number) => register(root, number, () => isOver)));
  process.send!('registered');
  await once(process, 'message');
  const endMs = performance.now() + seconds * 1_000;
  const attack = async (number: number, agent: Omit<HostileAgent, 'note'>): Promise<void> => {
    const counted = (counts[number] ??= {});
    const note = (status: number): void => void (counted[status] = (counted[status] ?? 0) + 1);
    // Not all at one instant.
    await sleep(agent.number * 100 + number * 20);
    for (let round = 0; performance.now() < endMs; round += 1) {
      await ATTACKS[number]!({ ...agent, note }, round).catch(() => note(0));
      await sleep(PAUSE_MS);
    }
  };
  setTimeout(() => (isOver = true), seconds * 1_000);
  // Whoever measures leaves when it has what it wants; nobody attacks on their own.
  process.once('disconnect', () => process.exit());
  const telling = setInterval(() => process.send?.(counts), 1_000);
  await Promise.all(numbers.flatMap((number) => agents.map((agent) => attack(number, agent))));
  clearInterval(telling);
  process.send?.(counts);
  process.disconnect();
}

if (import.meta.main) {
  const [root, seconds, numbers] = process.argv.slice(2);
  await main(root!, Number(seconds), numbers!.split(',').map(Number));
}
