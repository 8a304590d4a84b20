// A process that runs an embedded PostgreSQL on the given data directory until it is killed.
import '../../../processes/typescript-hook.mjs';

const { startEmbeddedPostgres } = await import('../../../platform/postgres/embedded-server.ts');
const { pino } = await import('pino');

const { ownerUrl, applicationUrl } = await startEmbeddedPostgres({
  dataDir: process.argv[2],
  logger: pino({ level: 'silent' }),
});
process.send({ ownerUrl, applicationUrl });
