import { z } from 'zod';
import type { Json, Operation } from '../operation.ts';
import { meta, pageParameters } from '../representations/list.ts';
import { trustEnvelope } from '../representations/trust-envelope.ts';
import type { Components } from './components.ts';

const envelope = z.object({ meta, trust: trustEnvelope }).meta({
  id: 'ListEnvelope',
  description:
    'What every page of a list carries beside its entries: where it stands, and one trust envelope for all of them. ' +
    'A page behind the last one has none. The header Link leads to the other pages.',
});

/** Whether the answer is a page of a list. */
export function isPage({ success }: Operation): boolean {
  return success.schema?.shape['meta'] === meta;
}

/** The body of a page: what all pages have, and the members of its own. */
export function pageSchema(schema: z.ZodObject, components: Components): Json {
  const { meta: _meta, trust: _trust, ...own } = schema.shape;
  return { allOf: [components.schemaOf(envelope), components.schemaOf(z.object(own))] };
}

/** The parameters that lists share, by their names in the components. */
export const PAGE_PARAMETERS = { Page: 'page', PerPage: 'per_page' } as const satisfies Record<
  string,
  keyof typeof pageParameters
>;

/** A reference to the parameter that lists share, where this is it, and not one of its operation's own. */
export function sharedParameter(name: string, schema: unknown): Json | undefined {
  const shared = Object.entries(PAGE_PARAMETERS).find(([, each]) => each === name && pageParameters[each] === schema);
  return shared && { $ref: `#/components/parameters/${shared[0]}` };
}
