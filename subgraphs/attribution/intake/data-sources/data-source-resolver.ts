import DataLoader from 'dataloader';
import { Arg, Args, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { z } from 'zod';
import {
  addedRows,
  inspectedRows,
  type addedRecords,
  type addedReport,
  type inspectedRecords,
  type inspectedReport,
} from '../../../../schema/contract/ingest.ts';
import { rejects } from '../../../../schema/contract/rejects.ts';
import type { sourceDetail } from '../../../../schema/contract/source-records.ts';
import type { sources } from '../../../../schema/contract/data-sources.ts';
import { ProblemError } from '../../../../schema/problems.ts';
import { assertAction } from '../../../../schema/actions.ts';
import type { Principal, RequestContext } from '../../../../schema/principal.ts';
import type { Jobs } from '../../../../platform/jobs/jobs.ts';
import { connectionOf, PageArguments, parsePage, placesOf, Rows } from '../../../../platform/graph/connection.ts';
import type { GraphRecord } from '../../../../platform/graph/contract-types.ts';
import { nounTypes, type Answered } from '../../../../platform/graph/noun-types.ts';
import { parseGraphInput } from '../../../../platform/graph/parse-input.ts';
import { perRequest } from '../../../../platform/graph/request-context.ts';
import { exactlyOnce, type Settle } from '../../../../services/idempotency/exactly-once.ts';
import { requireUuid, uuidFromPublicId, type Uuid } from '../../../../platform/identifiers.ts';
import { recordEnvelope } from '../../../../services/trust/envelope.ts';
import type { Connectors } from '../connectors/registry.ts';
import type { SourceCredentials } from '../connectors/source-credentials.ts';
import {
  blamingCredentials,
  connectDataSource,
  connectionEffect,
  inlineRows,
  withdrawDataSource,
  type ConnectionEffect,
} from './connect-data-source.ts';
import type { DataSource } from './data-source.ts';
import { DataSourceStore } from './data-source-store.ts';
import {
  AddRecordsInput,
  AddRecordsPayload,
  DataSourceDetailType,
  InspectRecordsInput,
  InspectRecordsPayload,
} from './data-source-type.ts';
import { DataSourceType, ofSources } from './data-source-type.ts';
import { deleteDataSource } from './delete-data-source.ts';
import { presentDataSource, presentDetail, presentIngest, presentSync } from './present-data-source.ts';
import {
  recordsReport,
  type InspectRecords,
  type ReceiveRecords,
  type RecordsReport,
  type RejectedRow,
} from './records.ts';
import { requireSource, type SourceServices } from './require-source.ts';
import type { IsAgent } from './serving-agent.ts';
import { requestSync, syncEffect } from './sync-data-source.ts';
import { Upload } from './upload.ts';

export interface DataSourceServices extends SourceServices {
  readonly jobs: Jobs;
  readonly receiveRecords: ReceiveRecords;
  readonly inspectRecords: InspectRecords;
  readonly listRejects: (
    source: { readonly accountId: Uuid; readonly dataSourceId: Uuid },
    page: { readonly limit: number; readonly offset: number },
  ) => Promise<{ readonly rows: readonly RejectedRow[]; readonly total: number }>;
  /** How many rejected rows stand before one of them. */
  readonly rejectsBefore: (
    source: { readonly accountId: Uuid; readonly dataSourceId: Uuid },
    row: { readonly uploadId: Uuid; readonly line: number },
  ) => Promise<number>;
  readonly isAgent: IsAgent;
  readonly mostSources: number;
  readonly connectors: Connectors;
  readonly sourceCredentials: SourceCredentials;
  readonly clock: () => Date;
}

const RECENT_SYNCS = 10;
const ofRejects = nounTypes(rejects);
type Answer<Id extends keyof typeof sources.operations> = Promise<Answered<typeof sources, Id>>;

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

  @ofSources.Query('getDataSourceStatus')
  async dataSource(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID, { description: 'Public id of the source.' }) id: string,
  ): Answer<'getDataSourceStatus'> {
    return this.#present(await this.#require(assertAction(context.principal, 'dataSource:read'), id), context);
  }

  @ofSources.Query('listDataSources')
  async dataSources(
    @Ctx() context: RequestContext,
    @Args(() => PageArguments) args: PageArguments,
  ): Answer<'listDataSources'> {
    const principal = assertAction(context.principal, 'dataSource:read');
    return this.#services.database.asTenant(principal, async (em) => {
      const store = new DataSourceStore(em);
      const page = parsePage(args);
      const [sources, totalCount] = await store.list(page);
      return connectionOf(
        sources.map((source) => this.#present(source, context)),
        page,
        totalCount,
        this.#trust(context, sources.list.length),
      );
    });
  }

  @FieldResolver(() => DataSourceDetailType, { description: 'What is stored of the source and how good it is.' })
  async detail(@Root() source: DataSourceType, @Ctx() context: RequestContext): Promise<z.output<typeof sourceDetail>> {
    const principal = assertAction(context.principal, 'dataSource:read');
    const stored = await this.#require(principal, source.id);
    const arrivals = await this.#services.database.asTenant(principal, async (em) => {
      const sources = new DataSourceStore(em);
      const id = stored.id as Uuid;
      return {
        latest: await sources.recentUploads(id, RECENT_SYNCS),
        sync: await sources.openSync(id),
        upload: await sources.runningUpload(id),
      };
    });
    return presentDetail(stored, source.status, arrivals, this.#services.clock());
  }

  @ofRejects.Query('listRejects')
  async dataSourceRejects(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID, { description: 'Public id of the source.' }) id: string,
    @Args(() => PageArguments) args: PageArguments,
  ): Promise<Answered<typeof rejects, 'listRejects'>> {
    const principal = assertAction(context.principal, 'dataSource:read');
    const source = await this.#require(principal, id);
    const key = { accountId: source.accountId, dataSourceId: source.id };
    const page = parsePage(args, { isKey: (text) => rejectKeyIn(text) !== undefined });
    const { total } = await this.#services.listRejects(key, { limit: 0, offset: 0 });
    const places = await placesOf(page, total, (text) => this.#services.rejectsBefore(key, rejectKeyIn(text)!));
    const { rows } = await this.#services.listRejects(key, places);
    const shown = Rows.at(rows, { offset: places.offset, total }, page, ({ uploadId, line }) => `${uploadId}/${line}`);
    return connectionOf(shown, page, total, this.#trust(context, rows.length));
  }

  @ofSources.Mutation('connectDataSource')
  async connectDataSource(
    @Ctx() context: RequestContext,
    @Arg('input', ofSources.inputOf('connectDataSource')) input: object,
  ): Answer<'connectDataSource'> {
    const principal = assertAction(context.principal, 'dataSource:connect');
    const { database } = this.#services;
    const { source, report } = await exactlyOnce(database, context, {
      effect: connectionEffect,
      act: async (settle, settlement) =>
        this.#fill(principal, await connectDataSource(this.#services, principal, input, settlement), input, settle),
      recall: async ({ dataSourceId, report }, settle) => {
        const connected = await this.#requireUuid(principal, dataSourceId);
        return report === null ? this.#fill(principal, connected, input, settle) : { source: connected, report };
      },
    });
    return {
      dataSource: this.#present(source, context),
      ingest: report === null ? null : presentIngest(report),
      trust: this.#trust(context, 1),
    };
  }

  @Mutation(() => AddRecordsPayload, {
    nullable: true,
    description:
      'Upserts up to 1,000 rows by their natural key. Larger files go to POST /v1/data-sources/{id}/records. Errors: ' +
      'VALIDATION_ERROR, RESOURCE_NOT_FOUND, CONFLICT.',
  })
  async addRecords(
    @Ctx() context: RequestContext,
    @Arg('input', () => AddRecordsInput) input: z.output<typeof addedRecords>,
  ): Promise<GraphRecord<typeof addedReport>> {
    const principal = assertAction(context.principal, 'dataSource:write');
    const { records, options = {} } = parseGraphInput(addedRows, input);
    const body = bytesOf(Buffer.from(JSON.stringify(records)));
    const dataSourceId = requireUuid('ds', input.dataSourceId, 'data source');
    const report = await exactlyOnce(this.#services.database, context, {
      effect: recordsReport,
      act: (settle) =>
        this.#services.receiveRecords(
          principal,
          dataSourceId,
          { mediaType: 'application/json', contentEncoding: 'identity', options, body },
          settle,
        ),
      recall: (stored) => Promise.resolve(stored),
    }).catch((error: unknown) => {
      throw blamingInput(error, '/records');
    });
    return { ingest: presentIngest(report), trust: this.#trust(context, report.rowsAccepted) };
  }

  @Query(() => InspectRecordsPayload, {
    nullable: true,
    description:
      'Says how rows would be read, and stores nothing. Larger files go to POST ' +
      '/v1/data-sources/{id}/records?dry_run=true. Errors: VALIDATION_ERROR, RESOURCE_NOT_FOUND.',
  })
  async inspectRecords(
    @Ctx() context: RequestContext,
    @Arg('input', () => InspectRecordsInput) input: z.output<typeof inspectedRecords>,
  ): Promise<GraphRecord<typeof inspectedReport>> {
    const principal = assertAction(context.principal, 'dataSource:write');
    const { records, content, options = {} } = parseGraphInput(inspectedRows, input);
    const found = await this.#services
      .inspectRecords(principal, requireUuid('ds', input.dataSourceId, 'data source'), {
        mediaType: records === undefined ? 'text/csv' : 'application/json',
        contentEncoding: 'identity',
        options,
        body: bytesOf(Buffer.from(content ?? JSON.stringify(records))),
      })
      .catch((error: unknown) => {
        throw blamingInput(error, records === undefined ? '/content' : '/records');
      });
    return { inspection: found, trust: this.#trust(context, found.accepted) };
  }

  @ofSources.Mutation('syncDataSource')
  async syncDataSource(
    @Ctx() context: RequestContext,
    @Arg('input', ofSources.inputOf('syncDataSource')) { id }: { id: string },
  ): Answer<'syncDataSource'> {
    const principal = assertAction(context.principal, 'dataSource:write');
    const { database, clock } = this.#services;
    const dataSourceId = requireUuid('ds', id, 'data source');
    const sync = await exactlyOnce(database, context, {
      effect: syncEffect,
      act: (settle) => requestSync(this.#services, principal, dataSourceId, clock(), settle),
      recall: ({ syncId }) => database.asTenant(principal, (em) => em.findOneOrFail(Upload, { id: syncId })),
    });
    return { sync: presentSync(sync), trust: this.#trust(context, 1) };
  }

  @ofSources.Mutation('deleteDataSource')
  async deleteDataSource(
    @Ctx() context: RequestContext,
    @Arg('input', ofSources.inputOf('deleteDataSource')) { id }: { id: string },
  ): Answer<'deleteDataSource'> {
    const principal = assertAction(context.principal, 'dataSource:delete');
    const { database, jobs, clock } = this.#services;
    const dataSourceId = requireUuid('ds', id, 'data source');
    await exactlyOnce(database, context, {
      effect: z.object({}),
      needsRoom: false,
      act: (settle) => deleteDataSource(database, jobs, principal, dataSourceId, clock(), settle),
      recall: () => Promise.resolve(),
    });
    return { id, deleted: true, trust: this.#trust(context, 1) };
  }

  /** Entity resolver; null where the tenant cannot see the source. */
  async resolveReference(
    reference: Readonly<Record<string, unknown>>,
    context: RequestContext,
  ): Promise<DataSourceType | null> {
    const uuid = uuidFromPublicId('ds', String(reference['id']));
    const source = uuid === undefined ? null : await this.#loader(context).load(uuid);
    return source === null ? null : this.#present(source, context);
  }

  /** Stores the rows that came with a new source; a source whose rows are refused is withdrawn. */
  async #fill(
    principal: Principal,
    source: DataSource,
    input: object,
    settle: Settle<ConnectionEffect>,
  ): Promise<{ source: DataSource; report: RecordsReport | null }> {
    const rows = inlineRows(this.#services.connectors, input);
    if (rows === null) return { source, report: null };
    const dataSourceId = source.id as Uuid;
    try {
      const report = await this.#services.receiveRecords(
        principal,
        dataSourceId,
        { mediaType: 'text/csv', contentEncoding: 'identity', body: bytesOf(rows) },
        (em, stored) => settle(em, { dataSourceId, report: stored }),
      );
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

/** The row that a cursor stands for: its upload, and its line in it. */
function rejectKeyIn(text: string): { readonly uploadId: Uuid; readonly line: number } | undefined {
  const [, upload, line] = /^(\w+)\/(\d{1,15})$/.exec(text) ?? [];
  const uploadId = upload === undefined ? undefined : uuidFromPublicId('upload', upload);
  return uploadId === undefined ? undefined : { uploadId, line: Number(line) };
}

/** Where a file has its content, the input has its rows. */
function blamingInput(error: unknown, rows: '/records' | '/content'): unknown {
  return error instanceof ProblemError
    ? error.renaming((pointer) => {
        if (/^\/(mapping|constants|preset|answers)\b/.test(pointer)) return `/options${pointer}`;
        return /^$|^\/content\b/.test(pointer) ? rows : pointer;
      })
    : error;
}

async function* bytesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
