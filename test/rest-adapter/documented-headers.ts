import { pathsOf } from '../../rest-adapter/contract.ts';
import type { Operation } from '../../rest-adapter/operation.ts';
import { buildOpenApi } from '../../rest-adapter/openapi.ts';

interface ResponseObject {
  readonly $ref?: string;
  readonly headers?: Readonly<Record<string, unknown>>;
}
interface Document {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, ResponseObject>> }>>>
  >;
  readonly components: { readonly responses: Readonly<Record<string, ResponseObject>> };
}

const openApi = buildOpenApi('https://api.example/v1') as unknown as Document;

/** What HTTP itself says with every message, and what only browsers ask for. */
const ORDINARY: ReadonlySet<string> = new Set([
  'cache-control',
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'pragma',
  'transfer-encoding',
  'vary',
  'x-accel-buffering',
  'content-security-policy',
  'cross-origin-resource-policy',
  'referrer-policy',
  'strict-transport-security',
  'x-content-type-options',
  'x-frame-options',
]);

/** The headers of an answer that the published document does not tell of. */
export function undocumentedHeaders(
  operation: Operation,
  { status, headers }: Pick<Response, 'status' | 'headers'>,
): string[] {
  const { responses } = openApi.paths[pathsOf(operation)[0]!]![operation.method.toLowerCase()]!;
  const told = responses[status];
  const response =
    told?.$ref === undefined ? told : openApi.components.responses[told.$ref.slice('#/components/responses/'.length)];
  const documented = new Set(Object.keys(response?.headers ?? {}).map((name) => name.toLowerCase()));
  return [...headers.keys()].filter((name) => !ORDINARY.has(name) && !documented.has(name));
}
