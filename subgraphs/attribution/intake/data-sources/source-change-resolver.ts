import { Arg, Ctx, ID, Int, Resolver, Root, Subscription, type ClassType } from 'type-graphql';
import type { sourceChange } from '../../../../schema/contract/source-changes.ts';
import { assertAction } from '../../../../schema/actions.ts';
import type { RequestContext } from '../../../../schema/principal.ts';
import type { GraphRecord } from '../../../../platform/graph/contract-types.ts';
import { requireUuid } from '../../../../platform/identifiers.ts';
import { assertPlace } from '../../../../services/events/sequenced-watch.ts';
import { recordEnvelope } from '../../../../services/trust/envelope.ts';
import { DataSourceStore } from './data-source-store.ts';
import { SourceChangeType } from './data-source-type.ts';
import { presentDataSource } from './present-data-source.ts';
import { lastSequence, watchSource, type SourceState, type SourceWatchServices } from './source-watch.ts';

type SourceChange = GraphRecord<typeof sourceChange>;

interface WatchArguments {
  readonly id: string;
  readonly after?: number | null;
}

const KINDS = { connected: 'RESULT', syncing: 'PROGRESS', error: 'ERROR' } as const;

/**
 * The class is made per subgraph, because type-graphql gives `subscribe` no resolver instance to find its services in.
 */
export function sourceChangeResolver(services: SourceWatchServices): ClassType {
  @Resolver(() => SourceChangeType)
  class SourceChangeResolver {
    @Subscription(() => SourceChangeType, {
      description: 'The state of a source, and every new one, until the source is deleted. Errors: RESOURCE_NOT_FOUND.',
      subscribe: ({ args, context }) => watch(services, context as RequestContext, args as WatchArguments),
    })
    dataSourceStatus(
      @Root() state: SourceState,
      @Ctx() context: RequestContext,
      @Arg('id', () => ID, { description: 'Public id of the source.' }) _id: string,
      @Arg('after', () => Int, {
        nullable: true,
        description:
          'Sequence of the last state that was seen: the present one comes only where it is another. ' +
          'Always when absent.',
      })
      _after?: number | null,
    ): SourceChange {
      return present(state, context);
    }
  }
  return SourceChangeResolver;
}

async function watch(
  services: SourceWatchServices,
  context: RequestContext,
  { id, after }: WatchArguments,
): Promise<AsyncIterable<SourceState>> {
  const principal = assertAction(context.principal, 'dataSource:read');
  assertPlace(after);
  const uuid = requireUuid('ds', id, 'data source');
  const source = await services.database.asTenant(principal, (em) => new DataSourceStore(em).require(uuid));
  // A place that no state has reached yet would hide the changes until one does.
  return watchSource(services, principal, uuid, Math.min(after ?? -1, lastSequence(source)));
}

function present({ sequence, source, at }: SourceState, context: RequestContext): SourceChange {
  const status = source.statusAt(at);
  const error = status === 'error' ? (source.error ?? null) : null;
  const trust = recordEnvelope(1, at, context.apiVersion);
  return {
    sequence,
    kind: KINDS[status],
    progress: status === 'syncing' ? null : 1,
    stage: status,
    message: error?.message ?? null,
    failureCode: error?.code ?? null,
    channelImpact: null,
    result: presentDataSource(source, at, trust),
    trust,
  };
}
