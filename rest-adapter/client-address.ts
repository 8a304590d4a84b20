import type { IncomingMessage } from 'node:http';
import { isIP, isIPv6 } from 'node:net';
import type { RequestOrigin } from '../schema/principal.ts';

const MAX_USER_AGENT_LENGTH = 256;

/** Where a request came from, as the audit log tells it. */
export function originOf(request: IncomingMessage, trustedHops: number): RequestOrigin {
  const forwardedFor = request.headers['x-forwarded-for'];
  return {
    clientAddress: clientAddress(
      request.socket.remoteAddress,
      Array.isArray(forwardedFor) ? forwardedFor.join(', ') : forwardedFor,
      trustedHops,
    ),
    userAgent: request.headers['user-agent']?.slice(0, MAX_USER_AGENT_LENGTH) ?? null,
  };
}

/**
 * Address of the client: the entry of `X-Forwarded-For` that `trustedHops` proxies, counted from the right, vouch
 * for; the socket's peer where no proxy is trusted or the entry is not an address. IPv4-mapped IPv6 becomes IPv4, other
 * IPv6 its canonical form (RFC 5952), without a zone: that is a name of our own network interface.
 */
export function clientAddress(peer: string | undefined, forwardedFor: string | undefined, trustedHops: number): string {
  const socket = normalised(peer ?? '') ?? 'unknown';
  if (trustedHops === 0 || forwardedFor === undefined) return socket;
  const chain = [...forwardedFor.split(','), socket];
  return normalised(chain[Math.max(0, chain.length - 1 - trustedHops)]!) ?? socket;
}

function normalised(text: string): string | undefined {
  let address = text.trim().toLowerCase();
  // Some proxies add the port: 192.0.2.1:4711, [2001:db8::1]:4711.
  address = /^\[([^\]]+)\](?::\d+)?$/.exec(address)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(address)?.[1] ?? address;
  address = address.split('%', 1)[0]!;
  if (isIPv6(address)) return mappedIpv4(address) ?? canonicalIpv6(address);
  return isIP(address) === 0 ? undefined : address;
}

/** As sockets write it; other notations are read once they are canonical. */
function mappedIpv4(address: string): string | undefined {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1];
}

/** A URL writes every form of an IPv6 address in the canonical one, and an embedded IPv4 address as two groups. */
function canonicalIpv6(address: string): string {
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const embedded = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(canonical);
  return embedded === null
    ? canonical
    : [embedded[1]!, embedded[2]!]
        .flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255])
        .join('.');
}
