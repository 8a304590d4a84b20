import DataLoader from 'dataloader';
import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { z } from 'zod';
import { ProblemError } from '../../../../schema/problems.ts';
import { assertAction } from '../../../../schema/actions.ts';
import type { Principal, RequestContext } from '../../../../schema/principal.ts';
import type { Jobs } from '../../../../platform/jobs/jobs.ts';
import { connectionOf, PageArguments, parsePage, type Connection } from '../../../../platform/graph/connection.ts';
import { perRequest } from '../../../../platform/graph/request-context.ts';
import { exactlyOnce, type Settle } from '../../../../services/idempotency/exactly-once.ts';
import { requireUuid, uuidFromPublicId, type Uuid } from '../../../../platform/identifiers.ts';
import { recordEnvelope } from '../../../../services/trust/envelope.ts';
import { blamingCredentials, connectDataSource, connectionEffect, inlineRows, withdrawDataSource, type ConnectionEffect } from './connect-data-source.ts';
import type { DataSource } from './data-source.ts';
import { DataSourceStore } from './data-source-store.ts';
import {
  ConnectDataSourceInput,
  ConnectDataSourcePayload,
  DataSourceConnection,
  DataSourceDetailType,
  DataSourceType,
  DeleteDataSourceInput,
  DeleteDataSourcePayload,
  SyncDataSourceInput,
  SyncDataSourcePayload,
} from './data-source-type.ts';
import { deleteDataSource } from './delete-data-source.ts';
import { presentDataSource, presentDetail, presentIngest, presentSync } from './present-data-source.ts';
import { recordsReport, type ReceiveRecords, type RecordsReport, type RejectedRow } from './records.ts';
import { AddRecordsInput, AddRecordsPayload, MAX_JSON_RECORDS, RejectedRowConnection, RejectedRowType } from './records-type.ts';
import { requireSource, type SourceServices } from './require-source.ts';
import type { IsAgent } from './serving-agent.ts';
import { requestSync, syncEffect } from './sync-data-source.ts';
import { Upload } from './upload.ts';

export interface DataSourceServices extends SourceServices {
  readonly jobs: Jobs;
  readonly receiveRecords: ReceiveRecords;
  readonly listRejects: (source: { readonly accountId: Uuid; readonly dataSourceId: Uuid }, page: { readonly limit: number; readonly offset: number }) => Promise<{ readonly rows: readonly RejectedRow[]; readonly total: number }>;
  readonly isAgent: IsAgent;
  readonly clock: () => Date;
}

const RECENT_SYNCS = 10;

@Resolver(() => DataSourceType)
export class DataSourceResolver {
  readonly #services: DataSourceServices;
  /** Sources of one request, read at once. */
  readonly #loader;

