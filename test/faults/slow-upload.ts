import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import type { Caller, Json } from '../house.ts';

/** What an upload was answered. */
export interface UploadAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Json;
}

/** An upload that goes on only when it is told to. */
export class SlowUpload {
  /** Rejects when the connection broke before the answer. */
  readonly answer: Promise<UploadAnswer>;
  readonly #request: ClientRequest;

  constructor(root: string, caller: Caller, source: string) {
    this.#request = httpRequest(`${root}/v1/data-sources/${source}/records`, {
      method: 'POST',
      agent: false,
      headers: { authorization: `Bearer ${caller.key}`, 'x-nonce': randomUUID(), 'content-type': 'text/csv' },
    });
    this.answer = this.#answered();
    this.answer.catch(() => undefined);
  }

  /** Sends text; resolves when the service has taken it, but for what fits into the sockets between. */
  async send(text: string): Promise<void> {
    if (this.#request.write(text)) return;
    await Promise.race([once(this.#request, 'drain'), this.answer]);
  }

  /** Sends the last of it and returns the answer. @throws Error when the connection broke */
  async finish(text = ''): Promise<UploadAnswer> {
    this.#request.end(text);
    return this.answer;
  }

  async #answered(): Promise<UploadAnswer> {
    const [response] = (await once(this.#request, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of response.setEncoding('utf8') as AsyncIterable<string>) text += chunk;
    return { status: response.statusCode!, headers: response.headers, body: JSON.parse(text) as Json };
  }
}
