import { z } from 'zod';
import { newSource } from '../../../../schema/contract/source-requests.ts';
import { EARLIEST_DAY } from '../../../../schema/day-range.ts';
import { ProblemError } from '../../../../schema/problems.ts';
import type { Principal } from '../../../../schema/principal.ts';
import { parseGraphInput, parseInput } from '../../../../platform/graph/parse-input.ts';
import type { Settle, Settlement } from '../../../../services/idempotency/exactly-once.ts';
import { newUuid, uuid, type Uuid } from '../../../../platform/identifiers.ts';
import { wholeAccount, type Database, type Question } from '../../../../platform/postgres/database.ts';
import { TOO_MANY_SOURCES } from '../../migrations.ts';
import type { Connector } from '../connectors/connector.ts';
import type { Connectors } from '../connectors/registry.ts';
import type { SourceCredentials } from '../connectors/source-credentials.ts';
import { DataSource, DEFAULT_BASELINE_CHANNELS } from './data-source.ts';
import { PURGE_AFTER_DAYS } from './delete-data-source.ts';
import { recordsReport } from './records.ts';
import { servingAgent, type IsAgent } from './serving-agent.ts';
import { workspaceOf } from './workspace-of.ts';

/** The source that was created, and what came of its rows once they were stored. */
export const connectionEffect = z.object({ dataSourceId: uuid, report: recordsReport.nullable() });
export type ConnectionEffect = z.output<typeof connectionEffect>;

export interface ConnectServices {
  readonly database: Database;
  readonly isAgent: IsAgent;
  /**
   * Of an account in an environment. Each has partitions of its own in the engine, which keeps memory for them; deleted
   * sources count as long as their rows are kept.
   */
  readonly mostSources: number;
  readonly connectors: Connectors;
  readonly sourceCredentials: SourceCredentials;
  readonly clock: () => Date;
}

/**
 * Creates a data source. Its rows come with the credentials, later as uploads, or are fetched, as is the way of its
 * type; credentials to fetch with are checked first, and a refused source leaves nothing behind.
 * @throws ProblemError `validation_error` for a bad member, an unknown agent or workspace, a type without a connector
 * here, a `start_date` that cannot be one ({@link assertStart}), credentials that are not taken
 * (`credentials_rejected`), or a further source than there may be (`too_many_data_sources`); `service_unavailable` /
 * `source_unreachable`
 */
export async function connectDataSource(
  { database, isAgent, mostSources, connectors, sourceCredentials, clock }: ConnectServices,
  principal: Principal,
  rawInput: object,
  settlement: Settlement<ConnectionEffect>,
): Promise<DataSource> {
  const input = parseGraphInput(newSource, rawInput);
  const connector = connectors.require(input.type);
  const credentials = parseCredentials(connector, input.credentials);
  // Refused here rather than behind a source that was made already.
  const sent = 'fetch' in connector ? null : connector.read(credentials);
  const startDate = input.startDate ?? null;
  if (startDate !== null) assertStart(startDate, connector, clock());
  const agentId = await servingAgent(isAgent, principal, input.agentId);
  const workspaceId = await workspaceOf(database, principal, input.workspaceId);

  const isRoom = fewSources(principal, mostSources);
  if ('fetch' in connector) {
    // The vendor is asked after all that costs less.
    await database.askAs(principal, isRoom).catch(refuseFurther(mostSources));
    await connectors.check(connector, credentials);
  }

  const now = clock();
  const source = Object.assign(new DataSource(), {
    id: newUuid(now.getTime()),
    accountId: principal.accountId as Uuid,
    agentId,
    workspaceId,
    brandId: input.brandId ?? null,
    environment: principal.environment,
    type: input.type,
    name: input.name ?? sent?.name ?? connector.title,
    syncSchedule: input.syncSchedule ?? 'daily',
    timezone: input.timezone ?? 'UTC',
    startDate,
    delimiter: sent?.delimiter ?? null,
    mapping: sent?.mapping ?? null,
    baselineChannels: input.baselineChannels ?? [...DEFAULT_BASELINE_CHANNELS],
    margin: input.margin ?? null,
    createdAt: now,
    rowsAccepted: 0,
    rowsRejected: 0,
  });
  await database
    .performAs(principal, [
      isRoom,
      insertion(source),
      ...('fetch' in connector ? [sourceCredentials.insertion(source, credentials)] : []),
      ...settlement({ dataSourceId: source.id, report: null }),
    ])
    .catch(refuseFurther(mostSources));
  return source;
}

