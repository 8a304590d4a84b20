import { Arg, Ctx, FieldResolver, ID, Int, Resolver, Root, Subscription, type ClassType } from 'type-graphql';
import { assertAction } from '../../../../schema/actions.ts';
import type { RequestContext } from '../../../../schema/principal.ts';
import type { TrustEnvelope } from '../../../../schema/trust-envelope.ts';
import { requireUuid } from '../../../../platform/identifiers.ts';
import { assertPlace } from '../../../../services/events/sequenced-watch.ts';
import { recordEnvelope } from '../../../../services/trust/envelope.ts';
import type { AttributionResolver } from './attribution-resolver.ts';
import { watchRun } from '../../runs/watch-run.ts';
import { ATTRIBUTION_RUNS } from './attribution.ts';
import type { SequencedProgress } from './attribution-progress.ts';
import { AttributionProgressType, type AttributionProgress, type AttributionRecord } from './attribution-types.ts';
import { presentProgress } from './present-progress.ts';
import type { RunAttributionServices } from './run-attribution.ts';

interface WatchArguments {
  readonly id: string;
  readonly after?: number | null;
}

/** An event, and the public id of the analysis that it is of. */
type OfAnalysis = AttributionProgress & { readonly id: string };

/**
 * The class is made per subgraph, because type-graphql gives `subscribe` no resolver instance to find its services in.
 */
export function attributionProgressResolver(
  services: Pick<RunAttributionServices, 'database' | 'pubSub' | 'clock'>,
  attributions: AttributionResolver,
): ClassType {
  @Resolver(() => AttributionProgressType)
  class AttributionProgressResolver {
    @Subscription(() => AttributionProgressType, {
      description:
        'Everything that happens to an analysis, from behind `after` on; ends with RESULT or ERROR. Errors: ' +
        'RESOURCE_NOT_FOUND.',
      subscribe: ({ args, context }) => watch(services, context as RequestContext, args as WatchArguments),
    })
    async attributionProgress(
      @Root() sequenced: SequencedProgress,
      @Arg('id', () => ID, { description: 'Public id of the analysis.' }) id: string,
      @Arg('after', () => Int, { nullable: true, description: 'Sequence of the last event that was seen; 0 for all.' })
      _after?: number | null,
    ): Promise<OfAnalysis> {
      return { ...presentProgress(sequenced), id };
    }

    @FieldResolver()
    async result(@Root() { kind, id }: OfAnalysis, @Ctx() context: RequestContext): Promise<AttributionRecord | null> {
      assertAction(context.principal, 'attribution:read');
      return kind === 'RESULT' ? attributions.attribution(context, id) : null;
    }

    @FieldResolver()
    async trust(@Root() { kind, id }: OfAnalysis, @Ctx() context: RequestContext): Promise<TrustEnvelope | null> {
      assertAction(context.principal, 'attribution:read');
      return kind === 'RESULT'
        ? (await attributions.attribution(context, id)).trust
        : recordEnvelope(1, services.clock(), context.apiVersion);
    }
  }
  return AttributionProgressResolver;
}

async function watch(
  services: Pick<RunAttributionServices, 'database' | 'pubSub'>,
  context: RequestContext,
  { id, after }: WatchArguments,
): Promise<AsyncIterable<SequencedProgress>> {
  const principal = assertAction(context.principal, 'attribution:read');
  assertPlace(after);
  return watchRun(services, ATTRIBUTION_RUNS, principal, requireUuid('attr', id, 'attribution'), after ?? 0);
}
