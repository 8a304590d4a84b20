import { Arg, Ctx, ID, Resolver } from 'type-graphql';
import { dataQualities, type DataQuality } from '../../../../schema/contract/data-quality.ts';
import { dayAt, daysBetween } from '../../../../schema/day-range.ts';
import { assertAction } from '../../../../schema/actions.ts';
import type { Principal, RequestContext } from '../../../../schema/principal.ts';
import { nounTypes, type Answered } from '../../../../platform/graph/noun-types.ts';
import { requireUuid, type Uuid } from '../../../../platform/identifiers.ts';
import { recordEnvelope } from '../../../../services/trust/envelope.ts';
import { channelNamingOf } from '../channel-rules/channel-rule-store.ts';
import type { DataSource } from '../data-sources/data-source.ts';
import { refuseUnusable, requireSource, type SourceServices } from '../data-sources/require-source.ts';
import type { MeasureQuality } from './measure-quality.ts';
import { uploadsWithFindings } from './upload-quality.ts';

export interface DataQualityServices extends SourceServices {
  readonly measureQuality: MeasureQuality;
  readonly clock: () => Date;
}

const { Record, Query } = nounTypes(dataQualities);

/** What counts as an order where nobody asks for another event. */
const CONVERSION_EVENT = 'purchase';
const DAY_MS = 86_400_000;
/** What is older says little of how the source is today. */
const MOST_DAYS = 366;

@Resolver(() => Record)
export class DataQualityResolver {
  readonly #services: DataQualityServices;

  constructor(services: DataQualityServices) {
    this.#services = services;
  }

  @Query('getDataQuality')
  async dataQuality(
    @Ctx() context: RequestContext,
    @Arg('dataSourceId', () => ID, { description: 'Public id of the source.' }) dataSourceId: string,
  ): Promise<Answered<typeof dataQualities, 'getDataQuality'>> {
    const principal = assertAction(context.principal, 'dataSource:read');
    const id = requireUuid('ds', dataSourceId, 'data source');
    const source = await requireSource(this.#services, principal, id);
    refuseUnusable(source);
    const now = this.#services.clock();
    const { status, checks } = await this.#measured(principal, source, now);
    return { status, checks: [...checks], trust: recordEnvelope(checks.length, now, context.apiVersion) };
  }

  async #measured(principal: Principal, source: DataSource, now: Date): Promise<DataQuality> {
    const { earliest, latest } = source.coverage(now);
    if (earliest === null || latest === null) return { status: 'good', checks: [] };
    const first =
      daysBetween(earliest, latest) > MOST_DAYS ? dayAt(Date.parse(latest) - (MOST_DAYS - 1) * DAY_MS) : earliest;
    const dateRange = [first, latest] as const;
    const { accountId, id: dataSourceId } = source;
    const [naming, uploads] = await this.#services.database.asTenant(principal, async (em) => [
      await channelNamingOf(em, dataSourceId as Uuid),
      await uploadsWithFindings(em, [dataSourceId as Uuid], dateRange),
    ]);
    return this.#services.measureQuality(
      { accountId, dataSourceId, naming, dateRange, conversionEvent: CONVERSION_EVENT },
      { uploads, currency: source.currency ?? 'USD', baselineChannels: source.baselineChannels },
    );
  }
}
