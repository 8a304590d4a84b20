import { Arg, Ctx, ID, Resolver } from 'type-graphql';
import { channelRules, type ChannelRule } from '../../../../schema/contract/channel-rules.ts';
import { assertAction } from '../../../../schema/actions.ts';
import type { RequestContext } from '../../../../schema/principal.ts';
import { nounTypes, type Answered } from '../../../../platform/graph/noun-types.ts';
import { requireUuid, type Uuid } from '../../../../platform/identifiers.ts';
import { exactlyOnce } from '../../../../services/idempotency/exactly-once.ts';
import { recordEnvelope } from '../../../../services/trust/envelope.ts';
import { requireSource } from '../data-sources/require-source.ts';
import { channelRulesOf } from './channel-rule-store.ts';
import { rulesEffect, rulesIn, setChannelRules, type ChannelRuleServices } from './set-channel-rules.ts';

const { Record, Query, Mutation, inputOf } = nounTypes(channelRules);
type Answer<Id extends keyof typeof channelRules.operations> = Promise<Answered<typeof channelRules, Id>>;

@Resolver(() => Record)
export class ChannelRuleResolver {
  readonly #services: ChannelRuleServices & { readonly clock: () => Date };

  constructor(services: ChannelRuleServices & { readonly clock: () => Date }) {
    this.#services = services;
  }

  @Query('getChannelRules')
  async channelRules(
    @Ctx() context: RequestContext,
    @Arg('dataSourceId', () => ID, { description: 'Public id of the source.' }) dataSourceId: string,
  ): Answer<'getChannelRules'> {
    const principal = assertAction(context.principal, 'dataSource:read');
    const source = await requireSource(this.#services, principal, sourceId(dataSourceId));
    return this.#present(
      await this.#services.database.asTenant(principal, (em) => channelRulesOf(em, source.id as Uuid)),
      context,
    );
  }

  @Mutation('setChannelRules')
  async setChannelRules(
    @Ctx() context: RequestContext,
    @Arg('input', inputOf('setChannelRules')) { dataSourceId, ...input }: { dataSourceId: string },
  ): Answer<'setChannelRules'> {
    const principal = assertAction(context.principal, 'dataSource:write');
    const id = sourceId(dataSourceId);
    const rules = await exactlyOnce(this.#services.database, context, {
      effect: rulesEffect,
      act: (settle) => setChannelRules(this.#services, principal, id, input, settle),
      recall: () => Promise.resolve(rulesIn(input)),
    });
    const shown = this.#present(rules, context);
    return { channelRules: shown, trust: shown.trust };
  }

  #present(rules: readonly ChannelRule[], context: RequestContext) {
    return { rules: [...rules], trust: recordEnvelope(rules.length, this.#services.clock(), context.apiVersion) };
  }
}

const sourceId = (id: string): Uuid => requireUuid('ds', id, 'data source');
