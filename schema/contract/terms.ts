import { z } from 'zod';
import { ENVIRONMENTS } from '../value-lists.ts';
import type { IdPrefix } from '../id-prefixes.ts';
import { dateRange, separateDays } from './date-range.ts';
import { momentInRest } from './moment-in-rest.ts';

declare module 'zod' {
  /** What zod does not say of a member; no word of it reaches a document. */
  interface GlobalMeta {
    /** What the graph says of it, where that is not what `description` says with a full stop. */
    graph?: string;
    /** GraphQL's scalar, where the type does not say it. */
    scalar?: 'ID' | 'String' | 'Float' | 'Cents' | 'JSON' | 'URL';
    /** Kind of the id that stands here. */
    prefix?: IdPrefix;
    /** What REST calls the member, where that is not its name in snake_case. */
    rest?: string;
    /** The member behind which REST shows it, where that is not the one before it. */
    restAfter?: string;
    /** The graph has no such member. */
    onlyInRest?: true;
    /** The member that REST shows a second time under this name. */
    repeats?: string;
    /** REST shows the entries of this list as a map. */
    mapInRest?: true;
    /** Decimals that REST shows; money has two, and whatever says nothing has four. */
    digits?: number;
  }
}

/** The members of `GlobalMeta` that are ours. */
export const OWN_META = [
  'graph',
  'scalar',
  'prefix',
  'rest',
  'restAfter',
  'onlyInRest',
  'repeats',
  'mapInRest',
  'digits',
] as const;

/**
 * Names and descriptions of GraphQL's types, where the id of the schema is not one: enums, and records that OpenAPI
 * calls otherwise.
 */
export const graphTypes = z.registry<{
  readonly name: string;
  readonly description?: string;
  /** Several subgraphs have the type. */
  readonly isShareable?: true;
}>();

/*
 * The terms that shapes are made of. Members are called as in the graph and in the code, `dataSourceId`; REST says
 * `data_source_id`. What zod calls the output of a schema is the graph's value, its input is REST's: a `Date` here is a
 * text there.
 */

interface RestForm {
  readonly form: z.ZodType;
  /** Writes what the graph was sent as REST is sent it, unchecked as it is; where nothing is said it stays itself. */
  readonly write?: ((value: unknown) => unknown) | undefined;
}
const restForms = new WeakMap<z.ZodType, RestForm>();

/**
 * A member that REST takes in another form, and checks at its door; in the graph the verb says what is wrong with it.
 */
export function inRest<Schema extends z.ZodType>(
  form: z.ZodType,
  schema: Schema,
  write?: (value: unknown) => unknown,
): Schema {
  restForms.set(schema, { form, write });
  return schema;
}

/** What is said of a member, from the outside in. */
export function saidOf(schema: z.ZodType): z.GlobalMeta {
  const inner =
    schema instanceof z.ZodOptional || schema instanceof z.ZodNullable ? saidOf(schema.def.innerType as z.ZodType) : {};
  return { ...inner, ...schema.meta() };
}

/** The schema that one was made from by adding documentation or checks. */
export function origin(schema: z.ZodType): z.ZodType {
  const { parent } = schema._zod;
  return parent === undefined ? schema : origin(parent as z.ZodType);
}

/** GraphQL's name of a record. */
export function graphNameOf(record: z.ZodObject): string {
  const name = graphTypes.get(record)?.name ?? record.meta()?.id;
  if (name === undefined) throw new Error('a record of the contract has no name');
  return name;
}

/** The form in REST of a member that it takes in another, also under the documentation that was added to it. */
export function ownRestForm(schema: z.ZodType): RestForm | undefined {
  const { parent } = schema._zod;
  return restForms.get(schema) ?? (parent === undefined ? undefined : ownRestForm(parent as z.ZodType));
}

/** Where the trust envelope stands in a body, if that is not its end. */
export const trustHere = z.unknown().meta({ onlyInRest: true });
export const id = (prefix: IdPrefix) => z.string().meta({ scalar: 'ID', prefix });
/** An id in a path, of whatever form. */
export const idInPath = (said: { readonly description: string; readonly graph: string; readonly rest?: string }) =>
  z.string().meta({ scalar: 'ID', ...said });
/** An id that a caller names; in the graph, what cannot be one names nothing. */
export const namedId = (prefix: IdPrefix) => inRest(z.string().min(1).max(128), id(prefix));
export const money = z.number().meta({ digits: 2 });
/** Minor units, exact beyond 32 bits. */
export const cents = z.int().meta({ scalar: 'Cents' });
/** Figures by the name of a channel, whose names stay as they are. */
export const byChannel = z.record(z.string(), z.number().nullable());
export const moment = z.codec(z.iso.datetime(), z.date(), {
  decode: (text) => new Date(text),
  encode: (date) => date.toISOString(),
});
/** A moment that a caller names. */
export const namedMoment = inRest(momentInRest, z.date());
/** A UTC day that a caller names: `z.iso.date` alone takes the year 0, which PostgreSQL does not have. */
export const namedDay = z.iso.date().refine((day) => day >= '0001', 'must lie in the years 1 to 9999');
/** First and last day, both included, UTC. */
export const days = z.tuple([z.iso.date(), z.iso.date()]);
/**
 * A range that a caller names. A list of one holds both days: what is no list stands for such a list to the graph,
 * whose scalar of days writes `start,end` there.
 */
export const namedDays = inRest(
  dateRange,
  z.array(z.string().meta({ format: 'date' })).overwrite(separateDays),
  separateDays,
);
/** An absolute address. */
export const address = z.url().meta({ scalar: 'URL' });
/** An address of the caller's that is to be called; whoever looks its host up judges it. */
export const namedAddress = inRest(
  z.url({ protocol: /^https?$/, error: 'must be an https address' }).max(2_048, 'must have at most 2,048 characters'),
  z.string().min(1).max(2_048).meta({ scalar: 'URL' }),
);
/** Which currency a caller means; another than that of the source is refused by the verb. */
export const namedCurrency = inRest(z.string().length(3).toUpperCase(), z.string().toUpperCase());
export const environment = z.enum(ENVIRONMENTS).register(graphTypes, {
  name: 'Environment',
  description: 'LIVE rests on data of the shop, SANDBOX on synthetic data.',
});
export const channelName = z.string().min(1).max(512);
