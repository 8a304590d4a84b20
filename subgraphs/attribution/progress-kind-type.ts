import { registerEnumType } from 'type-graphql';

/** Kinds of events of every subscription; the features share the one type. */
export const ProgressKindEnum = { PROGRESS: 'PROGRESS', CHANNEL_RESULT: 'CHANNEL_RESULT', RESULT: 'RESULT', ERROR: 'ERROR' } as const;
export type ProgressKind = keyof typeof ProgressKindEnum;
registerEnumType(ProgressKindEnum, { name: 'ProgressKind', description: 'RESULT and ERROR are the last event of a stream that watches one piece of work.' });
