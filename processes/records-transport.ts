import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { ProblemError } from '../schema/problems.ts';
import type { RequestContext } from '../schema/principal.ts';
import { PRINCIPAL_HEADER, type PrincipalTokens } from '../platform/graph/principal-token.ts';
import type { StreamHandlers } from '../platform/graph/subgraph-server.ts';
import type { IngestOutcome, IngestRecords } from '../rest-adapter/call.ts';

/** Uploads between the gateway's process and that of the attribution subgraph: one HTTP request, streamed through. */
const PATH = '/records?';
const SOURCE = 'source';

const headers = z.object({
  'content-type': z.enum(['text/csv', 'application/x-ndjson', 'application/vnd.apache.parquet', 'application/json']),
  'content-encoding': z.enum(['identity', 'gzip']).default('identity'),
});

/** The gateway's side. */
export function forwardRecords(subgraphUrl: string, tokens: PrincipalTokens): IngestRecords {
  return async (context, dataSourceId, upload) => {
    // Node's fetch streams any async iterable and asks for `duplex`; its declared types know neither.
    const request = {
      method: 'POST',
      headers: {
        [PRINCIPAL_HEADER]: await tokens.sign(context, 'attribution'),
        'content-type': upload.mediaType,
        'content-encoding': upload.contentEncoding,
      },
      body: upload.body as unknown as NonNullable<RequestInit['body']>,
      duplex: 'half',
    };
    const response = await fetch(
      new URL(`${PATH}${new URLSearchParams({ [SOURCE]: dataSourceId })}`, subgraphUrl),
      request,
    ).catch((cause: unknown) => {
      throw new ProblemError(
        'service_unavailable',
        'The attribution service cannot be reached. Send the file again in a moment.',
        { retryAfterS: 1, cause },
      );
    });
    const body = (await response.json()) as {
      outcome?: IngestOutcome;
      message?: string;
      extensions?: Record<string, unknown>;
    };
    if (body.outcome !== undefined) return body.outcome;
    throw (
      ProblemError.fromExtensions(body.message ?? '', body.extensions) ??
      new ProblemError('internal_error', 'The upload failed because of an error on our side. The log names the cause.')
    );
  };
}

/** The subgraph's side. */
export function serveRecords(ingestRecords: IngestRecords): StreamHandlers {
  return {
    [PATH]: async (request: IncomingMessage, response: ServerResponse, context: RequestContext) => {
      const { 'content-type': mediaType, 'content-encoding': contentEncoding } = headers.parse(request.headers);
      const outcome = await ingestRecords(
        context,
        new URLSearchParams(request.url!.slice(PATH.length)).get(SOURCE) ?? '',
        { mediaType, contentEncoding, body: request },
      );
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ outcome }));
    },
  };
}
