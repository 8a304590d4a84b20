import { isDeepStrictEqual } from 'node:util';
import { needsBody, type Json, type Operation } from '../operation.ts';
import type { Components } from './components.ts';

const UPLOAD_MEDIA_TYPES = ['text/csv', 'application/x-ndjson', 'application/vnd.apache.parquet'];

/** The request bodies of all operations. Those with a name stand once among the components. */
export class RequestBodies {
  readonly requestBodies: Record<string, Json> = {};
  readonly #components: Components;

  constructor(components: Components) {
    this.#components = components;
  }

  /** The body of an operation that takes one. */
  of(operation: Operation): Json {
    const { name, schema } = this.#components.requestSchemaOf(operation.bodySchema!);
    const body = { required: needsBody(operation), content: contentOf(operation, schema) };
    if (name === undefined) return body;
    const known = (this.requestBodies[name] ??= body);
    if (!isDeepStrictEqual(known, body))
      throw new Error(`${operation.id}: another request body is called ${name}, too`);
    return { $ref: `#/components/requestBodies/${name}` };
  }
}

function contentOf({ kind, example }: Operation, schema: Json): Json {
  const json = { schema, example: example.body };
  const binary = { type: 'string', format: 'binary' };
  return {
    'application/json': json,
    ...(kind === 'upload' && {
      ...Object.fromEntries(UPLOAD_MEDIA_TYPES.map((type) => [type, { schema: binary }])),
      'multipart/form-data': { schema: { type: 'object', required: ['file'], properties: { file: binary } } },
    }),
    ...(kind === 'oauth' && { 'application/x-www-form-urlencoded': json }),
  };
}
