import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { request } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';
import { WebSocket } from 'ws';
import { createLogger } from '../../platform/telemetry/logs.ts';
import { openCertificate } from '../../processes/certificate.ts';
import { openHouse, type House } from '../house.ts';

const FIXTURES = join(import.meta.dirname, 'fixtures');
const fixture = (name: string) => readFileSync(join(FIXTURES, name));

const folder = mkdtempSync(join(tmpdir(), 'liftgraph-tls-'));
const certFile = join(folder, 'tls.crt');
const keyFile = join(folder, 'tls.key');
const use = (name: 'one' | 'two') => {
  copyFileSync(join(FIXTURES, `${name}.crt`), certFile);
  copyFileSync(join(FIXTURES, `${name}.key`), keyFile);
};
afterAll(() => rmSync(folder, { recursive: true }));

describe('HTTPS', () => {
  let house: House;
  beforeAll(async () => {
    use('one');
    house = await openHouse('one process', {
      withWorker: false,
      config: { tlsCertFile: certFile, tlsKeyFile: keyFile, publicBaseUrl: 'https://127.0.0.1/v1' },
    });
  });
  afterAll(() => house?.stop());

  const shaken = (options: { maxVersion?: 'TLSv1.2' }) =>
    new Promise<string>((resolve) => {
      const socket: TLSSocket = connect(
        { port: Number(new URL(house.root).port), host: '127.0.0.1', ca: fixture('one.crt'), ...options },
        () => {
          resolve(socket.getProtocol() ?? '');
          socket.destroy();
        },
      );
      socket.once('error', (error) => resolve(error.message));
    });

  test('is TLS 1.3 and nothing older', async () => {
    expect(await shaken({})).toBe('TLSv1.3');
    expect(await shaken({ maxVersion: 'TLSv1.2' })).toMatch(/protocol version|alert/);
  });

  test('serves every door', async () => {
    const asked = request(`${house.root}/v1/health`, { ca: fixture('one.crt') }).end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['strict-transport-security']).toBe('max-age=31536000');
    answer.resume();
    const socket = new WebSocket(`${house.root.replace('https', 'wss')}/graphql`, 'graphql-transport-ws', {
      ca: fixture('one.crt'),
    });
    await once(socket, 'open');
    socket.terminate();
  });

  test('a parser error is answered, plain HTTP is not', async () => {
    const socket = connect({ port: Number(new URL(house.root).port), host: '127.0.0.1', ca: fixture('one.crt') });
    socket.write('hello\r\n\r\n');
    expect(String(((await once(socket, 'data')) as [Buffer])[0])).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    socket.destroy();
    await expect(fetch(house.root.replace('https', 'http'))).rejects.toThrow();
  });
});

describe('a certificate in files', () => {
  const lines: string[] = [];
  const logger = createLogger({
    level: 'info',
    format: 'json',
    destination: { write: (line) => void lines.push(line) },
  });
  const until = async (isSo: () => boolean) => {
    for (const deadlineMs = performance.now() + 5_000; !isSo() && performance.now() < deadlineMs;) await sleep(5);
  };

  test('is taken up when it is replaced, and not while it does not fit its key', async () => {
    use('one');
    const certificate = openCertificate({ certFile, keyFile, logger, lookMs: 5 });
    const served: Buffer[] = [];
    certificate.whenReplaced(({ cert }) => served.push(cert));
    copyFileSync(join(FIXTURES, 'two.crt'), certFile);
    await until(() => lines.some((line) => line.includes('cannot be used')));
    expect(lines.join('')).toContain('cannot be used');
    expect(served).toEqual([]);
    use('two');
    await until(() => served.length > 0);
    expect(served).toEqual([fixture('two.crt')]);
    expect(certificate.current().key).toEqual(fixture('two.key'));
    certificate.close();
    expect(lines.join('')).not.toContain('PRIVATE');
  });

  test('that cannot be read is refused with the names of the files', () => {
    writeFileSync(certFile, 'no certificate');
    expect(() => openCertificate({ certFile, keyFile, logger })).toThrow(
      `TLS_CERT_FILE ${certFile} and TLS_KEY_FILE ${keyFile} cannot be served with`,
    );
  });
});
