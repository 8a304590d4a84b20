import { defaultFieldResolver, type GraphQLField, type GraphQLSchema } from 'graphql';
import { z } from 'zod';
import type { RequestContext } from '../../schema/principal.ts';
import { RISK_LEVELS } from '../../schema/value-lists.ts';
import type { TrustEnvelope } from '../../schema/trust-envelope.ts';

/** What headers say of an answer's trust: the envelope of its root payload, whether or not that was asked for. */
export type RootTrust = Readonly<Pick<TrustEnvelope, 'hreiScore' | 'riskLevel'>>;

/** The same as it comes from another process; undefined where nothing has an envelope. */
export const rootTrust: z.ZodType<RootTrust | null | undefined> = z
  .object({ hreiScore: z.number(), riskLevel: z.enum(RISK_LEVELS) })
  .nullish();

/** By the context of an execution; null where an envelope has not been measured. */
const heard = new WeakMap<RequestContext, RootTrust | null>();

/** Has every root field tell of the trust of what it answers; {@link rootTrustOf} has the result. */
export function hearRootTrust(schema: GraphQLSchema): void {
  for (const type of [schema.getQueryType(), schema.getMutationType()]) {
    for (const field of Object.values(type?.getFields() ?? {})) hearField(field);
  }
}

/** The highest risk among the root payloads of an execution; undefined where none of them has an envelope. */
export function rootTrustOf(context: RequestContext): RootTrust | null | undefined {
  return heard.get(context);
}

/** The higher risk of two; what was measured counts more than what was not. */
export function higherRisk(
  one: RootTrust | null | undefined,
  other: RootTrust | null | undefined,
): RootTrust | null | undefined {
  if (one === null || one === undefined) return other ?? one;
  return other !== null && other !== undefined && other.hreiScore > one.hreiScore ? other : one;
}

function hearField(field: GraphQLField<unknown, RequestContext>): void {
  const resolve = field.resolve ?? defaultFieldResolver;
  const told = (value: unknown, context: RequestContext): unknown => {
    const trust = envelopeIn(value);
    if (trust !== undefined) heard.set(context, higherRisk(heard.get(context), trust) ?? null);
    return value;
  };
  field.resolve = (source, args, context, info) => {
    const value: unknown = resolve(source, args, context, info);
    return value instanceof Promise ? value.then((payload) => told(payload, context)) : told(value, context);
  };
}

function envelopeIn(payload: unknown): RootTrust | null | undefined {
  if (typeof payload !== 'object' || payload === null || !('trust' in payload)) return undefined;
  const { trust } = payload as { readonly trust: TrustEnvelope | null | undefined };
  return trust == null ? null : { hreiScore: trust.hreiScore, riskLevel: trust.riskLevel };
}
