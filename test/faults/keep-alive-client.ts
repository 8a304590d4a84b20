import type { Socket } from 'node:net';
import { open, parseAnswer } from '../raw-http.ts';

/** What became of a request that got no answer, or only a part of one. */
export interface LostRequest {
  readonly error: string;
  /** The connection had brought an answer before, and that one did not say that it would end. */
  readonly onKeptConnection: boolean;
  /** Of the client's side. */
  readonly localPort: number;
  /** What came of its answer. */
  readonly heard: string;
}

/** A client that asks again as soon as it has its answer, on a connection that it keeps while the server does. */
export class KeepAliveClient {
  /** Of the answers. */
  readonly statuses: number[] = [];
  readonly lost: LostRequest[] = [];
  readonly #root: string;
  readonly #request: string;
  #socket: Socket | null = null;

  /** @param root `http://host:port` */
  constructor(root: string, path: string, headers: Readonly<Record<string, string>> = {}) {
    this.#root = root;
    const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    this.#request = [`GET ${path} HTTP/1.1`, 'Host: 127.0.0.1', ...fields, '', ''].join('\r\n');
  }

  /** Asks until nobody listens any more. */
  async untilRefused(): Promise<void> {
    for (;;) {
      const onKeptConnection = this.#socket !== null;
      const socket = this.#socket ?? (await connected(this.#root));
      if (socket === null) return;
      const localPort = socket.localPort!;
      this.#socket = null;
      const { heard, error } = await ask(socket, this.#request);
      if (error !== null) this.lost.push({ error, onKeptConnection, localPort, heard });
      else {
        const answer = parseAnswer(heard);
        this.statuses.push(answer.status);
        if (answer.headers['connection'] === 'close') socket.destroy();
        else this.#socket = socket;
      }
    }
  }
}

/** Null where the connection was refused. */
function connected(root: string): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = open(root);
    const refused = (): void => resolve(null);
    socket.once('error', refused);
    socket.once('connect', () => resolve(socket.off('error', refused)));
  });
}

/** Sends a request and reads until its answer is whole, by Content-Length. */
function ask(socket: Socket, request: string): Promise<{ readonly heard: string; readonly error: string | null }> {
  return new Promise((resolve) => {
    let heard = '';
    const end = (error: string | null): void => {
      socket.removeAllListeners().on('error', () => undefined);
      if (error !== null) socket.destroy();
      resolve({ heard, error });
    };
    socket.on('data', (chunk) => {
      heard += chunk.toString('latin1');
      const head = heard.indexOf('\r\n\r\n');
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(heard)?.[1]);
      if (head >= 0 && heard.length >= head + 4 + length) end(null);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
    socket.once('end', () => end('ended'));
    socket.write(request);
  });
}
