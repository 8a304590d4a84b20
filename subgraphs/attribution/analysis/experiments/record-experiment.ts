import { z } from 'zod';
import { ProblemError } from '../../../../schema/problems.ts';
import { newExperiment } from '../../../../schema/contract/experiments.ts';
import type { Principal } from '../../../../schema/principal.ts';
import { parseGraphInput } from '../../../../platform/graph/parse-input.ts';
import type { Settle } from '../../../../services/idempotency/exactly-once.ts';
import { newUuid, publicId, requireUuid, uuid, type Uuid } from '../../../../platform/identifiers.ts';
import { namedSource } from '../../intake/channel-rules/channel-rule-store.ts';
import type { SourceKey } from '../../intake/touchpoints/source-key.ts';
import { namesOf } from '../../intake/data-sources/channel-names.ts';
import type { DataSource } from '../../intake/data-sources/data-source.ts';
import { DataSourceStore } from '../../intake/data-sources/data-source-store.ts';
import { parseDateRange } from '../../intake/data-sources/date-range.ts';
import { requireSource, type SourceServices } from '../../intake/data-sources/require-source.ts';
import { groupName } from './channel-group.ts';
import { Experiment } from './experiment.ts';
import { ExperimentStore } from './experiment-store.ts';

export interface ExperimentServices extends SourceServices {
  /** The channels that a source has rows of. */
  readonly channelsOf: (source: SourceKey) => Promise<readonly string[]>;
  readonly clock: () => Date;
}

/** Currency of a source whose rows name none. */
const DEFAULT_CURRENCY = 'USD';
/** Of one source: each is read, weighed and told by every analysis. A test of 20 channels each month for two years. */
const MOST_EXPERIMENTS = 500;
/** The experiment that was recorded. */
export const experimentEffect = z.object({ experimentId: uuid });

/**
 * Records the result of an experiment. Later `causal` analyses of ranges that share days with its period are calibrated
 * by it.
 * @throws ProblemError `validation_error` (`unknown_channel` lists the channels of the source, `wrong_currency`,
 *   `too_many_experiments`, and the codes of a bad period), `resource_not_found` (source), `conflict` /
 *   `already_recorded` for a second result of the same channels, method and period: it would count twice.
 */
export async function recordExperiment(
  services: ExperimentServices,
  principal: Principal,
  rawInput: unknown,
  settle: Settle<z.output<typeof experimentEffect>>,
): Promise<Experiment> {
  const input = parseGraphInput(newExperiment, rawInput);
  const now = services.clock();
  const period = parseDateRange(input.period, now, principal.environment, 'period');
  const accountId = principal.accountId as Uuid;
  const dataSourceId = requireUuid('ds', input.dataSourceId, 'data source', '/data_source_id');
  const source = await requireSource(services, principal, dataSourceId, '/data_source_id');
  const currency = currencyOf(source, input.currency ?? null);
  const channels = (input.channels ?? [input.channel!]).toSorted();
  refuseUnknownChannels(input, await services.channelsOf(await namedSource(services.database, principal, source)));

  return services.database.asTenant(principal, async (em) => {
    // The lock keeps two equal requests from both finding nothing.
    await new DataSourceStore(em).lock(dataSourceId);
    const key = {
      dataSourceId,
      environment: principal.environment,
      channel: groupName(channels),
      method: input.method,
      periodStart: period.start,
      periodEnd: period.end,
    };
    const store = new ExperimentStore(em);
    const same = await store.findSame(key);
    if (same !== null) {
      throw new ProblemError(
        'conflict',
        `${publicId('exp', same.id)} is the ${same.method} result of ${same.channel} for this period already, and ` +
          `would count twice. Delete it first to replace it.`,
        { code: 'already_recorded' },
      );
    }
    if ((await store.count({ dataSourceId })) >= MOST_EXPERIMENTS) {
      throw new ProblemError(
        'validation_error',
        `This source has ${MOST_EXPERIMENTS} experiments already, as many as it may. Delete old ones first.`,
        { code: 'too_many_experiments' },
      );
    }
    const experiment = em.create(Experiment, {
      id: newUuid(now.getTime()),
      accountId,
      ...key,
      channels: channels.length === 1 ? null : channels,
      incrementalRevenue: input.incrementalRevenue,
      standardError: input.standardError,
      currency,
      notes: input.notes ?? null,
      createdAt: now,
    });
    await em.flush();
    await settle(em, { experimentId: experiment.id as Uuid });
    return experiment;
  });
}

function refuseUnknownChannels(
  { channel, channels = [] }: Pick<z.output<typeof newExperiment>, 'channel' | 'channels'>,
  known: readonly string[],
): void {
  const named = [
    ...(channel === undefined ? [] : [{ name: channel, place: 'channel', param: '/channel' }]),
    ...channels.map((name, index) => ({ name, place: `channels.${index}`, param: `/channels/${index}` })),
  ];
  const errors = named
    .filter(({ name }) => !known.includes(name))
    .map(({ name, place, param }) => ({
      place,
      param,
      code: 'unknown_channel',
      message: `the source has no channel ${JSON.stringify(name)}; it has ${namesOf(known)}.`,
    }));
  const [first] = errors;
  if (first === undefined) return;
  throw new ProblemError('validation_error', `${first.place}: ${first.message}`, {
    code: first.code,
    param: first.param,
    errors: errors.map(({ param, code, message }) => ({ param, code, message })),
  });
}

/** A source has one currency, and an effect in another could not be held against its revenue. */
function currencyOf(source: DataSource, given: string | null): string {
  const currency = source.currency ?? DEFAULT_CURRENCY;
  if (given === null || given === currency) return currency;
  const message = `the amounts of this source are in ${currency}`;
  throw new ProblemError('validation_error', `currency: ${message}`, {
    code: 'wrong_currency',
    param: '/currency',
    errors: [{ param: '/currency', code: 'wrong_currency', message }],
  });
}
