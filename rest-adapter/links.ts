import { MAX_REACH } from '../schema/page-reach.ts';

/** `https://api.example/v1` → `https://api.example`: where `/docs`, `/openapi.json` and `/.well-known` are. */
export function rootUrl(publicBaseUrl: string): string {
  return publicBaseUrl.replace(/\/v1$/, '');
}

interface Meta {
  readonly page: number;
  readonly per_page: number;
  readonly total: number;
  readonly total_pages: number;
}

/** The pagination block of a list body, undefined where the body is not a list. */
export function metaOf(body: Readonly<Record<string, unknown>>): Meta | undefined {
  const meta = body['meta'];
  return typeof meta === 'object' && meta !== null && 'total_pages' in meta ? (meta as Meta) : undefined;
}

/**
 * `Link` header of a page (RFC 8288): first, prev, next and the last that can be reached, with all other query
 * parameters kept.
 */
export function pageLinks(url: string, query: URLSearchParams, meta: Meta): string {
  const last = Math.max(1, Math.min(meta.total_pages, Math.floor(MAX_REACH / meta.per_page)));
  const pages: [string, number][] = [['first', 1]];
  if (meta.page > 1) pages.push(['prev', Math.min(meta.page - 1, last)]);
  if (meta.page < last) pages.push(['next', meta.page + 1]);
  pages.push(['last', last]);
  return pages.map(([relation, page]) => `<${url}?${withPage(query, page)}>; rel="${relation}"`).join(', ');
}

function withPage(query: URLSearchParams, page: number): string {
  const changed = new URLSearchParams(query);
  changed.set('page', String(page));
  return changed.toString();
}
