import { writeFile } from 'node:fs/promises';
import { FRAGMENTS, NOUNS } from '../schema/contract/contract.ts';
import { documentsOf, fragmentOf } from '../schema/contract/documents.ts';
import { composeSupergraph } from '../gateway/supergraph.ts';
import type { Caller } from '../platform/outgoing/caller.ts';
import { EVENT_TYPES } from '../schema/event-catalogue.ts';
import { messageSchema } from '../schema/event-message.ts';
import type { BackingServices } from './backing-services.ts';
import { CONTRACT } from '../rest-adapter/contract.ts';
import { buildSubgraphs } from './subgraph-set.ts';
import { unservedRows } from './unserved-rows.ts';

/**
 * What is printed below `schema/`, by file name: every subgraph, what composition makes of them, and the events that
 * leave the house.
 * @throws Error where a row of the contract has no resolver, or no operation of REST
 */
export async function printSchema(): Promise<ReadonlyMap<string, string>> {
  // Types and fields are all that is asked for; nothing is resolved, so the services stay empty.
  const subgraphs = await buildSubgraphs({
    backing: {} as BackingServices,
    keyPepper: Buffer.alloc(0),
    keyEncryptionKey: '',
    outgoing: {} as Caller,
    auditPlaces: { headsFile: '', archiveDirectory: '' },
    clock: () => new Date(0),
    config: { billing: 'on' },
  });
  const files = new Map(subgraphs.map(({ name, sdl }) => [`subgraphs/${name}.graphql`, sdl]));
  const placed = subgraphs.map(({ name, sdl }) => ({ name, sdl, url: `http://${name}.internal/graphql` }));
  const supergraph = composeSupergraph(placed);
  const unserved = unservedRows(NOUNS, supergraph, CONTRACT);
  if (unserved.length > 0) throw new Error(`the contract promises what is not served:\n  ${unserved.join('\n  ')}`);
  files.set('supergraph.graphql', `${supergraph.trimEnd()}\n`);
  const fragments = Object.entries(FRAGMENTS).map(([name, record]) => `${fragmentOf(name, record)}\n`);
  files.set('operations/records.graphql', `# Made from schema/contract by npm run schema.\n${fragments.join('')}`);
  for (const noun of NOUNS) files.set(`operations/${noun.many}.graphql`, documentsOf(noun));
  for (const type of EVENT_TYPES) files.set(`events/${type}.json`, `${JSON.stringify(messageSchema(type), null, 2)}\n`);
  return files;
}

// node --import ./processes/typescript-hook.mjs processes/print-schema.ts: writes the files anew.
if (process.argv[1] === import.meta.filename) {
  for (const [name, text] of await printSchema()) await writeFile(new URL(`../schema/${name}`, import.meta.url), text);
}
