import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { ProblemError } from '../schema/problems.ts';
import type { RequestContext } from '../schema/principal.ts';
import { PRINCIPAL_HEADER, type PrincipalTokens } from '../platform/graph/principal-token.ts';
import type { StreamHandlers } from '../platform/graph/subgraph-server.ts';
import type { Inspection } from '../schema/contract/inspection.ts';
import { uploadOptions } from '../schema/contract/upload-options.ts';
import type { IngestOutcome, IngestRecords, RecordsDoor, RecordUpload } from '../rest-adapter/call.ts';
import { RECORD_MEDIA_TYPES } from '../subgraphs/attribution/intake/connectors/records-body.ts';

/** Uploads between the gateway's process and that of the attribution subgraph: one HTTP request, streamed through. */
const STORED = '/records?';
const INSPECTED = '/inspections?';
const SOURCE = 'source';
/** The options of a sender, as JSON; his own request had them in its address, too. */
const OPTIONS = 'options';

const headers = z.object({
  'content-type': z.enum(RECORD_MEDIA_TYPES),
  'content-encoding': z.enum(['identity', 'gzip']).default('identity'),
});

/** The gateway's side. */
export function forwardRecords(subgraphUrl: string, tokens: PrincipalTokens): RecordsDoor {
  const forward = async (path: string, context: RequestContext, dataSourceId: string, upload: RecordUpload) => {
    const address = new URLSearchParams({ [SOURCE]: dataSourceId, [OPTIONS]: JSON.stringify(upload.options) });
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
    const response = await fetch(new URL(`${path}${address}`, subgraphUrl), request).catch((cause: unknown) => {
      throw new ProblemError(
        'service_unavailable',
        'The attribution service cannot be reached. Send the file again in a moment.',
        { retryAfterS: 1, cause },
      );
    });
    const body = (await response.json()) as {
      outcome?: unknown;
      message?: string;
      extensions?: Record<string, unknown>;
    };
    if (body.outcome !== undefined) return body.outcome;
    throw (
      ProblemError.fromExtensions(body.message ?? '', body.extensions) ??
      new ProblemError('internal_error', 'The upload failed because of an error on our side. The log names the cause.')
    );
  };
  return {
    ingestRecords: async (...call) => (await forward(STORED, ...call)) as IngestOutcome,
    inspectRecords: async (...call) => (await forward(INSPECTED, ...call)) as Inspection,
  };
}

/** The subgraph's side. */
export function serveRecords({ ingestRecords, inspectRecords }: RecordsDoor): StreamHandlers {
  const serve =
    (path: string, take: (...call: Parameters<IngestRecords>) => Promise<unknown>) =>
    async (request: IncomingMessage, response: ServerResponse, context: RequestContext) => {
      const { 'content-type': mediaType, 'content-encoding': contentEncoding } = headers.parse(request.headers);
      const address = new URLSearchParams(request.url!.slice(path.length));
      const options = uploadOptions.parse(JSON.parse(address.get(OPTIONS) ?? '{}'));
      const upload = { mediaType, contentEncoding, options, body: request };
      const outcome = await take(context, address.get(SOURCE) ?? '', upload);
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ outcome }));
    };
  return { [STORED]: serve(STORED, ingestRecords), [INSPECTED]: serve(INSPECTED, inspectRecords) };
}
