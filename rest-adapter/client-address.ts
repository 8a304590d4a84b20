import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { RequestOrigin } from '../platform/auth/principal.ts';

const MAX_USER_AGENT_LENGTH = 256;

/** Where a request came from, as the audit log tells it. */
export function originOf(request: IncomingMessage, trustedHops: number): RequestOrigin {
  const forwardedFor = request.headers['x-forwarded-for'];
  return {
    clientAddress: clientAddress(request.socket.remoteAddress, Array.isArray(forwardedFor) ? forwardedFor.join(', ') : forwardedFor, trustedHops),
    userAgent: request.headers['user-agent']?.slice(0, MAX_USER_AGENT_LENGTH) ?? null,
  };
}

/**
 * Address of the client: the entry of `X-Forwarded-For` that `trustedHops` proxies, counted from the right, vouch
 * for; the socket's peer where no proxy is trusted or the entry is no address. IPv4-mapped IPv6 becomes IPv4.
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
  address = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1] ?? address;
  return isIP(address) === 0 ? undefined : address;
}
