import { isIP } from 'node:net';

/**
 * Whether a text names an IPv4 or IPv6 address, or a range of them in CIDR notation (RFC 4632, RFC 4291 §2.3).
 * IPv4 addresses written as IPv6 (`::ffff:…`) are none here: callers over IPv4 are compared as IPv4.
 */
export function isAddressRange(text: string): boolean {
  const [address, bits, ...rest] = text.split('/') as [string, ...string[]];
  const version = isIP(address);
  if (version === 0 || rest.length > 0 || address.includes('%') || isMappedIpv4(address, version)) return false;
  return bits === undefined || (/^(?:0|[1-9]\d{0,2})$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

/** A URL writes every form of an IPv6 address in the one canonical form. */
function isMappedIpv4(address: string, version: number): boolean {
  return version === 6 && new URL(`http://[${address}]`).hostname.startsWith('[::ffff:');
}
