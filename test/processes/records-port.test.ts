import { pino } from 'pino';
import { openDatabase, type Database } from '../../platform/postgres/database.ts';
import { SCOPES, type RequestContext } from '../../schema/principal.ts';
import { newUuid, publicId } from '../../platform/identifiers.ts';
import { localRecords } from '../../processes/records-port.ts';
import type { ReceiveRecords } from '../../subgraphs/attribution/intake/data-sources/records.ts';
import { ProblemError } from '../../schema/problems.ts';
import { createTestDatabase, PATIENCE_MS, type TestDatabase } from '../platform.ts';

let testDatabase: TestDatabase;
let database: Database;
let hasRoom = true;

beforeAll(async () => {
  testDatabase = await createTestDatabase([]);
  const refuseWithoutRoom = (): void => {
    if (!hasRoom) throw new ProblemError('service_unavailable', 'no room', { code: 'disk_nearly_full' });
  };
  database = await openDatabase({
    url: testDatabase.applicationUrl,
    entities: [],
    applicationName: 'records',
    poolMax: 2,
    logger: pino({ level: 'silent' }),
    timeoutMs: PATIENCE_MS,
    refuseWithoutRoom,
  });
});
afterAll(async () => {
  await database.close();
  await testDatabase.drop();
});

test('a file that outgrows the room ends with the reason, however whoever reads it words that', async () => {
  const principal = {
    kind: 'agent',
    accountId: newUuid(),
    agentId: newUuid(),
    credentialId: newUuid(),
    scopes: SCOPES,
    environment: 'live',
    proof: 'secret',
    workspace: null,
  };
  const taken: string[] = [];
  const receiveRecords: ReceiveRecords = async (_principal, _id, { body }) => {
    try {
      for await (const piece of body) taken.push(String(piece));
    } catch (error) {
      throw new Error('the file broke off', { cause: error });
    }
    throw new Error('it was read to its end');
  };
  const inspectRecords = () => Promise.reject(new Error('nobody asked for a dry run'));
  const { ingestRecords } = localRecords(database, { receiveRecords, inspectRecords });
  async function* file(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('first');
    hasRoom = false;
    yield Buffer.from('second');
  }
  const upload = { mediaType: 'text/csv', contentEncoding: 'identity', options: {}, body: file() } as const;
  await expect(
    ingestRecords({ principal } as unknown as RequestContext, publicId('ds', newUuid()), upload),
  ).rejects.toMatchObject({ problem: { code: 'disk_nearly_full', status: 503 } });
  expect(taken).toEqual(['first']);
});
