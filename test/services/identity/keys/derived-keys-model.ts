import type { Scope } from '../../../../schema/principal.ts';
import type { Caller } from '../../../house.ts';

export interface ModelKey {
  readonly id: string;
  readonly caller: Caller;
  readonly kind: 'agent' | 'live' | 'test';
  readonly pair: string | null;
  readonly scopes: readonly Scope[];
  readonly ownEnd: number;
  /** What it ends with, besides itself. */
  readonly maker: ModelKey | null;
  readonly grant: ModelGrant | null;
  isRevoked: boolean;
  graceEnd: number;
  replacedBy: ModelKey | null;
}

export interface ModelGrant {
  readonly key: ModelKey;
  refreshToken: string;
  usedToken: string | null;
  refreshEnd: number;
  isRevoked: boolean;
}

export interface ModelToken {
  readonly caller: Caller;
  readonly grant: ModelGrant;
  readonly scopes: readonly Scope[];
  readonly end: number;
}

/** The rules of derived keys and nothing else: no database, time in hours, all followed to its makers when asked. */
export class Model {
  readonly keys: ModelKey[] = [];
  readonly grants: ModelGrant[] = [];
  readonly tokens: ModelToken[] = [];
  now = 0;

  endOf({ ownEnd, graceEnd, maker, grant }: ModelKey): number {
    return Math.min(ownEnd, graceEnd, maker === null ? Infinity : this.endOf(maker), grant?.refreshEnd ?? Infinity);
  }
  isRevoked({ isRevoked, maker, grant }: ModelKey): boolean {
    return isRevoked || (maker !== null && this.isRevoked(maker)) || (grant !== null && grant.isRevoked);
  }
  works(key: ModelKey): boolean {
    return !this.isRevoked(key) && this.endOf(key) > this.now;
  }
  grantLives(grant: ModelGrant): boolean {
    return !grant.isRevoked && grant.refreshEnd > this.now && this.works(grant.key);
  }
  tokenWorks({ grant, end }: ModelToken): boolean {
    return !grant.isRevoked && end > this.now && this.works(grant.key);
  }
  /** Whether a successor of `key` ends with the caller. */
  endsWith(key: ModelKey, caller: ModelKey | ModelToken): boolean {
    const makers: ModelKey[] = [];
    for (let next: ModelKey | null = key; next !== null; next = next.maker) makers.push(next);
    if ('end' in caller) return makers.some(({ grant }) => grant === caller.grant);
    if (this.endOf(caller) === Infinity || makers.some(({ maker }) => maker === caller)) return true;
    for (let next: ModelKey | null = caller; next !== null; next = next.replacedBy) if (next === key) return true;
    return key.pair !== null && key.pair === caller.pair;
  }
  newest(key: ModelKey): ModelKey {
    let newest = key;
    for (let next = key.replacedBy; next !== null; next = next.replacedBy) if (this.works(next)) newest = next;
    return newest;
  }
}
