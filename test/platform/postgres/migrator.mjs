// A process of its own for the test of concurrent migrations: says it is ready, migrates what it is sent, sends back
// what it applied.
import '../../../processes/typescript-hook.mjs';

const { migrate } = await import('../../../platform/postgres/migrate.ts');
process.once('message', async (options) => {
  process.send(await migrate(options));
  process.disconnect();
});
process.send('ready');
