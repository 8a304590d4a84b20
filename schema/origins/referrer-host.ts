/** Characters of a host, which has more than one part. */
const HOST = /^[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)+$/u;
const LONGEST_HOST = 253;

/**
 * The host that an address names, in lower case, without `www.`: of `https://www.Example.com/a`, `example.com`. Empty
 * for what is no address.
 */
export function referrerHost(text: string): string {
  const [, authority = ''] = /^\s*(?:(?:[a-z][a-z0-9+.-]*:)?\/\/)?([^/?#]*)/i.exec(text) ?? [];
  const host = authority
    .slice(authority.lastIndexOf('@') + 1)
    .replace(/:\d*\s*$/, '')
    .trim()
    .toLowerCase()
    .replace(/\.$/, '')
    .replace(/^www\./, '');
  return host.length <= LONGEST_HOST && HOST.test(host) ? host : '';
}
