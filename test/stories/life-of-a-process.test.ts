import { jest } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DataFolder } from '../faults/data-folder.ts';
import { survivorsOf, untilGone } from '../faults/process-tree.ts';
import { Service } from '../faults/service.ts';
import { freePort } from '../free-port.ts';
import { createTestDatabase } from '../platform.ts';

jest.setTimeout(120_000);

/** Holds characters that a shell would take apart. */
const folder = new DataFolder({ name: `an owner's data`, withExample: true });
const env = { LIFTGRAPH_DATA_DIR: folder.path };
let service: Service | undefined;

afterAll(async () => {
  if (service?.isOver === false) await service.stop();
  folder.remove();
});

const refused = (more: Record<string, string>) => Service.spawn({ env: { ...env, ...more } }).ended;

describe('the life of a process', () => {
  test('the first start prints a script that works as it is pasted', async () => {
    service = await Service.start({ env, program: 'launcher' });
    const [, script] = await service.printed(/\nPaste this .*:\n\n([^]*?)\n\nCtrl-C stops it\.\n/);
    // Pasted into some other folder, as people do.
    const shell = spawn('bash', ['-c', script!], { cwd: tmpdir(), stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [shell.stdout, shell.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await once(shell, 'close');
    const [heads, ...rows] = output
      .split('\n')
      .filter((line) => line.startsWith('│'))
      .map((line) =>
        line
          .split('│')
          .map((cell) => cell.trim())
          .slice(1, -1),
      );
    expect(heads).toEqual(['(index)', 'channel', 'spend', 'last_click', 'causal', 'roas']);
    expect(rows.map((row) => row[1])).toEqual(
      expect.arrayContaining([`'meta_ads'`, `'google_ads'`, `'email'`, `'direct'`]),
    );
    for (const row of rows) expect(Number(row[4])).not.toBeNaN();
  });

  test('a second one on the same data directory is refused in one line', async () => {
    const { code, stderr, stdout } = await refused({});
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toMatch(
      new RegExp(
        String.raw`^liftgraph cannot start: The data directory .*an owner's data is in use by process \d+ ` +
          String.raw`since \S+Z\. Stop it first, .*LIFTGRAPH_DATA_DIR\.\n$`,
      ),
    );
  });

  test('a port that is taken is named in one line, and nothing of the start stays behind', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const elsewhere = join(dirname(folder.path), 'elsewhere');
    mkdirSync(elsewhere, { mode: 0o711 });
    const second = Service.spawn({ env: { LIFTGRAPH_DATA_DIR: elsewhere, PORT: String(port) } });
    await second.logged('embedded PostgreSQL is up');
    const family = second.tree();
    const { code, stderr } = await second.ended;
    taken.close();
    expect(code).toBe(2);
    expect(stderr).toBe(
      `liftgraph cannot start: port ${port} on 127.0.0.1 is taken by another program. Choose another one: ` +
        `PORT=${port + 1} npm start\n`,
    );
    expect(survivorsOf(family)).toEqual([]);
  });

  test('a database that comes up later is waited for', async () => {
    const database = await createTestDatabase([]);
    const port = await freePort();
    const throughPort = (url: string) => Object.assign(new URL(url), { port: String(port) }).href;
    const patient = join(dirname(folder.path), 'patient');
    mkdirSync(patient, { mode: 0o711 });
    const waiting = Service.spawn({
      env: {
        LIFTGRAPH_DATA_DIR: patient,
        DATABASE_URL: throughPort(database.applicationUrl),
        DATABASE_OWNER_URL: throughPort(database.ownerUrl),
      },
    });
    const { reason } = await waiting.logged('a database cannot be reached yet, trying again');
    expect(reason).toBe(
      `The database cannot be reached at the moment. Try again in a few seconds. (connect ECONNREFUSED ` +
        `127.0.0.1:${port})`,
    );
    const server = new URL(database.ownerUrl);
    const forwarder = createServer((socket) => {
      const onward = connect(Number(server.port), server.hostname);
      // The service cuts its connections when it ends; one that stayed open behind it would keep the database from
      // going.
      for (const [each, other] of [
        [socket, onward],
        [onward, socket],
      ] as const)
        each.on('error', () => undefined).once('close', () => other.destroy());
      socket.pipe(onward).pipe(socket);
    }).listen(port, '127.0.0.1');
    await waiting.printed(/Liftgraph is up/);
    expect((await waiting.stop()).code).toBe(0);
    forwarder.close();
    await database.drop();
  });

  test('every wrong setting is named in a line of its own, without its secret', async () => {
    const { code, stderr, stdout } = await refused({
      PORT: 'eighty',
      JOB_LEASE_S: '0',
      LIFTGRAPH_ROLE: 'everything',
      INTERNAL_SECRET: 'too short',
      DATABASE_URL: 'postgres//me:s3cret@db',
    });
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(
      stderr
        .trimEnd()
        .split('\n')
        .map((line) => line.split(/[=:]/, 1)[0])
        .toSorted(),
    ).toEqual(['DATABASE_URL', 'INTERNAL_SECRET', 'JOB_LEASE_S', 'LIFTGRAPH_ROLE', 'PORT']);
    expect(stderr).not.toMatch(/too short|s3cret/);
    const worker = await refused({ LIFTGRAPH_ROLE: 'worker' });
    expect(worker).toMatchObject({
      code: 2,
      stderr:
        'DATABASE_URL is not set: role worker needs it\nCLICKHOUSE_URL is not set: role worker needs ' +
        'it\nKEY_ENCRYPTION_KEY is not set: role worker needs it\nAUDIT_HEADS_FILE is not set: role worker needs it\n',
    });
  });

  test('--print-config shows every setting and no secret, and starts nothing', async () => {
    const secrets = {
      INTERNAL_SECRET: 'internal-'.repeat(5),
      KEY_PEPPER: 'pepper-'.repeat(6),
      KEY_ENCRYPTION_KEY: 'encryption-'.repeat(4),
      BOOTSTRAP_TOKEN: 'bootstrap-'.repeat(4),
      METRICS_TOKEN: 'metrics-'.repeat(4),
    };
    const { code, stdout, stderr } = await Service.spawn({
      env: {
        ...env,
        ...secrets,
        DATABASE_URL: 'postgres://me:s3cret@db.example/liftgraph',
        CLICKHOUSE_URL: 'http://me:s3cret@ch.example:8123',
      },
      program: 'launcher',
      args: ['--print-config'],
    }).ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`LIFTGRAPH_DATA_DIR = ${folder.path}\n`);
    expect(stdout).toContain('DATABASE_URL = postgres://me:***@db.example/liftgraph\n');
    expect(stdout).not.toMatch(/internal-|pepper-|encryption-|bootstrap-|metrics-|s3cret/);
  });

  test('Ctrl-C leaves nothing running', async () => {
    const family = service!.tree();
    expect(family.map(({ name }) => name)).toEqual(expect.arrayContaining([expect.stringContaining('postgres')]));
    expect((await service!.stop('SIGINT')).code).toBe(0);
    expect(survivorsOf(family)).toEqual([]);
  });

  test('Ctrl-C during the start ends it, and leaves nothing running', async () => {
    service = Service.spawn({ env, program: 'launcher' });
    await service.logged('embedded PostgreSQL is up');
    const family = service.tree();
    const { code, stdout } = await service.stop('SIGINT');
    expect(code).toBe(0);
    expect(stdout).not.toContain('Liftgraph is up');
    expect(survivorsOf(family)).toEqual([]);
  });

  test.each(['the launcher', 'the service'] as const)(
    '%s killed with -9 leaves nothing running, and the next start finds everything',
    async (who) => {
      service = await Service.start({ env, program: 'launcher' });
      expect((await fetch(`${service.root}/readyz`)).status).toBe(200);
      const family = service.tree();
      const [launcher, child] = family;
      process.kill((who === 'the launcher' ? launcher : child)!.pid, 'SIGKILL');
      await untilGone(family);
    },
  );
});
