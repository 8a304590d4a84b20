import { jest } from '@jest/globals';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '../../compute/numerics/random.ts';
import { Customers } from './customers.ts';
import { DataFolder } from './data-folder.ts';
import { brokenPromises, type Ledger } from './ledger.ts';
import { Service } from './service.ts';

/** `FAULT_KILLS=1000 FAULT_SEED=7 npm test test/faults/random-kills` is the long run. */
const KILLS = Number(process.env['FAULT_KILLS'] ?? 10);
const SEED = Number(process.env['FAULT_SEED'] ?? 20_261);
const CUSTOMERS = 2;
const MOST_ACKNOWLEDGED = 6;
const MOST_DELAY_MS = 150;
const VICTIMS = ['service', 'postgres', 'engine'] as const;

jest.setTimeout(120_000 + KILLS * 20_000);

describe(`${KILLS} random kills with seed ${SEED}`, () => {
  const folder = new DataFolder();
  let env: Record<string, string>;
  let service: Service;
  let customers: Customers;

  beforeAll(async () => {
    env = { LIFTGRAPH_DATA_DIR: folder.path, JOB_LEASE_S: '2', COMPUTE_THREADS: '2', PORT: String(await freePort()) };
    service = await Service.start({ env });
    customers = new Customers(service.root, SEED);
  });

  afterAll(async () => {
    if (service?.isOver === false) await service.stop();
    folder.remove();
  });

  test('nothing that was acknowledged is lost, done twice or left unfinished', async () => {
    const random = seededRandom(SEED);
    const acting = customers.act(CUSTOMERS);
    const supervise = async (): Promise<void> => {
      for (let kill = 0; kill < KILLS; kill += 1) {
        await customers.acknowledged(1 + Math.floor(random() * MOST_ACKNOWLEDGED));
        await sleep(random() * MOST_DELAY_MS);
        const victim = VICTIMS[Math.floor(random() * VICTIMS.length)]!;
        if (victim === 'service') {
          await service.stop('SIGKILL');
          service = await Service.start({ env });
        } else process.kill(victim === 'postgres' ? folder.postmasterPid() : folder.enginePid(), 'SIGKILL');
      }
      customers.close();
    };
    await Promise.all([supervise(), acting]);

    expect(customers.ledger.length).toBeGreaterThanOrEqual(CUSTOMERS);
    expect(await brokenPromises(customers.ledger, customers.callerOf)).toEqual([]);
  });

  describe('a planted fault is found', () => {
    const check = (ledger: Ledger) => brokenPromises(ledger, customers.callerOf);
    /** One tenant is enough, with an analysis to spoil. */
    const one = () => customers.ledger.slice(0, 1);
    const [idOf, planted] = [() => one()[0]!.sources[0]!.analyses[0]!, (text: string, values: unknown[] = []) => folder.sql(text, values)];
    void idOf;
    void planted;

    test('a row that was withheld', async () => {
      const [tenant] = structuredClone(one());
      tenant!.sources[0]!.touchpoints += 1;
      expect(await check([tenant!])).toEqual([expect.stringMatching(/holds \d+ touchpoints/)]);
    });
  });
});

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
