import { Arg, Ctx, Resolver } from 'type-graphql';
import { DEFAULT_POWER, designFilter, experimentDesigns } from '../../../../schema/contract/experiment-designs.ts';
import { assertAction } from '../../../../schema/actions.ts';
import type { RequestContext } from '../../../../schema/principal.ts';
import { nounTypes, type Answered } from '../../../../platform/graph/noun-types.ts';
import { parseFilter } from '../../../../platform/graph/parse-input.ts';
import { publicId } from '../../../../platform/identifiers.ts';
import { AccessLog } from '../../../../services/audit/access-log.ts';
import { recordEnvelope } from '../../../../services/trust/envelope.ts';
import { presentTrust } from '../attributions/present-trust.ts';
import { groupName } from '../experiments/channel-group.ts';
import { figuresFor, type InsightServices } from '../insights/figures-for.ts';
import { designsOfFigures } from './designs-of-figures.ts';

const { Record, Query, inputOf } = nounTypes(experimentDesigns);
type Answer = Promise<Answered<typeof experimentDesigns, 'listExperimentDesigns'>>;

@Resolver(() => Record)
export class ExperimentDesignResolver {
  readonly #services: InsightServices;
  readonly #accesses: AccessLog;

  constructor(services: InsightServices) {
    this.#services = services;
    this.#accesses = new AccessLog(services.database, services.clock);
  }

  @Query('listExperimentDesigns')
  async experimentDesigns(
    @Ctx() context: RequestContext,
    @Arg('filter', inputOf('listExperimentDesigns')) given: object,
  ): Answer {
    const principal = assertAction(context.principal, 'experiment:read');
    const filter = parseFilter(designFilter, given);
    const now = this.#services.clock();
    const { dataSourceIds, range, found } = await figuresFor(this.#services, principal, filter, context.sandboxDelayMs);
    const power = filter.power ?? DEFAULT_POWER;
    const sources = dataSourceIds.map((id) => publicId('ds', id));
    const asked = {
      dataSourceId: sources[0]!,
      ...(sources.length > 1 && { dataSourceIds: sources }),
      dateRange: daysOf(range),
      power,
    };
    if (found === null) {
      const trust = recordEnvelope(0, now, context.apiVersion);
      return { ...asked, status: 'processing', currency: null, attributionId: null, designs: [], warnings: [], trust };
    }
    const { figures, trust, sourceNow, attributionId } = found;
    const { designs, warnings } = designsOfFigures(figures, range, power, filter.channel);
    for (const id of sources) await this.#accesses.tell(context, { type: 'data_source', id });
    return {
      ...asked,
      status: 'completed',
      currency: figures.currency,
      attributionId,
      designs: designs.map((design) => ({
        ...design,
        channel: groupName(design.channels),
        method: 'holdout' as const,
      })),
      warnings,
      trust:
        trust === null
          ? recordEnvelope(0, now, context.apiVersion)
          : presentTrust(
              trust,
              figures,
              sourceNow ?? { source: null, changedDays: new Set() },
              now,
              context.apiVersion,
            ),
    };
  }
}

const daysOf = ({ start, end }: { readonly start: string; readonly end: string }): [string, string] => [start, end];
