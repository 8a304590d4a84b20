/** Longest redirect URI, and most of them, that an agent may register. */
export const MAX_REDIRECT_URI_LENGTH = 2048;
/** Of one client. */
export const MAX_REDIRECT_URIS = 10;

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
