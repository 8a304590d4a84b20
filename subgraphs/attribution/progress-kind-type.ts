import type { z } from 'zod';
import { enumTypeOf } from '../../platform/graph/contract-types.ts';
import { progressKind } from '../../schema/contract/progress-kind.ts';

/** Kinds of events of every subscription; the features share the one type. */
export const ProgressKindEnum = enumTypeOf(progressKind);
export type ProgressKind = z.output<typeof progressKind>;
