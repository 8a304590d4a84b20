import { DOWNLOAD_MEDIA_TYPES, type DownloadFormat } from '../download-media.ts';
import type { Json, Operation } from '../operation.ts';
import { ON_REQUEST } from './alternatives.ts';
import type { Components } from './components.ts';
import { headersOf, PAGE_LINK_HEADER } from './headers.ts';
import { isPage, pageSchema } from './lists.ts';
import { takesIdempotencyKey } from './parameters.ts';

/** Of the bodies of downloads: generated clients make text, parsed JSON or a blob of them. */
const DOWNLOADED: Readonly<Record<DownloadFormat, Json>> = {
  csv: { type: 'string', description: 'A header, then one line per row' },
  ndjson: { type: 'string', description: 'One JSON object per row and line' },
  json: {
    type: 'array',
    description: 'One object per row; its members are the columns of the level',
    items: { type: 'object', additionalProperties: true },
  },
  parquet: { type: 'string', format: 'binary' },
  html: { type: 'string', description: 'One page that loads nothing' },
  xlsx: { type: 'string', format: 'binary' },
};

export function answersOf(operation: Operation, components: Components): Json {
  const { success, kind, example, representation } = operation;
  const headers = {
    ...headersOf(operation),
    ...(operation.location === undefined
      ? {}
      : { Location: { description: 'Where to read what was made', schema: { type: 'string' } } }),
    ...Object.fromEntries(
      Object.entries(success.headers ?? {}).map(([name, description]) => [
        name,
        { description, schema: { type: 'string' } },
      ]),
    ),
    ...(isPage(operation) ? PAGE_LINK_HEADER : {}),
    ...(takesIdempotencyKey(operation)
      ? {
          'SVC-Idempotent-Replayed': {
            description: '`true` where the answer was given before, and nothing happened this time',
            schema: { type: 'string', enum: ['true'] },
          },
        }
      : {}),
    ...(operation.isResource === true
      ? { ETag: { description: 'For If-None-Match', schema: { type: 'string' } } }
      : {}),
  };
  const told =
    kind === 'feed'
      ? 'Events named by their types, as webhooks tell them'
      : 'Events progress, channel_result, result and error';
  const events = {
    'text/event-stream': { schema: { type: 'string', description: `${told}; id is what Last-Event-ID resumes from` } },
  };
  const content = {
    ...(success.schema === null
      ? {}
      : {
          'application/json': {
            schema: isPage(operation) ? pageSchema(success.schema, components) : components.schemaOf(success.schema),
            example: example.response,
          },
        }),
    ...(operation.rendering === undefined
      ? {}
      : { [operation.rendering.mediaType]: { schema: { type: 'string', format: 'binary' } } }),
    ...(kind === 'stream' || kind === 'feed' ? events : {}),
    ...Object.fromEntries(
      (operation.download?.formats ?? []).map((format) => [
        DOWNLOAD_MEDIA_TYPES[format].split(';', 1)[0],
        { schema: DOWNLOADED[format] },
      ]),
    ),
  };
  return {
    [success.status]: {
      description: success.description,
      headers,
      ...(Object.keys(content).length === 0 ? {} : { content }),
      ...(kind === 'job' ? { [ON_REQUEST]: events } : {}),
    },
    ...(operation.lesserSuccess === undefined
      ? {}
      : { [operation.lesserSuccess.status]: { description: operation.lesserSuccess.description, headers, content } }),
    ...(representation === undefined
      ? {}
      : {
          200: {
            description: representation.description,
            headers: {
              ...headers,
              ...(representation.askedBy === undefined && {
                'Preference-Applied': { description: 'return=representation', schema: { type: 'string' } },
              }),
            },
            content: {
              'application/json': {
                schema: components.schemaOf(representation.schema),
                example: representation.example,
              },
            },
          },
        }),
    ...(kind === 'stream'
      ? {
          204: { description: 'The last event was seen; there is nothing more to come', headers: headersOf(operation) },
        }
      : {}),
    ...(operation.isResource === true
      ? { 304: { description: 'Unchanged since the ETag in If-None-Match', headers } }
      : {}),
  };
}
