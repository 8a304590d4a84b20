import type { Context } from 'koa';

export interface MediaType {
  /** `type/subtype` in lower case; empty where there is none. */
  readonly essence: string;
  /** Lower case; empty where there is none. */
  readonly charset: string;
}

/** Reads a Content-Type as far as bodies need it (RFC 9110 §8.3). */
export function parseMediaType(header: string): MediaType {
  const [essence, ...parameters] = header.split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters
    .find((parameter) => parameter.startsWith('charset='))
    ?.slice('charset='.length)
    .replace(/^"(.*)"$/, '$1');
  return { essence: essence ?? '', charset: charset ?? '' };
}

/** Whether a body can be read as UTF-8: it says so, or says nothing. */
export function isUtf8({ charset }: MediaType): boolean {
  return charset === '' || charset === 'utf-8' || charset === 'utf8';
}

/**
 * The one of `offered` that the client likes best, undefined where it accepts none; all of them are sent in UTF-8,
 * which the client may ask for.
 */
export function preferredType(http: Context, ...offered: readonly string[]): string | undefined {
  // Whoever says nothing takes anything (RFC 9110 §12.5.1).
  if (http.req.headers.accept === undefined) return offered[0];
  const preferred = http.accepts(...offered.map((type) => `${type}; charset=utf-8`));
  return typeof preferred === 'string' ? parseMediaType(preferred).essence : undefined;
}
