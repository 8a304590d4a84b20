import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { House } from '../house.ts';
import { testServices } from '../platform.ts';
import { startCli } from '../processes/cli/run-cli.ts';

/** What `liftgraph admin …` prints on the installation that a house is. @throws Error unless it exits with 0 */
export async function adminOf(house: House, ...args: string[]): Promise<string> {
  const application = new URL(testServices().postgresApplicationUrl);
  application.pathname = new URL(house.ownerUrl).pathname;
  const folder = mkdtempSync(join(tmpdir(), 'admin-'));
  const { result } = startCli(['admin', ...args], {
    cwd: folder,
    temporary: folder,
    env: {
      DATABASE_URL: application.href,
      DATABASE_OWNER_URL: house.ownerUrl,
      KEY_PEPPER: house.keyPepper.toString(),
      LIFTGRAPH_DATA_DIR: join(folder, 'data'),
      AUDIT_HEADS_FILE: house.auditPlaces.headsFile,
      AUDIT_ARCHIVE_DIR: house.auditPlaces.archiveDirectory,
    },
  });
  const { code, stdout, stderr } = await result;
  if (code !== 0) throw new Error(`liftgraph admin ${args.join(' ')} exited with ${code}: ${stdout}${stderr}`);
  return stdout;
}
