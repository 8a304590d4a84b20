import type { Context } from 'koa';

/**
 * As `Context.set` of Koa, which copies and normalises each header, and costs more than all that an answer to a shared
 * read needs besides.
 */
export function setHeaders({ res }: Pick<Context, 'res'>, headers: Readonly<Record<string, string>>): void {
  for (const name in headers) res.setHeader(name, headers[name]!);
}
