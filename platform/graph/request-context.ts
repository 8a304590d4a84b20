import type { RequestContext } from '../../schema/principal.ts';

/**
 * One value per request: `create` runs on first use, and the value goes when the request's context does.
 * Made for DataLoaders: representations of one request arrive undeduplicated and should be read at once.
 */
export function perRequest<Value>(create: (context: RequestContext) => Value): (context: RequestContext) => Value {
  const values = new WeakMap<RequestContext, { readonly value: Value }>();
  return (context) => {
    const known = values.get(context);
    if (known !== undefined) return known.value;
    const value = create(context);
    values.set(context, { value });
    return value;
  };
}

/** A context that shares nothing made by {@link perRequest} with the one it comes from: one per event of a stream. */
export function freshContext(context: RequestContext): RequestContext {
  return { ...context };
}
