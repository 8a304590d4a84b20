import { z } from 'zod';
import { auditEvents } from './audit-events.ts';
import { sources } from './data-sources.ts';
import { deliveries } from './deliveries.ts';
import { experiments } from './experiments.ts';
import { keys } from './keys.ts';
import { typeNameOf, type Noun } from './noun.ts';
import { rejects } from './rejects.ts';
import { webhooks } from './webhooks.ts';
import { workspaces } from './workspaces.ts';

/** Every noun whose shape stands here; the others are still written by hand. */
export const NOUNS = [
  experiments,
  workspaces,
  webhooks,
  deliveries,
  keys,
  sources,
  rejects,
  auditEvents,
] as const satisfies readonly Noun[];

/** Decimals that REST shows of a member, by `Type.member` of the graph. */
export const DIGITS: ReadonlyMap<string, number> = new Map(
  NOUNS.flatMap((noun) =>
    Object.entries(noun.record.shape as Record<string, z.ZodType>).flatMap(([name, member]) => {
      const digits = member.meta()?.digits;
      return digits === undefined ? [] : [[`${typeNameOf(noun)}.${name}`, digits] as const];
    }),
  ),
);
