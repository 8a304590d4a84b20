import type { Server as HttpServer } from 'node:http';
import { createServer, type AddressInfo, type ListenOptions, type Server, type Socket } from 'node:net';

/**
 * Node takes one connection from a listening socket per turn of its loop (libuv 1.45, pull request 3696), which is a few
 * hundred a second when there is much to do: a crowd that reconnects all at once would wait for half a minute. Linux lets
 * several sockets share a port, and each of them is good for one.
 */
const SOCKETS = process.platform === 'linux' ? 16 : 1;

/** The sockets behind the one port of a server. */
export class ListeningSockets {
  readonly #all: readonly Server[];

  private constructor(all: readonly Server[]) {
    this.#all = all;
  }

  /** @throws NodeJS.ErrnoException when the port is taken, or may not be listened on */
  static async open(server: HttpServer, { host, port }: { readonly host: string; readonly port: number }): Promise<ListeningSockets> {
    if (SOCKETS === 1) {
      await listening(server, { host, port });
      return new ListeningSockets([server]);
    }
    // Sockets that share would share with another process of this user, too, and nobody would notice.
    if (port !== 0) await refuseTaken({ host, port });
    await listening(server, { host, port, reusePort: true });
    const { port: shared } = server.address() as AddressInfo;
    const others = Array.from({ length: SOCKETS - 1 }, () => createServer({ allowHalfOpen: true, noDelay: true }, (socket: Socket) => server.emit('connection', socket)));
    await Promise.all(others.map((other) => listening(other, { host, port: shared, reusePort: true })));
    return new ListeningSockets([server, ...others]);
  }

  get port(): number {
    return (this.#all[0]!.address() as AddressInfo).port;
  }

  /** Takes no more connections; those there are stay. */
  close(): void {
    for (const each of this.#all) each.close();
  }

  /** How many connections are open. */
  async countConnections(): Promise<number> {
    const counts = await Promise.all(this.#all.map((each) => new Promise<number>((resolve, reject) => each.getConnections((error, count) => (error === null ? resolve(count) : reject(error))))));
    return counts.reduce((sum, count) => sum + count, 0);
  }
}

async function refuseTaken(address: ListenOptions): Promise<void> {
  const probe = createServer();
  await listening(probe, address);
  await new Promise((resolve) => probe.close(resolve));
}

function listening(server: Server, options: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    // It stays: later errors are of single connections that could not be taken, which only their peers can do something about.
    server.on('error', reject);
    server.listen(options, resolve);
  });
}
