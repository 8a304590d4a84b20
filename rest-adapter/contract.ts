import { NOUNS } from '../schema/contract/contract.ts';
import { keys } from '../schema/contract/keys.ts';
import type { Route } from './call.ts';
import { operationsOf } from './contract-operations.ts';
import type { Operation } from './operation.ts';
import { agentOperations } from './operations/agents.ts';
import { attributionOperations } from './operations/attribution.ts';
import { auditOperations } from './operations/audit.ts';
import { invoiceOperations, planOperations } from './operations/billing.ts';
import { dataSourceOperations } from './operations/data-sources.ts';
import { eventOperations } from './operations/events.ts';
import { healthOperations } from './operations/health.ts';
import { oauthOperations } from './operations/oauth.ts';
import { verificationOperations } from './operations/verification.ts';
import { webhookOperations } from './operations/webhooks.ts';
import { workspaceOperations } from './operations/workspaces.ts';

/** Rows of nouns that REST shows otherwise than follows from the contract, or has more of, by `many`. */
const OWN_ROWS: Readonly<Partial<Record<(typeof NOUNS)[number]['many'], readonly Operation[]>>> = {
  attributions: [...attributionOperations, ...verificationOperations],
  'data-sources': dataSourceOperations,
  // They stand among those of sources.
  rejects: [],
  agents: agentOperations,
  keys: [...operationsOf(keys), ...oauthOperations],
  'audit-events': [...auditOperations, ...eventOperations],
  workspaces: workspaceOperations,
  webhooks: webhookOperations,
  plans: planOperations,
  invoices: invoiceOperations,
};

/**
 * Everything that the REST door can do, one row per operation. The rows feed routing, permission checks,
 * validation, the OpenAPI document and the contract tests; nothing of an operation is said anywhere else.
 */
export const CONTRACT: readonly Operation[] = [
  ...NOUNS.flatMap((noun) => OWN_ROWS[noun.many] ?? operationsOf(noun)),
  ...healthOperations,
];

interface Pattern {
  readonly segments: readonly string[];
  readonly operation: Operation;
}

// Paths with more literal segments come first.
const PATTERNS: readonly Pattern[] = CONTRACT.flatMap((operation) =>
  pathsOf(operation).map((path) => ({ segments: path.split('/').slice(1), operation })),
).toSorted((one, other) => variablesIn(one) - variablesIn(other));

const LITERAL_PATHS: ReadonlyMap<string, readonly Pattern[]> = Map.groupBy(
  PATTERNS.filter((pattern) => variablesIn(pattern) === 0),
  ({ segments }) => `/${segments.join('/')}`,
);

/** All paths of an operation, variants included. */
export function pathsOf(operation: Operation): readonly string[] {
  return [operation.path, ...(operation.variantPaths ?? [])];
}

/**
 * Finds the row for a method and a path below the base URL. HEAD goes where GET goes, but not to event streams.
 * An unknown path has no allowed methods.
 */
export function matchRoute(method: string, path: string): Route {
  const segments = path.split('/').slice(1);
  // /data-sources/connect is not a data source called "connect", whatever the method.
  const matches = LITERAL_PATHS.get(path) ?? fittingBest(segments);
  const match = matches.find(({ operation }) => methodsOf(operation).includes(method));
  if (match !== undefined) return { operation: match.operation, path: parametersOf(match, segments) };
  return { operation: null, allow: [...new Set(matches.flatMap(({ operation }) => methodsOf(operation)))] };
}

function fittingBest(segments: readonly string[]): readonly Pattern[] {
  const fitting = PATTERNS.filter((pattern) => fits(pattern, segments));
  return fitting.filter((pattern) => variablesIn(pattern) === variablesIn(fitting[0]!));
}

function methodsOf(operation: Operation): readonly string[] {
  return operation.method === 'GET' && !isEndless(operation) ? ['GET', 'HEAD'] : [operation.method];
}

/** Answers events, of which nobody wants the headers alone. */
function isEndless({ kind }: Operation): boolean {
  return kind === 'stream' || kind === 'feed';
}

function variablesIn(pattern: Pattern): number {
  return pattern.segments.filter(isVariable).length;
}

function isVariable(segment: string): boolean {
  return segment.startsWith('{');
}

function fits(pattern: Pattern, segments: readonly string[]): boolean {
  return (
    pattern.segments.length === segments.length &&
    pattern.segments.every((expected, index) =>
      isVariable(expected) ? segments[index] !== '' : expected === segments[index],
    )
  );
}

function parametersOf(pattern: Pattern, segments: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pattern.segments.flatMap((name, index) =>
      isVariable(name) ? [[name.slice(1, -1), decoded(segments[index]!)]] : [],
    ),
  );
}

/** A segment that is not valid percent-encoding stands for itself: it names nothing that exists. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
