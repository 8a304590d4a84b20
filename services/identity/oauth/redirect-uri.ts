/** Longest redirect URI, and most of them, that an agent may register. */
export const MAX_REDIRECT_URI_LENGTH = 2048;
/** Of one client. */
export const MAX_REDIRECT_URIS = 10;

const LOOPBACK = /^(http:\/\/(?:127\.0\.0\.1|localhost))(?::\d{1,5})?(?=[/?])/;

/**
 * What is wrong with a redirect URI that an agent wants to register; null for a good one: https, or http on 127.0.0.1
 * or localhost, absolute, without fragment (RFC 6749 §3.1.2) and user. Since requests are compared with it character by
 * character, it has to be written the way that browsers write it.
 */
export function redirectUriFault(uri: string): string | null {
  const url = URL.parse(uri);
  if (url === null) return 'must be an absolute address, such as https://app.example/callback';
  const isLoopback = url.protocol === 'http:' && (url.hostname === '127.0.0.1' || url.hostname === 'localhost');
  if (url.protocol !== 'https:' && !isLoopback) return 'must be an https address, or http on 127.0.0.1 or localhost';
  if (uri.includes('#')) return 'must not have a fragment';
  if (url.username !== '' || url.password !== '') return 'must not name a user';
  if (url.href !== uri) return `must be written ${url.href}`;
  return null;
}

/**
 * Whether a request may be answered at `uri`: it is registered, byte for byte (RFC 9700 §2.1). On this machine's own
 * addresses the port is left open, since native applications take whichever is free (RFC 8252 §7.3).
 */
export function isRegisteredRedirectUri(registered: readonly string[], uri: string): boolean {
  if (registered.includes(uri)) return true;
  return LOOPBACK.test(uri) && URL.canParse(uri) && registered.some((candidate) => LOOPBACK.test(candidate) && withoutPort(candidate) === withoutPort(uri));
}

function withoutPort(loopbackUri: string): string {
  return loopbackUri.replace(LOOPBACK, '$1');
}

/** A redirect URI with response parameters added to whatever query it has (RFC 6749 §4.1.2); undefined ones are left out. */
export function redirectWith(uri: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const added = new URLSearchParams(Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined));
  return `${uri}${uri.includes('?') ? '&' : '?'}${added}`;
}
