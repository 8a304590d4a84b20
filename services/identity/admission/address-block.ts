import { isIPv6 } from 'node:net';

/**
 * What strangers are counted by: an IPv4 address, or the /64 of an IPv6 address, which is what one customer of a
 * network is given (RFC 6177): whoever has one has 2⁶⁴ addresses.
 */
export function addressBlock(address: string): string {
  if (!isIPv6(address)) return address;
  const [head, tail] = address.split('%', 1)[0]!.split('::');
  const before = groups(head!);
  const after = tail === undefined ? [] : groups(tail);
  const whole = [...before, ...Array.from({ length: 8 - before.length - after.length }, () => '0'), ...after];
  return `${whole
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}

/** Of one side of `::`; an embedded IPv4 address stands for two groups, neither of which is among the first four. */
function groups(text: string): string[] {
  return text === '' ? [] : text.split(':').flatMap((group) => (group.includes('.') ? ['0', '0'] : [group]));
}
