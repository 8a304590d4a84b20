import { isDeepStrictEqual } from 'node:util';
import { needsBody, type Json, type Operation } from '../operation.ts';
import { uploadOptions } from '../../schema/contract/upload-options.ts';
import { FILE_MEDIA_TYPES } from '../upload-media.ts';
import type { Components } from './components.ts';

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
    const body = { required: needsBody(operation), content: this.#contentOf(operation, schema) };
    if (name === undefined) return body;
    const known = (this.requestBodies[name] ??= body);
    if (!isDeepStrictEqual(known, body))
      throw new Error(`${operation.id}: another request body is called ${name}, too`);
    return { $ref: `#/components/requestBodies/${name}` };
  }

  #contentOf({ kind, example }: Operation, schema: Json): Json {
    const json = { schema, example: example.body };
    return {
      'application/json': json,
      ...(kind === 'upload' && this.#filesOf()),
      ...(kind === 'oauth' && { 'application/x-www-form-urlencoded': json }),
    };
  }

  /** A file by itself, or in a form behind what is said of it. */
  #filesOf(): Json {
    const file = { type: 'string', format: 'binary' };
    const options = this.#components.schemaOf(uploadOptions);
    return {
      ...Object.fromEntries(FILE_MEDIA_TYPES.map((type) => [type, { schema: file }])),
      'multipart/form-data': { schema: { type: 'object', required: ['file'], properties: { options, file } } },
    };
  }
}
