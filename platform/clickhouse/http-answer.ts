import type { IncomingMessage, ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';
import { EngineError, statusOf } from './http-request.ts';

const MAX_STATEMENT_BYTES = 16 * 1024 * 1024;

/** Resolves when the answer is out, or nobody takes it any more. */
export async function flushed(response: ServerResponse): Promise<void> {
  if (!response.destroyed && !response.writableFinished) await finished(response).catch(() => undefined);
}

/** Resolves when more may be written, when the client has gone, or when the statement was ended. */
export function drained(response: ServerResponse, ended: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done);
      ended.removeEventListener('abort', done);
      resolve();
    };
    response.once('drain', done).once('close', done);
    ended.addEventListener('abort', done, { once: true });
    if (ended.aborted) done();
  });
}

/** The whole body. @throws EngineError when it is too long for a statement */
export async function textOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > MAX_STATEMENT_BYTES) throw new EngineError(62, 'SYNTAX_ERROR', 'the statement is too long');
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

/** Answers with an error as a ClickHouse server does; an answer that has begun is cut off. */
export function fail(request: IncomingMessage, response: ServerResponse, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof EngineError ? error.code : Number(/Code: (\d+)/.exec(message)?.[1] ?? 0) || undefined;
  if (response.headersSent) return void response.destroy();
  response.statusCode = statusOf(code);
  if (code !== undefined) response.setHeader('X-ClickHouse-Exception-Code', String(code));
  // The rest of an upload that was refused is not worth reading.
  if (!request.complete) response.setHeader('Connection', 'close');
  response.end(message.slice(Math.max(0, message.indexOf('Code: '))));
}
