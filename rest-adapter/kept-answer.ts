import { z } from 'zod';

const json = z.record(z.string(), z.unknown());

/** What is kept of an answer for those who send its request again: a body, or the last event of a stream. */
export const keptAnswer = z.object({
  status: z.int(),
  body: json.nullable(),
  mediaType: z.string().optional(),
  trust: z.unknown().optional(),
  headers: z.record(z.string(), z.string()),
  lastEvent: z.object({ id: z.int(), event: z.string(), data: z.unknown() }).optional(),
  /** Of a streamed request body. */
  contentDigest: z.string().nullable(),
});
export type KeptAnswer = z.output<typeof keptAnswer>;
