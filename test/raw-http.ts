import { connect, type Socket } from 'node:net';

/** An HTTP answer as it came over the wire. */
export interface RawAnswer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Sends bytes to a server and resolves with all that it says until it closes, or until `isEnough` is content with it.
 */
export function exchange(
  root: string,
  bytes: string | Buffer,
  isEnough: (text: string) => boolean = () => false,
): Promise<string> {
  const socket = open(root);
  socket.write(bytes);
  return heard(socket, isEnough);
}

/** A connection to a server at `http://host:port`. */
export function open(root: string): Socket {
  const { hostname, port } = new URL(root);
  return connect(Number(port), hostname);
}

/** All that is said on a connection until its end. */
export function heard(socket: Socket, isEnough: (text: string) => boolean = () => false): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const end = (): void => {
      socket.destroy();
      resolve(text);
    };
    socket.on('data', (chunk) => {
      text += String(chunk);
      if (isEnough(text)) end();
    });
    socket.once('close', end);
    socket.on('error', () => undefined);
  });
}

/** The first answer in what a server said. */
export function parseAnswer(text: string): RawAnswer {
  const [head = '', body = ''] = text.split('\r\n\r\n', 2);
  const [line = '', ...fields] = head.split('\r\n');
  const headers = Object.fromEntries(
    fields.map((field) => [
      field.slice(0, field.indexOf(':')).toLowerCase(),
      field.slice(field.indexOf(':') + 1).trim(),
    ]),
  );
  return { status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1]), headers, body };
}
