import { AddressHasher } from '../../../services/audit/audit-entry.ts';
import { AuditSealer } from '../../../services/audit/audit-sealer.ts';
import { openDatabase } from '../../../platform/postgres/database.ts';
import { createLogger } from '../../../platform/telemetry/logs.ts';

const [url, chain] = process.argv.slice(2);
const database = await openDatabase({
  url,
  entities: [],
  applicationName: 'doomed',
  poolMax: 2,
  logger: createLogger({ level: 'silent', format: 'json' }),
});

/** Dawdles between taking the events and storing their entries, so that the kill comes in between. */
const slow = {
  ...database,
  asNobody: (work) =>
    database.asNobody((em) =>
      work({
        execute: async (sql, values) => {
          const rows = await em.execute(sql, values);
          process.stdout.write('.');
          await new Promise((resolve) => setTimeout(resolve, 200));
          return rows;
        },
      }),
    ),
};
await new AuditSealer(slow, new AddressHasher(Buffer.alloc(32))).seal(chain);
