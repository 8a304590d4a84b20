import { readFileSync } from 'node:fs';
import { buildSchema, parse, type DocumentNode } from 'graphql';
import { platformFeeCents, type ShownFee } from './platform-fee.ts';
import { attributionSummary, RESULT_SECTIONS } from './contract/attribution-result.ts';
import { fragmentOf } from './contract/documents.ts';
import { trustEnvelope } from './contract/trust-envelope.ts';
import { RestShape, type Json } from './rest-shape.ts';

/**
 * Members that the signature of a result does not cover: itself, what is measured or moves beside the figures, what
 * billing makes of them later, and whatever `include=` adds. All others are covered, also ones that this release does
 * not know.
 */
const UNSIGNED_MEMBERS: ReadonlySet<string> = new Set([
  'signature',
  'trust',
  'progress',
  'platform_fee_cents',
  'billed',
  ...RESULT_SECTIONS,
]);

/** What the signature of a result in REST's form covers. */
export function signedMembers(result: Json): Json {
  return Object.fromEntries(Object.entries(result).filter(([name]) => !UNSIGNED_MEMBERS.has(name)));
}

/**
 * What signatures covered in releases that charged nobody: the fee besides, which followed from the recovered revenue
 * alone. Null where there can have been no such result.
 */
export function signedMembersWithFee(result: Json): Json | null {
  const { delta_r_cents: deltaRCents, environment } = result;
  if (typeof deltaRCents !== 'number' || !Number.isSafeInteger(deltaRCents) || deltaRCents < 0) return null;
  return {
    ...signedMembers(result),
    platform_fee_cents: Number(platformFeeCents(BigInt(deltaRCents))),
    ...(environment === 'sandbox' ? { billed: false } : {}),
  };
}

/**
 * The always-present members of an analysis as REST writes them. The same fragment and the same shape as the REST door
 * uses make them, so that a member can't be served in one form and signed in another.
 * @param attribution the analysis as the attribution subgraph shows it
 * @param fee which billing adds to it in the graph
 */
export function restAttribution(attribution: object, fee: ShownFee): Json {
  restForm ??= loadRestForm();
  const { platformFeeCents, billed } = fee;
  return membersThatApply(
    restForm.shape.shape(restForm.document, { attribution: { ...attribution, platformFeeCents, billed } })[
      'attribution'
    ] as Json,
  );
}

/**
 * A result in REST's form with the members that only some results have: `auto_refresh` where it was asked for, `billed`
 * where nothing is charged, `workspace_id` in a workspace, `data_source_ids` of several,
 * `data_quality` where it was measured, `profitability` where there is a margin, with which paid channels have profits;
 * of a channel, `identification` where a model says it, `spend_response` where one was seen; of the diagnostics,
 * `tests` where any were made, `stitching` where there are identities, `customers` where orders say which are new. All
 * others stay as they were signed before there were such members.
 */
export function membersThatApply({
  auto_refresh: autoRefresh,
  billed,
  workspace_id: workspace,
  data_source_ids: sources,
  ...result
}: Json): Json {
  const [channels, diagnostics] = [result['channel_impact'], result['diagnostics']];
  const absent = new Set(['data_quality', 'profitability'].filter((name) => result[name] == null));
  const hasMargin = !absent.has('profitability');
  return {
    // All in their places.
    ...Object.fromEntries(Object.entries(result).filter(([name]) => !absent.has(name))),
    ...(typeof diagnostics === 'object' && diagnostics !== null
      ? { diagnostics: diagnosticsThatApply(diagnostics as Json) }
      : {}),
    ...(Array.isArray(channels)
      ? { channel_impact: (channels as Json[]).map((each) => channelMembersThatApply(each, hasMargin)) }
      : {}),
    ...(autoRefresh === true ? { auto_refresh: true } : {}),
    ...(billed === false ? { billed } : {}),
    ...(typeof workspace === 'string' ? { workspace_id: workspace } : {}),
    ...(Array.isArray(sources) ? { data_source_ids: sources } : {}),
  };
}

/** A channel in REST's form with the members that only some have; `hasMargin` of the result that it is of. */
export function channelMembersThatApply(
  { identification, spend_response: spendResponse, ...channel }: Json,
  hasMargin: boolean,
): Json {
  const { profit: _profit, profit_interval: _interval, profit_roas: _roas, ...ofRevenue } = channel;
  return {
    ...(hasMargin && channel['is_baseline'] === false ? channel : ofRevenue),
    ...(identification == null ? {} : { identification }),
    ...(spendResponse == null ? {} : { spend_response: spendResponse }),
  };
}

function diagnosticsThatApply({ tests, stitching, customers, ...diagnostics }: Json): Json {
  return {
    ...diagnostics,
    ...(tests == null ? {} : { tests }),
    ...(stitching == null ? {} : { stitching }),
    ...(customers == null ? {} : { customers }),
  };
}

let restForm: { readonly shape: RestShape; readonly document: DocumentNode } | undefined;

/** The printed graph, and what every door's documents ask for. */
function loadRestForm(): NonNullable<typeof restForm> {
  const supergraph = readFileSync(new URL('supergraph.graphql', import.meta.url), 'utf8');
  // A supergraph carries the joins of federation, which a plain schema cannot check and need not know.
  const schema = buildSchema(supergraph, { assumeValidSDL: true });
  const fragments = [fragmentOf('AttributionSummary', attributionSummary), fragmentOf('Trust', trustEnvelope)];
  const document = parse(`query { attribution(id: "") { ...AttributionSummary } }\n${fragments.join('\n')}`);
  return { shape: new RestShape(schema), document };
}
