import { Resolver, type LookupAddress, type LookupAllOptions } from 'node:dns';

/** Finds every address of a name, as `dns.lookup` with `all` does. */
export type Lookup = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

const TRY_TIMEOUT_MS = 1_000;
const TRIES = 2;

export interface NameLookupOptions {
  /** Name servers, `address:port`; the system's when absent. */
  readonly servers?: readonly string[];
}

/**
 * Asks the name servers themselves. The system's lookup waits in one of few threads that everything in the process
 * shares: names whose servers are silent would hold up all others. Hosts files and search domains, which lead inside,
 * are not read.
 */
export function nameLookup({ servers }: NameLookupOptions = {}): Lookup {
  const resolver = new Resolver({ timeout: TRY_TIMEOUT_MS, tries: TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  return (hostname, _options, callback) => {
    const found: LookupAddress[] = [];
    const faults: NodeJS.ErrnoException[] = [];
    let left = 2;
    const take = (family: 4 | 6) => (error: NodeJS.ErrnoException | null, addresses: string[]) => {
      if (error === null) found.push(...addresses.map((address) => ({ address, family })));
      else faults.push(error);
      left -= 1;
      if (left > 0) return;
      if (found.length > 0) callback(null, found);
      else callback(faults[0] ?? Object.assign(new Error(`${hostname} has no address`), { code: 'ENODATA' }), []);
    };
    resolver.resolve4(hostname, take(4));
    resolver.resolve6(hostname, take(6));
  };
}