  constructor(services: DataSourceServices) {
    this.#services = services;
    this.#loader = perRequest((context) => {
      const principal = assertAction(context.principal, 'dataSource:read');
      return new DataLoader<Uuid, DataSource | null>(async (ids) => {
        const found = await services.database.asTenant(principal, (em) => new DataSourceStore(em).findMany(ids));
        const byId = new Map(found.map((source) => [source.id as Uuid, source]));
        return ids.map((id) => byId.get(id) ?? null);
      });
    });
  }

  @Query(() => DataSourceType, { nullable: true, description: 'One source. Errors: RESOURCE_NOT_FOUND.' })
  async dataSource(@Ctx() context: RequestContext, @Arg('id', () => ID, { description: 'Public id of the source.' }) id: string): Promise<DataSourceType> {
    return this.#present(await this.#require(assertAction(context.principal, 'dataSource:read'), id), context);
  }

  @Query(() => DataSourceConnection, { nullable: true, description: 'Sources of the account, newest first.' })
  async dataSources(@Ctx() context: RequestContext, @Args(() => PageArguments) args: PageArguments): Promise<Connection<DataSourceType>> {
    const principal = assertAction(context.principal, 'dataSource:read');
    return this.#services.database.asTenant(principal, async (em) => {
      const store = new DataSourceStore(em);
      const page = await parsePage(args, () => store.count());
      const [sources, totalCount] = await store.list(page);
      return connectionOf(sources.map((source) => this.#present(source, context)), page, totalCount, this.#trust(context, sources.length));
    });
  }

  @FieldResolver(() => DataSourceDetailType, { description: 'What is stored of the source and how good it is.' })
  async detail(@Root() source: DataSourceType, @Ctx() context: RequestContext): Promise<DataSourceDetailType> {
    const principal = assertAction(context.principal, 'dataSource:read');
    const stored = await this.#require(principal, source.id);
    const uploads = await this.#services.database.asTenant(principal, (em) => new DataSourceStore(em).recentUploads(stored.id as Uuid, RECENT_SYNCS));
    return presentDetail(stored, uploads, this.#services.clock());
  }

  @Query(() => RejectedRowConnection, { nullable: true, description: 'Rows that were not taken, in the order of uploads and lines. Errors: RESOURCE_NOT_FOUND.' })
  async dataSourceRejects(@Ctx() context: RequestContext, @Arg('id', () => ID, { description: 'Public id of the source.' }) id: string, @Args(() => PageArguments) args: PageArguments): Promise<Connection<RejectedRowType>> {
    const principal = assertAction(context.principal, 'dataSource:read');
    const source = await this.#require(principal, id);
    const key = { accountId: source.accountId, dataSourceId: source.id };
    const page = await parsePage(args, async () => (await this.#services.listRejects(key, { limit: 1, offset: 0 })).total);
    const { rows, total } = await this.#services.listRejects(key, page);
    return connectionOf(rows, page, total, this.#trust(context, rows.length));
  }

  @Mutation(() => ConnectDataSourcePayload, { nullable: true, description: 'Connects a source, with its first rows where the credentials carry them. Errors: VALIDATION_ERROR.' })
  async connectDataSource(@Ctx() context: RequestContext, @Arg('input', () => ConnectDataSourceInput) input: ConnectDataSourceInput): Promise<ConnectDataSourcePayload> {
    const principal = assertAction(context.principal, 'dataSource:connect');
    const { database } = this.#services;
    const { source, report } = await exactlyOnce(database, context, {
      effect: connectionEffect,
      act: async (settle, settlement) => this.#fill(principal, await connectDataSource(this.#services, principal, input, settlement), input, settle),
      recall: async ({ dataSourceId, report }, settle) => {
        const connected = await this.#requireUuid(principal, dataSourceId);
        return report === null ? this.#fill(principal, connected, input, settle) : { source: connected, report };
      },
    });
    return { dataSource: this.#present(source, context), ingest: report === null ? null : presentIngest(report), trust: this.#trust(context, 1) };
  }

  @Mutation(() => AddRecordsPayload, { nullable: true, description: 'Upserts up to 1,000 rows by their natural key. Larger files go to POST /v1/data-sources/{id}/records. Errors: VALIDATION_ERROR, RESOURCE_NOT_FOUND, CONFLICT.' })
  async addRecords(@Ctx() context: RequestContext, @Arg('input', () => AddRecordsInput) input: AddRecordsInput): Promise<AddRecordsPayload> {
    const principal = assertAction(context.principal, 'dataSource:write');
    if (input.records.length > MAX_JSON_RECORDS) {
      throw new ProblemError('validation_error', `records: at most ${MAX_JSON_RECORDS} rows; upload a file for more.`, { code: 'too_many', param: '/records' });
    }
    const body = bytesOf(Buffer.from(JSON.stringify(input.records)));
    const dataSourceId = requireUuid('ds', input.dataSourceId, 'data source');
    const report = await exactlyOnce(this.#services.database, context, {
      effect: recordsReport,
      act: (settle) => this.#services.receiveRecords(principal, dataSourceId, { mediaType: 'application/json', contentEncoding: 'identity', body }, settle),
      recall: (stored) => Promise.resolve(stored),
    });
    return { ingest: presentIngest(report), trust: this.#trust(context, report.rowsAccepted) };
  }

  @Mutation(() => SyncDataSourcePayload, { nullable: true, description: 'Queues a sync; one that is queued or running already is returned instead. Errors: RESOURCE_NOT_FOUND.' })
  async syncDataSource(@Ctx() context: RequestContext, @Arg('input', () => SyncDataSourceInput) input: SyncDataSourceInput): Promise<SyncDataSourcePayload> {
    const principal = assertAction(context.principal, 'dataSource:write');
    const { database, clock } = this.#services;
    const dataSourceId = requireUuid('ds', input.id, 'data source');
    const sync = await exactlyOnce(database, context, {
      effect: syncEffect,
      act: (settle) => requestSync(this.#services, principal, dataSourceId, clock(), settle),
      recall: ({ syncId }) => database.asTenant(principal, (em) => em.findOneOrFail(Upload, { id: syncId })),
    });
    return { sync: presentSync(sync), trust: this.#trust(context, 1) };
  }

  @Mutation(() => DeleteDataSourcePayload, { nullable: true, description: 'Deletes a source at once; its rows go after 30 days. Errors: RESOURCE_NOT_FOUND, CONFLICT.' })
  async deleteDataSource(@Ctx() context: RequestContext, @Arg('input', () => DeleteDataSourceInput) input: DeleteDataSourceInput): Promise<DeleteDataSourcePayload> {
    const principal = assertAction(context.principal, 'dataSource:delete');
    const { database, jobs, clock } = this.#services;
    const dataSourceId = requireUuid('ds', input.id, 'data source');
    await exactlyOnce(database, context, {
      effect: z.object({}),
      needsRoom: false,
      act: (settle) => deleteDataSource(database, jobs, principal, dataSourceId, clock(), settle),
      recall: () => Promise.resolve(),
    });
    return { id: input.id, deleted: true, trust: this.#trust(context, 1) };
  }

  /** Entity resolver; null where the tenant cannot see the source. */
  async resolveReference(reference: Readonly<Record<string, unknown>>, context: RequestContext): Promise<DataSourceType | null> {
    const uuid = uuidFromPublicId('ds', String(reference['id']));
    const source = uuid === undefined ? null : await this.#loader(context).load(uuid);
    return source === null ? null : this.#present(source, context);
  }

  /** Stores the rows that came with a new source; a source whose rows are refused is withdrawn. */
  async #fill(principal: Principal, source: DataSource, input: ConnectDataSourceInput, settle: Settle<ConnectionEffect>): Promise<{ source: DataSource; report: RecordsReport | null }> {
    const rows = inlineRows(input);
    if (rows === null) return { source, report: null };
    const dataSourceId = source.id as Uuid;
    try {
      const report = await this.#services.receiveRecords(principal, dataSourceId, { mediaType: 'text/csv', contentEncoding: 'identity', body: bytesOf(rows) }, (em, stored) => settle(em, { dataSourceId, report: stored }));
      return { source: await this.#requireUuid(principal, dataSourceId), report };
    } catch (error) {
      await withdrawDataSource(this.#services.database, source, settle);
      throw blamingCredentials(error);
    }
  }

  #require(principal: Principal, id: string): Promise<DataSource> {
    return this.#requireUuid(principal, requireUuid('ds', id, 'data source'));
  }

  #requireUuid(principal: Principal, id: Uuid): Promise<DataSource> {
    return requireSource(this.#services, principal, id);
  }

  #present(source: DataSource, context: RequestContext): DataSourceType {
    return presentDataSource(source, this.#services.clock(), this.#trust(context, 1));
  }

  #trust(context: RequestContext, records: number) {
    return recordEnvelope(records, this.#services.clock(), context.apiVersion);
  }
}

async function* bytesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
