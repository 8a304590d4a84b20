import { once } from 'node:events';
import { WebSocket } from 'ws';
import { z } from 'zod';
import type { Service } from './service.ts';

/** Start a service with these options of Node.js and its memory can be inspected. */
export const INSPECTABLE: readonly string[] = ['--inspect=127.0.0.1:0'];

/** What a process holds, in bytes: the members of Node's `process.memoryUsage()`. */
const memoryUsage = z.object({ rss: z.number(), heapTotal: z.number(), heapUsed: z.number(), external: z.number() });
const answer = z.object({
  id: z.number(),
  result: z.object({ result: z.object({ value: z.unknown() }).optional() }).optional(),
  error: z.object({ message: z.string() }).optional(),
});

export interface Memory {
  /** Objects that something refers to, and the buffers behind them. */
  readonly liveMib: number;
  /** What is resident besides the heap: buffers, code, and whatever native code has allocated. */
  readonly nativeMib: number;
  /** What the process has in memory, all told. */
  readonly residentMib: number;
}

/**
 * What a service keeps once all garbage is collected. How much garbage lies about in between is V8's choice: it lets
 * the heap grow to a multiple of what was alive at its last full collection before it collects again.
 */
export async function memoryKept(service: Service): Promise<Memory> {
  const address = /Debugger listening on (ws:\/\/\S+)/.exec(service.stderr)?.[1];
  if (address === undefined) throw new Error('the service was not started with the options INSPECTABLE');
  const socket = new WebSocket(address);
  await once(socket, 'open');
  try {
    // Twice: what only finalizers of the first still held goes with the second.
    await ask(socket, 1, 'HeapProfiler.collectGarbage');
    await ask(socket, 2, 'HeapProfiler.collectGarbage');
    const { rss, heapTotal, heapUsed, external } = memoryUsage.parse(
      await ask(socket, 3, 'Runtime.evaluate', { expression: 'process.memoryUsage()', returnByValue: true }),
    );
    return { liveMib: mib(heapUsed + external), nativeMib: mib(rss - heapTotal), residentMib: mib(rss) };
  } finally {
    socket.terminate();
  }
}

/** One command of the Chrome DevTools Protocol, and the value it results in. */
async function ask(
  socket: WebSocket,
  id: number,
  method: string,
  params: Readonly<Record<string, unknown>> = {},
): Promise<unknown> {
  const answered = once(socket, 'message') as Promise<[Buffer]>;
  socket.send(JSON.stringify({ id, method, params }));
  const [message] = await answered;
  const { id: answeredId, result, error } = answer.parse(JSON.parse(message.toString()));
  if (error !== undefined || answeredId !== id)
    throw new Error(`${method}: ${error?.message ?? `answered ${answeredId}`}`);
  return result?.result?.value;
}

function mib(bytes: number): number {
  return bytes / 1024 / 1024;
}
