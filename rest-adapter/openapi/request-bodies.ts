import { needsBody, type Json, type Operation } from '../operation.ts';
import type { Components } from './components.ts';

const UPLOAD_MEDIA_TYPES = ['text/csv', 'application/x-ndjson', 'application/vnd.apache.parquet'];

export function requestBodyOf(operation: Operation, components: Components): Json {
  const files =
    operation.kind === 'upload'
      ? UPLOAD_MEDIA_TYPES.map((type) => [type, { schema: { type: 'string', format: 'binary' } }])
      : [];
  const form =
    operation.kind === 'upload'
      ? [
          [
            'multipart/form-data',
            {
              schema: {
                type: 'object',
                required: ['file'],
                properties: { file: { type: 'string', format: 'binary' } },
              },
            },
          ],
        ]
      : [];
  const schema = components.schemaOf(operation.bodySchema!);
  const oauthForm =
    operation.kind === 'oauth'
      ? [['application/x-www-form-urlencoded', { schema, example: operation.example.body }]]
      : [];
  return {
    required: needsBody(operation),
    content: {
      'application/json': { schema, example: operation.example.body },
      ...Object.fromEntries([...files, ...form, ...oauthForm]),
    },
  };
}
