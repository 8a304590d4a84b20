import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createCaller, type Caller } from '../../../platform/outgoing/caller.ts';
import { nameLookup } from '../../../platform/outgoing/name-lookup.ts';

/** Addresses by name and type (1: A, 28: AAAA); a name that is not here is not answered at all. */
const ZONE: Readonly<Record<string, Readonly<Record<number, readonly number[]>>>> = {
  'both.test': {
    1: [93, 184, 215, 14],
    28: [0x26, 0x06, 0x28, 0, 2, 0x1f, 0xcb, 7, 0x68, 0x20, 0x80, 0xda, 0xaf, 0x6b, 0x8b, 0x2c],
  },
  'mixed.test': { 1: [93, 184, 215, 14], 28: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1] },
  'four.test': { 1: [93, 184, 215, 14] },
  'nothing.test': {},
};

/** A name server (RFC 1035 §4): one question, at most one answer. */
const server = createSocket('udp4', (query, { port, address }) => {
  const labels: string[] = [];
  let place = 12;
  for (; query[place] !== 0; place += query[place]! + 1)
    labels.push(query.toString('latin1', place + 1, place + 1 + query[place]!));
  const type = query.readUInt16BE(place + 1);
  const records = ZONE[labels.join('.')];
  if (records === undefined) return;
  const data = records[type];
  const header = Buffer.from([query[0]!, query[1]!, 0x81, 0x80, 0, 1, 0, data === undefined ? 0 : 1, 0, 0, 0, 0]);
  const answer = data === undefined ? [] : [0xc0, 0x0c, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length, ...data];
  server.send(Buffer.concat([header, query.subarray(12, place + 5), Buffer.from(answer)]), port, address);
});
let caller: Caller;
beforeAll(async () => {
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  caller = createCaller({
    allowPrivate: false,
    timeoutMs: 15_000,
    maxResponseBytes: 1,
    lookup: nameLookup({ servers: [`127.0.0.1:${server.address().port}`] }),
  });
});
afterAll(async () => {
  await caller.close();
  server.close();
});

test('a name of public addresses is taken, of either family or both', async () => {
  for (const name of ['both.test', 'four.test']) await caller.assertCallable(`https://${name}/`);
});

test('one private address among them is enough to refuse it', async () => {
  await expect(caller.assertCallable('https://mixed.test/')).rejects.toMatchObject({ code: 'blocked_address' });
});

test('a name without an address is not known', async () => {
  await expect(caller.assertCallable('https://nothing.test/')).rejects.toMatchObject({ code: 'dns' });
});

test('names whose servers are silent hold up no others, and are given up in time', async () => {
  const startedMs = performance.now();
  let givenUp = 0;
  const silent = Promise.allSettled(
    Array.from({ length: 64 }, (_, index) =>
      caller.call({ url: `https://silent${index}.test/`, method: 'POST', headers: {} }).finally(() => (givenUp += 1)),
    ),
  );
  await caller.assertCallable('https://four.test/');
  expect(givenUp).toBe(0);
  for (const outcome of await silent) expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'dns' } });
  expect(performance.now() - startedMs).toBeLessThan(6_000);
}, 20_000);
