import { z } from 'zod';
import { channelRules } from './channel-rules.ts';
import { deliveries } from './deliveries.ts';
import { experiments } from './experiments.ts';
import { keys } from './keys.ts';
import type { Noun } from './noun.ts';
import { webhooks } from './webhooks.ts';
import { workspaces } from './workspaces.ts';

/** Every noun whose shape stands here; the others are still written by hand. */
export const NOUNS = [channelRules, experiments, workspaces, webhooks, deliveries, keys] as const satisfies readonly Noun[];

/** Decimals that REST shows of a member, by `Type.member` of the graph. */
export const DIGITS: ReadonlyMap<string, number> = new Map(
  NOUNS.flatMap(({ record }) =>
    Object.entries(record.shape as Record<string, z.ZodType>).flatMap(([name, member]) => {
      const digits = member.meta()?.digits;
      return digits === undefined ? [] : [[`${String(record.meta()?.id)}.${name}`, digits] as const];
    }),
  ),
);
