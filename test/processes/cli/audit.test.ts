import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { newUuid } from '../../../platform/identifiers.ts';
import { keySetOf } from '../../../services/trust/signing-key.ts';
import { AuditHouse } from '../../services/audit/audit-house.ts';
import { startCli, type CliResult } from './run-cli.ts';

let house: AuditHouse;
let chain: string;
beforeAll(async () => {
  house = await AuditHouse.open();
  chain = newUuid();
  await house.tell(chain, 12);
  await house.sealer.seal(chain);
  await house.signer().signDue(true);
  await house.tell(chain, 12);
  await house.sealer.seal(chain);
  await house.signer().signDue(true);
  writeFileSync(join(house.folder, 'jwks.json'), JSON.stringify(keySetOf(await house.publicKeys.published())));
});
afterAll(() => house?.close());

const audit = (args: readonly string[]): Promise<CliResult> =>
  startCli(['audit', ...args], {
    cwd: house.folder,
    temporary: house.folder,
    env: {
      DATABASE_URL: house.testDatabase.applicationUrl,
      DATABASE_OWNER_URL: house.testDatabase.ownerUrl,
      LIFTGRAPH_DATA_DIR: house.folder,
      AUDIT_ARCHIVE_DIR: join(house.folder, 'archive'),
    },
  }).result;
const verify = (file: string, heads = 'heads.ndjson', jwks = 'jwks.json') =>
  audit(['verify', file, '--heads', heads, '--jwks', jwks]);

describe('liftgraph audit', () => {
  let file: string;

  test('archives with the rights of the owner, and the file is proven on its own', async () => {
    expect(await audit(['archive'])).toMatchObject({
      code: 0,
      stdout: `0 entries were moved to ${join(house.folder, 'archive')}\n`,
    });
    const archived = await audit(['archive', '--older-than-days', '0']);
    expect(archived).toMatchObject({ code: 0, stderr: '' });
    expect(archived.stdout).toContain(`${chain}/0000000001-0000000023.ndjson.gz  23 entries\n23 entries were moved`);
    file = join('archive', chain, readdirSync(join(house.folder, 'archive', chain))[0]!);
    const checked = await verify(file);
    expect(checked).toMatchObject({ code: 0, stderr: '' });
    expect(checked.stdout).toBe(
      `intact\n  chain       ${chain}\n  entries     1 to 23, 23 of them right\n  witnessed   through 12, by 1 ` +
        `signed heads\n`,
    );
  }, 60_000);

  test('prints a chain, archived entries and all, as it can be checked', async () => {
    const printed = await audit(['export', chain]);
    expect(printed.code).toBe(0);
    expect(
      printed.stdout
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { sequence: number }).sequence),
    ).toEqual(Array.from({ length: 24 }, (_, index) => index + 1));
    writeFileSync(join(house.folder, 'exported.ndjson'), printed.stdout);
    expect((await verify('exported.ndjson')).stdout).toContain(
      'entries     1 to 24, 24 of them right\n  witnessed   through 24, by 2 signed heads',
    );
    expect(await audit(['export'])).toMatchObject({ code: 0, stdout: '' });
    expect(await audit(['export', 'mine'])).toMatchObject({
      code: 1,
      stderr: 'error: mine is not a chain. Give the chain_id of an entry, or installation.\n',
    });
  }, 60_000);

  test('finds what was changed, hashed anew or is vouched for by nobody', async () => {
    const lines = gunzipSync(readFileSync(join(house.folder, file)))
      .toString()
      .trimEnd()
      .split('\n');
    const put = (name: string, content: readonly string[]) => (
      writeFileSync(join(house.folder, name), `${content.join('\n')}\n`),
      name
    );
    const heads = readFileSync(house.file.path, 'utf8').trimEnd().split('\n');
    const [changed, part, unwitnessed, elsewhere, nothing, missing] = await Promise.all([
      verify(
        put(
          'changed.ndjson',
          lines.map((line) => line.replace('"sequence":7', '"sequence":7,"x":1')),
        ),
      ),
      verify(put('part.ndjson', lines.slice(5, 15))),
      verify(put('late.ndjson', lines.slice(15))),
      verify(
        file,
        put(
          'forged.ndjson',
          heads.map((line) => line.replace(/"jws":"([^"]*).{4}"/, '"jws":"$1AAAA"')),
        ),
      ),
      verify(put('nothing.ndjson', ['{}'])),
      verify('nowhere.ndjson'),
    ]);
    expect([changed.code, part.code, unwitnessed.code, elsewhere.code, nothing.code, missing.code]).toEqual([
      1, 0, 1, 1, 2, 2,
    ]);
    expect(changed.stdout).toContain('BROKEN at entry 7: altered.');
    expect(part.stdout).toContain('not known   what came before entry 6');
    expect(unwitnessed.stdout).toContain('NOT PROVEN: no signed head vouches for any of these entries.');
    expect(elsewhere.stdout).toContain('NOT PROVEN: 2 heads of this chain were signed by no key of this set');
    expect(nothing.stderr).toContain('its first line is not an entry of an audit log');
    expect(missing.stderr).toContain('there is no such file');
  }, 60_000);
});
