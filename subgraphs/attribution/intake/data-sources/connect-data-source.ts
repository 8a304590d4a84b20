import { z } from 'zod';
import { csvCredentials, newSource } from '../../../../schema/contract/source-requests.ts';
import { ProblemError } from '../../../../schema/problems.ts';
import type { Principal } from '../../../../schema/principal.ts';
import { parseGraphInput, parseInput } from '../../../../platform/graph/parse-input.ts';
import type { Settle, Settlement } from '../../../../services/idempotency/exactly-once.ts';
import { newUuid, uuid, type Uuid } from '../../../../platform/identifiers.ts';
import { wholeAccount, type Database, type Question } from '../../../../platform/postgres/database.ts';
import { DataSource, DEFAULT_BASELINE_CHANNELS } from './data-source.ts';
import { recordsReport } from './records.ts';
import { servingAgent, type IsAgent } from './serving-agent.ts';
import { workspaceOf } from './workspace-of.ts';

/** Apart from the rest, since other types have other credentials; named as the request does. */
const uploadConnection = z.object({ credentials: csvCredentials });

/** The source that was created, and what came of its rows once they were stored. */
export const connectionEffect = z.object({ dataSourceId: uuid, report: recordsReport.nullable() });
export type ConnectionEffect = z.output<typeof connectionEffect>;

export interface ConnectServices {
  readonly database: Database;
  readonly isAgent: IsAgent;
  readonly clock: () => Date;
}

/**
 * Creates a data source of type `csv_upload`. Its rows come inline as `credentials.content`, or later as uploads.
 * @throws ProblemError `validation_error` for a bad member, an unknown agent or workspace, or a type without a
 * connector here.
 */
export async function connectDataSource(
  { database, isAgent, clock }: ConnectServices,
  principal: Principal,
  rawInput: object,
  settlement: Settlement<ConnectionEffect>,
): Promise<DataSource> {
  const input = parseGraphInput(newSource, rawInput);
  const now = clock();
  if (input.type !== 'csv_upload') {
    throw new ProblemError(
      'validation_error',
      `type: this deployment has no connector for ${input.type}; it serves csv_upload.`,
      { code: 'unsupported_type', param: '/type' },
    );
  }
  const credentials = parseCredentials(input.credentials);
  // Refused here rather than behind a source that was made already.
  if (credentials.content !== undefined) decode(credentials.content, credentials.encoding);
  const agentId = await servingAgent(isAgent, principal, input.agentId);
  const workspaceId = await workspaceOf(database, principal, input.workspaceId);

  const source = Object.assign(new DataSource(), {
    id: newUuid(now.getTime()),
    accountId: principal.accountId as Uuid,
    agentId,
    workspaceId,
    brandId: input.brandId ?? null,
    environment: principal.environment,
    type: input.type,
    name: input.name ?? credentials.filename ?? 'CSV upload',
    syncSchedule: input.syncSchedule ?? 'daily',
    timezone: input.timezone ?? 'UTC',
    delimiter: credentials.delimiter === undefined || credentials.delimiter === 'auto' ? null : credentials.delimiter,
    mapping: credentials.mapping ?? null,
    baselineChannels: input.baselineChannels ?? [...DEFAULT_BASELINE_CHANNELS],
    createdAt: now,
    rowsAccepted: 0,
    rowsRejected: 0,
  });
  await database.performAs(principal, [...insertion(source), ...settlement({ dataSourceId: source.id, report: null })]);
  return source;
}

/**
 * Written by hand, since nothing about a new source has to be asked for: it travels with all else that connecting it
 * needs.
 */
function insertion(source: DataSource): [Question] {
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
    delimiter,
    mapping,
    baselineChannels,
    createdAt,
  } = source;
  return [
    {
      name: 'data-sources.insert',
      text: `insert into attribution.data_sources (id, account_id, agent_id, workspace_id, brand_id, environment, type,
        name, sync_schedule, timezone, delimiter, mapping, baseline_channels, created_at)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
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
        delimiter,
        mapping == null ? null : JSON.stringify(mapping),
        baselineChannels,
        createdAt,
      ],
    },
  ];
}

/** The rows that a connection brings along; null without. @throws ProblemError `validation_error` */
export function inlineRows(rawInput: object): Buffer | null {
  const { content, encoding } = parseCredentials(parseGraphInput(newSource, rawInput).credentials);
  return content === undefined ? null : decode(content, encoding);
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
  return error instanceof ProblemError
    ? error.renaming((pointer) => (pointer.startsWith('/') ? `/credentials${pointer}` : pointer))
    : error;
}

function parseCredentials(raw: Record<string, unknown>): z.output<typeof csvCredentials> {
  return parseInput(uploadConnection, { credentials: raw }).credentials;
}

function decode(content: string, encoding: 'utf-8' | 'base64' = 'utf-8'): Buffer {
  if (encoding === 'utf-8') return Buffer.from(content, 'utf8');
  if (!/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(content)) {
    throw new ProblemError('validation_error', 'credentials.content: this is not base64.', {
      code: 'invalid_encoding',
      param: '/credentials/content',
    });
  }
  return Buffer.from(content, 'base64');
}
