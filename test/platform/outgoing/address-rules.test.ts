import fc from 'fast-check';
import { callableUrl, isPublicAddress, RefusedAddressError } from '../../../platform/outgoing/address-rules.ts';

const STRICT = { allowPrivate: false };

/** One address of each block that the IANA special-purpose registries (RFC 6890) keep from the public Internet. */
const PRIVATE = [
  '0.0.0.0',
  '0.1.2.3',
  '10.1.2.3',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.255.254',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.1',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:10.0.0.1',
  '::ffff:0:127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2001:10::1',
  '2001:20::1',
  '2002:7f00:1::',
  '2002:a00:1::',
  '3fff::1',
  '5f00::1',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fec0::1',
  'ff02::1',
];
const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '93.184.216.34',
  '100.63.255.255',
  '172.32.0.1',
  '::ffff:8.8.8.8',
  '2606:4700:4700::1111',
  '2a00:1450:4001::1',
];

describe('addresses', () => {
  test.each(PRIVATE)('%s is not public', (address) => expect(isPublicAddress(address)).toBe(false));
  test.each(PUBLIC)('%s is public', (address) => expect(isPublicAddress(address)).toBe(true));
  test('what is no address is not public', () => expect(isPublicAddress('example.com')).toBe(false));
});

describe('what may be called', () => {
  test.each([
    'https://example.com/hook',
    'https://example.com:8443/hook?x=1',
    'https://[2606:4700:4700::1111]/',
    'https://8.8.8.8/',
  ])('%s', (url) => {
    expect(callableUrl(url, STRICT).href).toBe(url);
  });

  test.each([
    ['http://example.com/', /https/],
    ['ftp://example.com/', /https/],
    ['file:///etc/passwd', /https/],
    ['example.com', /https/],
    ['', /https/],
    ['https://user@example.com/', /credentials/],
    ['https://user:secret@example.com/', /credentials/],
    ['https://example.com/#part', /fragment/],
    [`https://example.com/${'a'.repeat(2048)}`, /2048/],
    ['https://127.0.0.1./', /public/],
    ['https://0/', /public/],
    ['https://127.1/', /public/],
    ['https://１２７.0.0.1/', /public/],
  ])('not %s', (url, reason) => {
    expect(() => callableUrl(url, STRICT)).toThrow(RefusedAddressError);
    expect(() => callableUrl(url, STRICT)).toThrow(reason);
  });

  test.each(PRIVATE)('not https on the literal %s', (address) => {
    expect(() => callableUrl(`https://${address.includes(':') ? `[${address}]` : address}/`, STRICT)).toThrow(
      RefusedAddressError,
    );
  });

  /** The notations of an IPv4 address that browsers and resolvers take. */
  const notations = (octets: readonly [number, number, number, number]): string[] => {
    const [a, b, c, d] = octets;
    const number = ((a * 256 + b) * 256 + c) * 256 + d;
    return [
      `${number}`,
      `0x${number.toString(16)}`,
      `0${number.toString(8)}`,
      `${a}.${(b * 256 + c) * 256 + d}`,
      `${a}.${b}.${c * 256 + d}`,
      octets.map((octet) => `0x${octet.toString(16)}`).join('.'),
      octets.map((octet) => `0${octet.toString(8)}`).join('.'),
      `[::ffff:${octets.join('.')}]`,
      `[::${octets.join('.')}]`,
    ];
  };

  test('not a private address in any notation', () => {
    const octet = fc.integer({ min: 0, max: 255 });
    const addresses = fc.oneof(
      fc.tuple(fc.constant(127), octet, octet, octet),
      fc.tuple(fc.constant(10), octet, octet, octet),
      fc.tuple(fc.constant(192), fc.constant(168), octet, octet),
      fc.tuple(fc.constant(169), fc.constant(254), octet, octet),
    );
    fc.assert(
      fc.property(addresses, (octets) => {
        for (const host of notations(octets))
          expect(() => callableUrl(`https://${host}/`, STRICT)).toThrow(RefusedAddressError);
      }),
    );
  });

  test('private ones and plain http, where that is allowed', () => {
    expect(callableUrl('http://127.0.0.1:9000/hook', { allowPrivate: true }).port).toBe('9000');
    expect(() => callableUrl('http://user@127.0.0.1/', { allowPrivate: true })).toThrow(/credentials/);
  });
});
