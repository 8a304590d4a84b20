import type { Config } from '../platform/config.ts';
import type { Logger } from '../platform/telemetry/logs.ts';
import { openWayOut } from './outgoing.ts';
import { openRoleGround } from './role-ground.ts';
import type { Running } from './running.ts';
import { startWorker } from './worker.ts';

/** A worker as a process of its own: takes jobs, answers nobody. */
export async function startWorkerRole(config: Config, logger: Logger): Promise<Running> {
  const ground = await openRoleGround(config, logger);
  const outgoing = openWayOut(config);
  const worker = await startWorker({ ground, config, keyEncryptionKey: config.keyEncryptionKey!, outgoing, logger, clock: () => new Date() });
  return {
    welcome: [`Liftgraph worker is up: ${config.jobConcurrency} jobs at a time on ${config.computeThreads} threads`],
    async stop() {
      await worker.close();
      await outgoing.close();
      await ground.close();
    },
  };
}
