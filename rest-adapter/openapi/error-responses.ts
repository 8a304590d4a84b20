import { PROBLEM_TYPES, type ProblemType } from '../../schema/problems.ts';
import type { Json, Operation } from '../operation.ts';
import { problemsOf } from '../pipeline.ts';
import { audienceOf, headersOf, refusalHeaders, strangersHeaders } from './headers.ts';

/** Refusals that say when to come back. */
const PASSING: ReadonlySet<ProblemType> = new Set<ProblemType>([
  'rate_limit_exceeded',
  'service_unavailable',
  'idempotency_in_progress',
]);
/** Refusals before anybody knows who is calling. */
const OF_STRANGERS: ReadonlySet<ProblemType> = new Set<ProblemType>([
  'unsupported_api_version',
  'invalid_api_key',
  'expired_api_key',
]);

/** Schemas of what errors look like, in the contract's way and in that of OAuth. */
export interface ErrorSchemas {
  readonly error: Json;
  readonly oauthError: Json;
}

/**
 * The refusals of all operations. Many share theirs, so each stands once among the components, and operations refer to
 * it.
 */
export class ErrorResponses {
  /** By name: who is refused, the status and the types. */
  readonly responses: Record<string, Json> = {};
  readonly #schemas: ErrorSchemas;

  constructor(schemas: ErrorSchemas) {
    this.#schemas = schemas;
  }

  /** References by status, of every problem that the operation's steps and its row declare. */
  of(operation: Operation): Json {
    const byStatus = new Map<number, ProblemType[]>();
    for (const type of new Set([...problemsOf(operation.kind), ...operation.problems])) {
      const status =
        type === 'validation_error'
          ? (operation.badBodyStatus ?? PROBLEM_TYPES[type].status)
          : PROBLEM_TYPES[type].status;
      byStatus.set(status, [...(byStatus.get(status) ?? []), type]);
    }
    return Object.fromEntries(
      [...byStatus].map(([status, types]) => [status, this.#reference(operation, status, types)]),
    );
  }

  #reference(operation: Operation, status: number, types: readonly ProblemType[]): Json {
    const name = [operation.kind === 'oauth' ? 'oauth' : audienceOf(operation), status, ...types].join('.');
    this.responses[name] ??= this.#response(operation, status, types);
    return { $ref: `#/components/responses/${name}` };
  }

  #response(operation: Operation, status: number, types: readonly ProblemType[]): Json {
    const { error, oauthError } = this.#schemas;
    const headers = types.every((type) => OF_STRANGERS.has(type)) ? strangersHeaders(operation) : headersOf(operation);
    const challenge = status === 401 || types.includes('insufficient_permissions');
    return {
      description: types.map((type) => `\`${type}\`: ${PROBLEM_TYPES[type].title}`).join('; '),
      headers: {
        ...headers,
        ...refusalHeaders({ 'Retry-After': types.some((type) => PASSING.has(type)), 'WWW-Authenticate': challenge }),
      },
      content: {
        // Forms are answered as RFC 6749 has it.
        'application/json': { schema: operation.kind === 'oauth' ? { anyOf: [error, oauthError] } : error },
      },
    };
  }
}
