import { hreiVersion } from '../../services/trust/envelope.ts';
import type { Json } from '../operation.ts';
import type { VersionChange } from './version-change.ts';

const BROUGHT_BY = '2026-02-01';
const BEFORE = hreiVersion('2025-11-01');

/**
 * The trust layer is called 1.1.0 since 2026-02-01; its definitions did not change. Envelopes stand at the top of a
 * body and in the items of some lists.
 */
export const hreiVersionChange: VersionChange = {
  version: BROUGHT_BY,
  description: `trust.metadata.hrei_version is ${hreiVersion(BROUGHT_BY)}; it was ${BEFORE}`,
  undo: (body) =>
    Object.fromEntries(
      Object.entries(body).map(([name, member]) => [
        name,
        name === 'trust' ? renamed(member) : Array.isArray(member) ? member.map(undoItem) : member,
      ]),
    ),
};

function undoItem(item: unknown): unknown {
  return isObject(item) && 'trust' in item ? { ...item, trust: renamed(item['trust']) } : item;
}

function renamed(trust: unknown): unknown {
  return isObject(trust) && isObject(trust['metadata'])
    ? { ...trust, metadata: { ...trust['metadata'], hrei_version: BEFORE } }
    : trust;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