/** @throws ProblemError `validation_error` / `not_applicable`, `future_date`, `outside_retention` */
function assertStart(day: string, connector: Connector, now: Date): void {
  const today = now.toISOString().slice(0, 10);
  const fault =
    'fetch' in connector
      ? day > today
        ? { code: 'future_date', message: `must not be after today, ${today} (UTC)` }
        : day < EARLIEST_DAY
          ? { code: 'outside_retention', message: `must not be before ${EARLIEST_DAY}: no row is older` }
          : null
      : {
          code: 'not_applicable',
          message: `nothing is fetched for ${connector.type}, whose rows are sent; leave it out, and send what counts`,
        };
  if (fault === null) return;
  const param = '/start_date';
  throw new ProblemError('validation_error', `start_date: ${fault.message}`, {
    code: fault.code,
    param,
    errors: [{ param, ...fault }],
  });
}

/** Fails with {@link TOO_MANY_SOURCES} where there are as many as may be. */
function fewSources({ accountId }: Principal, most: number): Question {
  return {
    name: 'data-sources.assert_few',
    text: 'select attribution.assert_few_sources($1, $2, $3)',
    values: [accountId, most, PURGE_AFTER_DAYS],
  };
}

/** @throws ProblemError `validation_error` / `too_many_data_sources` for the failure of {@link fewSources} */
function refuseFurther(most: number): (error: unknown) => never {
  return (error) => {
    if ((error as { readonly code?: unknown } | null)?.code !== TOO_MANY_SOURCES) throw error;
    throw new ProblemError(
      'validation_error',
      `There are ${most} data sources already, which is the maximum; one that was deleted counts for ` +
        `${PURGE_AFTER_DAYS} days more. Send further rows to one that exists.`,
      { code: 'too_many_data_sources' },
    );
  };
}

/**
 * Written by hand, since nothing about a new source has to be asked for: it travels with all else that connecting it
 * needs.
 */
function insertion(source: DataSource): Question {
  const {
    id,
    accountId,
    agentId,
    workspaceId,
    brandId,
    environment,
    type,
    name,
    syncSchedule,
    timezone,
    startDate,
    delimiter,
    mapping,
    baselineChannels,
    margin,
    createdAt,
  } = source;
  return {
    name: 'data-sources.insert',
    text: `insert into attribution.data_sources (id, account_id, agent_id, workspace_id, brand_id, environment, type,
        name, sync_schedule, timezone, start_date, delimiter, mapping, baseline_channels, margin, created_at)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
    values: [
      id,
      accountId,
      agentId,
      workspaceId,
      brandId,
      environment,
      type,
      name,
      syncSchedule,
      timezone,
      startDate,
      delimiter,
      mapping == null ? null : JSON.stringify(mapping),
      baselineChannels,
      margin,
      createdAt,
    ],
  };
}

/** The rows that a connection brings along; null without. @throws ProblemError `validation_error` */
export function inlineRows(connectors: Connectors, rawInput: object): Buffer | null {
  const { type, credentials } = parseGraphInput(newSource, rawInput);
  const connector = connectors.require(type);
  return 'fetch' in connector ? null : connector.read(parseCredentials(connector, credentials)).rows;
}

/** Undoes `connectDataSource` where the inline rows turned out to be unusable: nothing is kept of a refused request. */
export async function withdrawDataSource(
  database: Database,
  source: DataSource,
  settle: Settle<ConnectionEffect>,
): Promise<void> {
  await database.asTenant(wholeAccount(source), async (em) => {
    await em.nativeDelete(DataSource, { id: source.id });
    await settle(em, null);
  });
}

/** An error about the inline rows names them as the request does: below `/credentials`. */
export function blamingCredentials(error: unknown): unknown {
  if (!(error instanceof ProblemError)) return error;
  const { type, errors = [], ...problem } = error.problem;
  if (errors.some(({ param }) => param.startsWith('/answers/'))) {
    const param = '/credentials/content';
    const message = `${errors.map((each) => each.message).join(' ')} ${NO_ANSWERS}`;
    return new ProblemError(type, message, { ...problem, param, errors: errors.map((each) => ({ ...each, param })) });
  }
  return error.renaming((pointer) => (pointer.startsWith('/') ? `/credentials${pointer}` : pointer));
}

const NO_ANSWERS =
  'No answer can be given here: connect without content, then send the file to POST /v1/data-sources/{id}/records, ' +
  'which takes answers.';

/** Credentials where the request has them, so that errors name them so. Made once: compiling a schema takes time. */
const shapes = new WeakMap<Connector, z.ZodType<{ readonly credentials: unknown }>>();

function parseCredentials(connector: Connector, raw: Record<string, unknown>): unknown {
  const shape = shapes.get(connector) ?? z.object({ credentials: connector.credentials });
  shapes.set(connector, shape);
  return parseInput(shape, { credentials: raw }).credentials;
}
