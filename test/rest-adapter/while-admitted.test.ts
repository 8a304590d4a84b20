import { setTimeout as sleep } from 'node:timers/promises';
import { openDoor } from './door.ts';

test('a download breaks off when the credential that was shown for it ends, and looks like it', async () => {
  const letGo = Promise.withResolvers<void>();
  await using door = await openDoor({
    exportAttribution: async () => ({
      fileName: 'endless.csv',
      body: (async function* () {
        try {
          for (;;) {
            yield Buffer.from('1,2\n');
            await sleep(5);
          }
        } finally {
          letGo.resolve();
        }
      })(),
    }),
  });
  const response = await door.call('GET', '/v1/attribution/attr_done/export?format=csv');
  expect(response.status).toBe(200);
  const reader = response.body!.getReader();
  await reader.read();
  for (const end of door.admission.watches) end();
  await expect(
    (async () => {
      while (!(await reader.read()).done);
    })(),
  ).rejects.toThrow();
  // Behind the chunk that was being made.
  await letGo.promise;
});
