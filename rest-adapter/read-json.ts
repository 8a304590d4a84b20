import type { IncomingMessage } from 'node:http';
import { ProblemError } from '../schema/problems.ts';
import { readWholeBody } from './body-stream.ts';
import { isUtf8, parseMediaType } from './media-type.ts';
import { parseJson } from './parse-json.ts';

export interface JsonBodyLimits {
  readonly maxBytes: number;
  /** Longest pause between two chunks. */
  readonly idleTimeoutMs: number;
  readonly totalTimeoutMs: number;
}

/**
 * Reads a JSON body as every door takes it: its media type, its encoding, its size and time, and strict JSON.
 * @returns undefined for an empty body
 * @throws ProblemError `unsupported_media_type`, `payload_too_large`, `invalid_request`
 */
export async function readJson(request: IncomingMessage, limits: JsonBodyLimits): Promise<unknown> {
  const mediaType = parseMediaType(request.headers['content-type'] ?? '');
  if (mediaType.essence !== 'application/json' || !isUtf8(mediaType))
    throw new ProblemError('unsupported_media_type', 'Send the body as Content-Type: application/json in UTF-8.', {
      param: 'header:Content-Type',
    });
  if (!['', 'identity'].includes((request.headers['content-encoding'] ?? '').toLowerCase()))
    throw new ProblemError('unsupported_media_type', 'This operation takes its body uncompressed.', {
      code: 'unsupported_encoding',
      param: 'header:Content-Encoding',
    });
  const bytes = await readWholeBody(request, limits);
  return bytes.length === 0 ? undefined : parseJson(bytes);
}
