import { connect, createServer, type Server, type Socket } from 'node:net';

/** A network between a client and a server that can be made to fail. */
export interface NetworkProxy {
  readonly url: string;
  /** While on, bytes vanish in both directions and connections stay open; those of before never work again. */
  swallow(on: boolean): void;
  /** Resets every connection. */
  cut(): void;
  close(): Promise<void>;
}

export async function startProxy(target: string): Promise<NetworkProxy> {
  const address = new URL(target);
  const sockets = new Set<Socket>();
  const pipes = new Set<{ swallowed: boolean }>();
  let swallowing = false;
  const server: Server = createServer((client) => {
    const upstream = connect(Number(address.port), address.hostname);
    const pipe = { swallowed: swallowing };
    pipes.add(pipe);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (chunk) => pipe.swallowed || to.write(chunk));
      from.on('close', () => to.destroy());
      from.on('error', () => to.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(target);
  url.port = String((server.address() as { port: number }).port);
  return {
    url: url.href,
    swallow: (on) => {
      swallowing = on;
      if (on) for (const pipe of pipes) pipe.swallowed = true;
    },
    cut: () => {
      for (const socket of sockets) socket.resetAndDestroy();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
