import ipaddr from 'ipaddr.js';

/** Longest address that may be called (contract, webhooks). */
const MAX_URL_LENGTH = 2048;
/**
 * Global unicast (RFC 4291 §2.4). Everything outside is local, reserved, or an IPv4 address in disguise, `::127.0.0.1`
 * included.
 */
const GLOBAL_IPV6: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/** Why an address is not called; the message tells its owner. */
export class RefusedAddressError extends Error {
  override readonly name = 'RefusedAddressError';
  readonly code = 'blocked_address';
}

export interface AddressRules {
  /** Lets plain http and private addresses through: for tests and developers' machines. */
  readonly allowPrivate: boolean;
}

/**
 * The address as it will be called.
 * @throws RefusedAddressError for anything but https to a host that may be public: other schemes, credentials,
 * fragments,
 *   and literal addresses that are private, which a lookup would never see
 */
export function callableUrl(text: string, { allowPrivate }: AddressRules): URL {
  if (text.length > MAX_URL_LENGTH) throw new RefusedAddressError(`must be at most ${MAX_URL_LENGTH} characters`);
  if (!URL.canParse(text)) throw new RefusedAddressError('must be an https address');
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(allowPrivate && url.protocol === 'http:'))
    throw new RefusedAddressError('must be an https address');
  if (url.username !== '' || url.password !== '') throw new RefusedAddressError('must not carry credentials');
  if (url.hash !== '') throw new RefusedAddressError('must not have a fragment');
  // The URL parser has made dotted decimals of every notation of IPv4 by now (WHATWG URL, IPv4 parser).
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (!allowPrivate && ipaddr.isValid(host) && !isPublicAddress(host))
    throw new RefusedAddressError(`${host} is not a public address`);
  return url;
}

/**
 * Whether an IP address is one of the public Internet: unicast by the IANA special-purpose registries, IPv4-mapped ones
 * judged by the IPv4 address, tunnelled ones (6to4, Teredo, NAT64) refused.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || (address as ipaddr.IPv6).match(GLOBAL_IPV6);
}
