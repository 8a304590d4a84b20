import { z } from 'zod';
import { graphTypes } from './terms.ts';

/** Kinds of events of every subscription; in no other case, since REST has names of its own for them. */
export const progressKind = z.enum(['PROGRESS', 'CHANNEL_RESULT', 'RESULT', 'ERROR']).register(graphTypes, {
  name: 'ProgressKind',
  description: 'RESULT and ERROR are the last event of a stream that watches one piece of work.',
});
