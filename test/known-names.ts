import type { CallerOptions } from '../platform/outgoing/caller.ts';

/** Of a public host, for houses that call none but such; nobody calls it in tests. */
const PUBLIC_ADDRESS = '93.184.215.14';
/**
 * Addresses that names in tests lead to, apart from those of customers, `….example`; no other name is known, and none
 * is asked of the network.
 */
const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  localhost: ['127.0.0.1'],
  'inside.example': ['10.0.0.7'],
  'mixed.example': [PUBLIC_ADDRESS, '::1'],
};

/** Looks names up as a house does. */
export function lookupFor(allowPrivate: boolean): NonNullable<CallerOptions['lookup']> {
  return (hostname, _options, callback) => {
    const addresses =
      ADDRESSES[hostname] ?? (hostname.endsWith('.example') ? [allowPrivate ? '127.0.0.1' : PUBLIC_ADDRESS] : []);
    if (addresses.length > 0)
      callback(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      );
    else callback(Object.assign(new Error(`${hostname} is not known`), { code: 'ENOTFOUND' }), []);
  };
}
