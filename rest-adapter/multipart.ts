import type { IncomingHttpHeaders } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import { ProblemError } from '../schema/problems.ts';

/** A file part on its way in. */
export interface FilePart {
  /** What a part `options` ahead of the file says, as text. */
  readonly options?: string;
  /** Where it stands in the form, as a JSON Pointer. */
  readonly param: string;
  readonly fileName: string;
  /** Lower case, as the client named it. */
  readonly mediaType: string;
  readonly contentEncoding: 'identity' | 'gzip';
  readonly body: AsyncIterable<Uint8Array>;
}

/** Delimiters in a row cost the parser up to a second of the main thread per megabyte. */
const MOST_PARTS = 128;
/** The part that says of the file what it does not tell itself, as JSON. */
const OPTIONS = 'options';
const MOST_OPTION_BYTES = 12 * 1024;
/** Its media type and, quoted or not, its boundary: 70 characters at most (RFC 2046 §5.1.1). */
const FORM = /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"\\]{1,70})"|([^\s;"]{1,70}))\s*(?:;|$)/i;

/**
 * Hands the one file of a `multipart/form-data` body (RFC 7578) to `use` as a stream, which ends with the form: what
 * comes behind the file may refuse it. Resolves when both the body and `use` are done.
 * @throws ProblemError `invalid_request` for a body without a file or one that is no multipart; `validation_error` for
 *   a second file (`one_file`), for `options` behind the file (`options_first`), and for any other part
 *   (`unknown_member`), which would be left out in silence;
 *   what `use` throws.
 */
export async function onlyFile<T>(
  headers: IncomingHttpHeaders,
  body: AsyncIterable<Buffer>,
  use: (file: FilePart) => Promise<T>,
): Promise<T> {
  const boundary = boundaryOf(headers);
  const parser = createParser(boundary);
  let used: Promise<T> | undefined;
  let part: BusboyFileStream | undefined;
  let options: string | undefined;
  const parsed = new Promise<never>((_resolve, reject) => {
    parser.on(
      'file',
      (
        field: string | undefined,
        stream: BusboyFileStream,
        fileName: string,
        _transferEncoding: string,
        mediaType: string,
      ) => {
        // A part may be cut off before anybody reads it: the error waits in the stream for its reader.
        stream.on('error', (error) => stream.destroy(error));
        if (used !== undefined) {
          stream.resume();
          refuse(notTheFile(field, 'one_file', 'is a second file: send each in a request of its own'));
          return;
        }
        part = stream;
        used = use({
          ...(options === undefined ? {} : { options }),
          param: pointerTo(field),
          fileName,
          mediaType: mediaType.toLowerCase(),
          contentEncoding: isGzip(fileName, mediaType) ? 'gzip' : 'identity',
          body: complete(stream, () => read),
        });
        // A consumer that is done early leaves the rest to be skipped; one that fails ends the request.
        used.then(() => stream.resume(), reject);
      },
    );
    parser.on('field', (field: string | undefined, value: string) => {
      if (field !== OPTIONS)
        refuse(
          notTheFile(field, 'unknown_member', `is not known here: the form has the file, and ${OPTIONS} ahead of it`),
        );
      else if (used !== undefined) refuse(notTheFile(field, 'options_first', 'must stand ahead of the file'));
      else options = value;
    });
  });
  // Whatever the parser is at: it tells the pipeline.
  const refuse = (problem: ProblemError): void => void parser.destroy(problem);
  const read = pipeline(withFewParts(body, boundary), parser).catch((error: unknown) => {
    // The parser tells its part nothing when it is destroyed: whoever reads that would wait forever.
    part?.destroy(error as Error);
    return unreadable(error);
  });
  await Promise.race([read, parsed]);
  if (used === undefined)
    throw new ProblemError(
      'invalid_request',
      'The form has no file part. Send one part with a file name, as curl -F file=@rows.csv does.',
      { code: 'missing_file' },
    );
  return used;
}

/** A part that the end of the body cuts off is the client's mistake. */
async function* complete(stream: BusboyFileStream, formEnd: () => Promise<unknown>): AsyncGenerator<Uint8Array> {
  try {
    yield* stream as AsyncIterable<Uint8Array>;
  } catch (error) {
    unreadable(error);
  }
  await formEnd();
}

function notTheFile(field: string | undefined, code: string, message: string): ProblemError {
  const param = pointerTo(field);
  return new ProblemError('validation_error', `${nameOfPart(param)}: ${message}`, { code, param });
}

/** @param field a part may come without a name, whatever the parser's types say */
function pointerTo(field: string | undefined): string {
  return `/${(field ?? '').slice(0, 64)}`;
}

/** What messages call the part that a pointer names. */
export function nameOfPart(param: string): string {
  return param.slice(1) || 'a part without a name';
}

/** @throws ProblemError `invalid_request` behind the part that is one too many */
async function* withFewParts(body: AsyncIterable<Buffer>, boundary: string): AsyncGenerator<Buffer> {
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
  let parts = 0;
  for await (const chunk of body) {
    for (let at = chunk.indexOf(delimiter); at >= 0; at = chunk.indexOf(delimiter, at + delimiter.length)) {
      parts += 1;
      if (parts > MOST_PARTS)
        throw new ProblemError(
          'invalid_request',
          `The form has more than ${MOST_PARTS} parts. Send one part with a file name, as curl -F file=@rows.csv does.`,
          { code: 'too_many_parts' },
        );
    }
    yield chunk;
  }
}

function boundaryOf({ 'content-type': contentType = '' }: IncomingHttpHeaders): string {
  const [, quoted, plain] = FORM.exec(contentType) ?? [];
  return quoted ?? plain ?? unreadable(new Error('no boundary of up to 70 characters'));
}

/** The parser is told our reading of the header, so that both look for the same boundary. */
function createParser(boundary: string): BusboyInstance {
  const headers = { 'content-type': `multipart/form-data; boundary="${boundary}"` };
  return new Busboy({
    headers,
    limits: { fieldSize: MOST_OPTION_BYTES, fields: 100, files: 16, parts: MOST_PARTS, headerPairs: 32 },
  });
}

function unreadable(error: unknown): never {
  throw error instanceof ProblemError
    ? error
    : new ProblemError('invalid_request', 'The body is not a complete multipart/form-data body.', {
        code: 'malformed_multipart',
        cause: error,
      });
}

function isGzip(fileName: string, mediaType: string): boolean {
  return /\.gz$/i.test(fileName) || /^application\/(?:x-)?gzip$/i.test(mediaType);
}
