const LOOPBACK = /^(http:\/\/(?:127\.0\.0\.1|localhost))(?::\d{1,5})?(?=[/?])/;

/**
 * Whether a request may be answered at `uri`: it is registered, byte for byte (RFC 9700 §2.1). On this machine's own
 * addresses the port is left open, since native applications take whichever is free (RFC 8252 §7.3).
 */
export function isRegisteredRedirectUri(registered: readonly string[], uri: string): boolean {
  if (registered.includes(uri)) return true;
  return (
    LOOPBACK.test(uri) &&
    URL.canParse(uri) &&
    registered.some((candidate) => LOOPBACK.test(candidate) && withoutPort(candidate) === withoutPort(uri))
  );
}

function withoutPort(loopbackUri: string): string {
  return loopbackUri.replace(LOOPBACK, '$1');
}

/**
 * A redirect URI with response parameters added to whatever query it has (RFC 6749 §4.1.2); undefined ones are left
 * out.
 */
export function redirectWith(uri: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const added = new URLSearchParams(
    Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  return `${uri}${uri.includes('?') ? '&' : '?'}${added}`;
}
