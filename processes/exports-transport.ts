import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { ProblemError } from '../schema/problems.ts';
import { EXPORT_FORMATS, EXPORT_LEVELS, REPORT_FORMATS } from '../schema/value-lists.ts';
import type { RequestContext } from '../schema/principal.ts';
import { PRINCIPAL_HEADER, type PrincipalTokens } from '../platform/graph/principal-token.ts';
import type { StreamHandlers } from '../platform/graph/subgraph-server.ts';
import type { ExportAttribution } from '../rest-adapter/call.ts';

/**
 * Downloads between the gateway's process and that of the attribution subgraph: one HTTP request, its answer streamed
 * through.
 */
const PATH = '/exports/';
const FILE_NAME = 'x-file-name';

const query = z.union([
  z.object({ level: z.enum(EXPORT_LEVELS), format: z.enum(EXPORT_FORMATS) }),
  z.object({ level: z.literal('report'), format: z.enum(REPORT_FORMATS) }),
]);

/** The gateway's side. */
export function forwardExports(subgraphUrl: string, tokens: PrincipalTokens): ExportAttribution {
  return async (context, id, { format, level, signal }) => {
    const url = new URL(`${PATH}${encodeURIComponent(id)}?${new URLSearchParams({ format, level })}`, subgraphUrl);
    const headers = { [PRINCIPAL_HEADER]: await tokens.sign(context, 'attribution') };
    const response = await fetch(url, { method: 'POST', headers, signal }).catch((cause: unknown) => {
      throw new ProblemError(
        'service_unavailable',
        'The attribution service cannot be reached. Try again in a moment.',
        { retryAfterS: 1, cause },
      );
    });
    if (response.ok && response.body !== null)
      return { fileName: response.headers.get(FILE_NAME) ?? 'export', body: response.body };
    const body = (await response.json()) as { message?: string; extensions?: Record<string, unknown> };
    throw (
      ProblemError.fromExtensions(body.message ?? '', body.extensions) ??
      new ProblemError('internal_error', 'The export failed because of an error on our side. The log names the cause.')
    );
  };
}

/** The subgraph's side. */
export function serveExports(exportAttribution: ExportAttribution): StreamHandlers {
  return {
    [PATH]: async (request: IncomingMessage, response: ServerResponse, context: RequestContext) => {
      const url = new URL(request.url!, 'http://subgraph');
      const over = new AbortController();
      response.once('close', () => over.abort());
      if (response.destroyed) over.abort();
      const asked = query.parse(Object.fromEntries(url.searchParams));
      const { fileName, body } = await exportAttribution(context, decodeURIComponent(url.pathname.slice(PATH.length)), {
        ...asked,
        signal: over.signal,
      });
      response.writeHead(200, { [FILE_NAME]: fileName, 'content-type': 'application/octet-stream' });
      // Whatever breaks now breaks the connection, which is all that can still be told.
      await pipeline(Readable.from(body, { objectMode: false }), response).catch(() => response.destroy());
    },
  };
}
