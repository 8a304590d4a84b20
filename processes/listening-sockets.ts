import type { Server as HttpServer } from 'node:http';
import { createServer, Server, type AddressInfo, type ListenOptions, type Socket } from 'node:net';

/**
 * Node takes one connection from a listening socket per turn of its loop (libuv 1.45, pull request 3696), which is a
 * few dozen a second when there is much to do: a crowd that reconnects all at once would wait for half a minute. Linux
 * lets many sockets share a port, and each of them is good for one. So many keep a crowd of thousands a second from
 * waiting for each other.
 */
const SOCKETS = process.platform === 'linux' ? 512 : 1;

/** The sockets behind the one port of a server. */
export class ListeningSockets {
  readonly #all: readonly Server[];
  readonly #claim: Server | null;

  private constructor(all: readonly Server[], claim: Server | null) {
    this.#all = all;
    this.#claim = claim;
  }

  /** @throws NodeJS.ErrnoException when the port is taken, or may not be listened on */
  static async open(
    server: HttpServer,
    { host, port }: { readonly host: string; readonly port: number },
  ): Promise<ListeningSockets> {
    if (SOCKETS === 1) {
      await listening(server, { host, port });
      return new ListeningSockets([server], null);
    }
    const claim = port === 0 ? null : await claimed({ host, port });
    try {
      await listening(server, { host, port, reusePort: true });
      const { port: shared } = server.address() as AddressInfo;
      const others = Array.from({ length: SOCKETS - 1 }, () =>
        createServer({ allowHalfOpen: true, noDelay: true }, (socket: Socket) => server.emit('connection', socket)),
      );
      await Promise.all(others.map((other) => listening(other, { host, port: shared, reusePort: true })));
      return new ListeningSockets([server, ...others], claim);
    } catch (error) {
      claim?.close();
      throw error;
    }
  }

  get port(): number {
    return (this.#all[0]!.address() as AddressInfo).port;
  }

  /** Takes no more connections; those there are stay. */
  close(): void {
    // An HTTP server's own way would cut off kept connections, also those where a request is about to be read.
    for (const each of this.#all) Server.prototype.close.call(each);
    this.#claim?.close();
  }
}

/** The name that an instance holds while it has a port, in the kernel's abstract namespace (unix(7)). */
export function claimOf({ host, port }: { readonly host: string; readonly port: number }): string {
  return `\0liftgraph:${host}:${port}`;
}

/**
 * Sockets that share would share with another process of this user, too, and nobody would notice. A name of the
 * kernel's, which is given once and ends with its process, keeps out another instance, also one that starts in the same
 * instant; a socket that does not share finds whoever else listens.
 */
async function claimed({ host, port }: { readonly host: string; readonly port: number }): Promise<Server> {
  const claim = createServer((socket) => socket.destroy());
  await listening(claim, { path: claimOf({ host, port }) });
  // It alone keeps no process alive.
  claim.unref();
  const probe = createServer();
  try {
    await listening(probe, { host, port });
  } catch (error) {
    claim.close();
    throw error;
  }
  await new Promise((resolve) => probe.close(resolve));
  return claim;
}

function listening(server: Server, options: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    // It stays: later errors are of single connections that could not be taken, which only their peers can do something
    // about.
    server.on('error', reject);
    server.listen(options, resolve);
  });
}
