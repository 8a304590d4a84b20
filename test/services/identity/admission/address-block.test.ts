import { assert, property, tuple, nat, constantFrom } from 'fast-check';
import { addressBlock } from '../../../../services/identity/admission/address-block.ts';

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['unknown', 'unknown'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8::6', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['64:ff9b::192.0.2.33', '64:ff9b:0:0::/64'],
])('%s is counted as %s', (address, block) => {
  expect(addressBlock(address)).toBe(block);
});

test('addresses of one /64 are one, however they are written', () => {
  const group = nat(0xffff);
  const hex = (value: number, width: number) => value.toString(16).padStart(width, '0');
  assert(
    property(
      tuple(group, group, group, group),
      tuple(group, group, group, group),
      tuple(group, group, group, group),
      constantFrom(1, 4),
      (network, one, other, width) => {
        const written = (host: readonly number[], digits: number) =>
          [...network, ...host].map((value) => hex(value, digits)).join(':');
        return addressBlock(written(one, 1)) === addressBlock(written(other, width));
      },
    ),
  );
});
