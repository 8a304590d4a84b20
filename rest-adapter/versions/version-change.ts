import type { Json } from '../operation.ts';

/** What a dated version changed in the bodies of answers, and how to undo it for clients of older versions. */
export interface VersionChange {
  /** The version that brought the change. */
  readonly version: string;
  /** For people: what differs from the version before. */
  readonly description: string;
  /** The body as the version before had it. Must leave bodies without the changed members as they are. */
  undo(body: Json): Json;
}
