import { referrerHost } from '../../../schema/origins/referrer-host.ts';

test.each([
  ['https://www.Example.com/a?b=c#d', 'example.com'],
  ['example.com', 'example.com'],
  ['example.com:8080/path', 'example.com'],
  ['//cdn.example.com/x', 'cdn.example.com'],
  ['http://user:secret@example.com./', 'example.com'],
  ['android-app://com.google.android.gm/', 'com.google.android.gm'],
  ['https://müller.example', 'müller.example'],
  ['', ''],
  ['(direct)', ''],
  ['null', ''],
  ['not an address', ''],
  [`https://${'a'.repeat(300)}.example`, ''],
])('the host of %s is %s', (text, host) => {
  expect(referrerHost(text)).toBe(host);
});
