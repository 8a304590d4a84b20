// What the gateway adds to an operation, in CPU time, and how many events its subscriptions carry.
//   node --import ./processes/typescript-hook.mjs bench/gateway/gateway-cost.ts
import { execute, type DocumentNode, type GraphQLSchema } from 'graphql';
import type { GraphClient } from '../../gateway/client.ts';
import { EventSource } from '../../test/gateway/event-source.ts';
import { callerContext, startToyGateway } from '../../test/gateway/toy-gateway.ts';
import { toySubgraphs } from '../../test/gateway/toy-subgraphs.ts';

const OPERATIONS = 3_000;
const STREAMS = 50;
const EVENTS_PER_STREAM = 200;
const TARGET_MS = 1;

/** CPU milliseconds (user and system) of one call, after warming up. */
async function cpuPerCallMs(call: () => Promise<unknown>): Promise<number> {
  for (let i = 0; i < OPERATIONS / 5; i += 1) await call();
  const before = process.cpuUsage();
  for (let i = 0; i < OPERATIONS; i += 1) await call();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / OPERATIONS;
}

async function compare(
  client: GraphClient,
  schema: GraphQLSchema,
  name: string,
  variables: Record<string, unknown>,
): Promise<void> {
  const document: DocumentNode = client.document(name);
  const direct = await cpuPerCallMs(async () =>
    execute({ schema, document, variableValues: variables, contextValue: callerContext() }),
  );
  const through = await cpuPerCallMs(() => client.execute(name, variables, callerContext()));
  print(
    `${name}: direct ${direct.toFixed(3)} ms, through the gateway ${through.toFixed(3)} ms: × ` +
      `${(through / direct).toFixed(1)}, + ${(through - direct).toFixed(3)} ms (target ≤ ${TARGET_MS} ms)`,
  );
}

async function eventsPerSecond(
  client: GraphClient,
  events: EventSource,
  name: string,
  variables: Record<string, unknown>,
): Promise<void> {
  const streams = Array.from({ length: STREAMS }, () =>
    client.subscribe(name, { ...variables, shop: 'bench' }, callerContext()),
  );
  while (events.open < STREAMS) await new Promise(setImmediate);
  const started = performance.now();
  const cpu = process.cpuUsage();
  const reading = streams.map(async (stream) => {
    for (let i = 0; i < EVENTS_PER_STREAM; i += 1) await stream.next();
    await stream.return?.();
  });
  for (let sequence = 1; sequence <= EVENTS_PER_STREAM; sequence += 1)
    events.publish('bench', { sequence, bookId: `b${sequence % 50}` });
  await Promise.all(reading);
  const { user, system } = process.cpuUsage(cpu);
  const total = STREAMS * EVENTS_PER_STREAM;
  print(
    `${name} ${JSON.stringify(variables)}: ` +
      `${Math.round((total / (performance.now() - started)) * 1000)} events/s on ` +
      `${STREAMS} streams, ${((user + system) / 1000 / total).toFixed(3)} ms CPU per event`,
  );
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

const toy = await startToyGateway('in process');
const [books] = await toySubgraphs(new EventSource());
await compare(toy.gateway.client, books!.schema, 'Caller', {});
await compare(toy.gateway.client, books!.schema, 'BookList', { first: 20 });
await eventsPerSecond(toy.gateway.client, toy.events, 'BookSold', { withAuthor: false });
await eventsPerSecond(toy.gateway.client, toy.events, 'BookSold', { withAuthor: true });
const bookMs = await cpuPerCallMs(() => toy.gateway.client.execute('Book', { id: 'b1' }, callerContext()));
print(`two subgraphs, Book: ${bookMs.toFixed(3)} ms CPU`);
await toy.close();
