import { Readable } from 'node:stream';
import type { Call, Step } from '../call.ts';
import { preferredType } from '../media-type.ts';
import type { Json } from '../operation.ts';

/** Makes a file of an answer for whoever asks for one by `Accept`. */
export const renderFile: Step = {
  name: 'render-file',
  problems: [],
  async run(call, next) {
    await next();
    const { operation, answer, door } = call;
    if (operation.rendering === undefined || !wantsFile(call) || answer === null) return;
    const body = answer.body as Json;
    const file = await door.renderings![operation.rendering.name](body);
    call.answer = {
      status: answer.status,
      mediaType: operation.rendering.mediaType,
      body: Readable.from([file.bytes], { objectMode: false }),
      trust: body['trust'],
      headers: { 'Content-Disposition': `attachment; filename="${file.fileName}"` },
    };
  },
};

/** What an operation answers with beside JSON, where the installation can make it. */
export function renderedType({ operation, door }: Call): readonly string[] {
  return operation.rendering === undefined || door.renderings === undefined ? [] : [operation.rendering.mediaType];
}

function wantsFile(call: Call): boolean {
  const [file] = renderedType(call);
  return file !== undefined && preferredType(call.http, 'application/json', file) === file;
}
