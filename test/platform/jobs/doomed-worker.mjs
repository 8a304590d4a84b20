// A worker process that takes a job, says which attempt it is, and never finishes: the test kills it.
import '../../../processes/typescript-hook.mjs';

const { createJobs } = await import('../../../platform/jobs/jobs.ts');
const { pino } = await import('pino');
const { z } = await import('zod');

process.once('message', async ({ url, queue, retryLimit, leaseS }) => {
  const jobs = await createJobs({ url, leaseS, logger: pino({ level: 'silent' }) });
  await jobs.work({ name: queue, retryLimit, data: z.unknown() }, {}, (job) => {
    process.send(job.attempt);
    return new Promise(() => {});
  });
});
process.send('ready');
