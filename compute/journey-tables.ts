/** Channel index of a conversion event that has no click attached. */
export const NO_CHANNEL = 65_535;

/** Distinct paths with their counts: what the four path models read. All arrays may sit on SharedArrayBuffers. */
export interface PathTable {
  /** index → name */
  readonly channels: readonly string[];
  /** paths + 1 entries: path p's steps are `steps[offsets[p] .. offsets[p + 1])` */
  readonly offsets: Uint32Array;
  /** channel indices */
  readonly steps: Uint16Array;
  /** converting journeys per path */
  readonly conversions: Float64Array;
  /** revenue per path, major currency units */
  readonly value: Float64Array;
  /** journeys without a conversion per path */
  readonly nulls: Float64Array;
  /**
   * Σ of squared order values per path, where they are known; intervals take the orders of a path as equal otherwise
   */
  readonly valueSquares?: Float64Array;
  readonly soundness?: Soundness;
}

/**
 * One entry on shared memory: 1 once a task has found the table sound, so that others, on whatever thread, need not
 * look again. Who changes a table gives it a new one.
 */
export type Soundness = Int32Array;

/**
 * Every event of every user: users contiguous, the events of a user in order (time, then event id).
 * What PRAV, the folds of the causal model and the comparison rules read.
 */
export interface EventTable {
  /** index → name */
  readonly channels: readonly string[];
  /** users + 1 entries: user u's events are `userStart[u] .. userStart[u + 1]` */
  readonly userStart: Uint32Array;
  /** FNV-1a 32 of the UTF-8 user id */
  readonly userHash: Uint32Array;
  /** seconds since the epoch */
  readonly timeS: Float64Array;
  /** NO_CHANNEL where a conversion has no click attached */
  readonly channel: Uint16Array;
  /** 1 = this event is a conversion */
  readonly conversion: Uint8Array;
  /** one entry per conversion event, in event order (running index), major currency units */
  readonly value: Float64Array;
  readonly soundness?: Soundness;
}

/** The campaign of every event of an event table. */
export interface EventCampaigns {
  readonly names: readonly string[];
  /** per event: 0 = no campaign, else the campaign's place in `names` + 1 */
  readonly slot: Uint16Array;
}

/** Typed arrays on shared memory, so that a table goes to the compute threads without a copy. */
export const sharedUint8 = (length: number): Uint8Array<SharedArrayBuffer> =>
  new Uint8Array(new SharedArrayBuffer(length));
export const sharedUint16 = (length: number): Uint16Array<SharedArrayBuffer> =>
  new Uint16Array(new SharedArrayBuffer(length * Uint16Array.BYTES_PER_ELEMENT));
export const sharedUint32 = (length: number): Uint32Array<SharedArrayBuffer> =>
  new Uint32Array(new SharedArrayBuffer(length * Uint32Array.BYTES_PER_ELEMENT));
export const sharedFloat64 = (length: number): Float64Array<SharedArrayBuffer> =>
  new Float64Array(new SharedArrayBuffer(length * Float64Array.BYTES_PER_ELEMENT));
/** A flag for a new table, which nobody has checked yet. */
export const notYetFoundSound = (): Soundness => new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/** What `faultOf` finds, looked for unless the table is known to be sound. */
export function faultUnlessSound<Table extends { readonly soundness?: Soundness }>(
  table: Table,
  faultOf: (table: Table) => string | null,
): string | null {
  const { soundness } = table;
  if (soundness !== undefined && Atomics.load(soundness, 0) === 1) return null;
  const fault = faultOf(table);
  if (fault === null && soundness !== undefined) Atomics.store(soundness, 0, 1);
  return fault;
}

function faultOfChannels(channels: readonly string[]): string | null {
  if (channels.length >= NO_CHANNEL) return `${channels.length} channels are more than the ${NO_CHANNEL - 1} that fit`;
  return new Set(channels).size === channels.length ? null : 'two channels carry the same name';
}

function faultOfBounds(name: string, starts: Uint32Array, end: number): string | null {
  if (starts.length === 0 || starts[0] !== 0 || starts[starts.length - 1] !== end)
    return `${name} does not span the table`;
  for (let i = 1; i < starts.length; i++)
    if (starts[i]! < starts[i - 1]!) return `${name} goes backwards at entry ${i}`;
  return null;
}

/** What makes a path table unusable, in one line, or null. Empty paths are allowed: the models skip them. */
export function faultOfPathTable(table: PathTable): string | null {
  const { channels, offsets, steps, conversions, value, nulls, valueSquares } = table;
  const paths = offsets.length - 1;
  const shape = faultOfChannels(channels) ?? faultOfBounds('offsets', offsets, steps.length);
  if (shape !== null) return shape;
  if (
    conversions.length !== paths ||
    value.length !== paths ||
    nulls.length !== paths ||
    (valueSquares?.length ?? paths) !== paths
  )
    return 'the columns differ in length';
  const known = channels.length;
  for (let i = 0; i < steps.length; i++) if (steps[i]! >= known) return `step ${i} names a channel that does not exist`;
  for (let p = 0; p < paths; p++) {
    const converted = conversions[p]!;
    const lost = nulls[p]!;
    // The comparisons are written so that NaN fails them too.
    if (!(converted >= 0 && lost >= 0 && converted + lost < Number.MAX_SAFE_INTEGER))
      return `path ${p} has an impossible count`;
    if (!Number.isFinite(value[p]!)) return `path ${p} has a revenue that is not a number`;
  }
  for (let p = 0; p < (valueSquares?.length ?? 0); p++)
    if (!Number.isFinite(valueSquares![p]!)) return `path ${p} has order values that are not numbers`;
  return null;
}

/** What makes an event table unusable, in one line, or null. */
export function faultOfEventTable(table: EventTable): string | null {
  const { channels, userStart, userHash, timeS, channel, conversion, value } = table;
  const shape = faultOfChannels(channels) ?? faultOfBounds('userStart', userStart, timeS.length);
  if (shape !== null) return shape;
  const events = timeS.length;
  if (channel.length !== events || conversion.length !== events || userHash.length !== userStart.length - 1)
    return 'the columns differ in length';
  let conversions = 0;
  for (let user = 0; user < userHash.length; user++) {
    let previous = -Infinity;
    for (let i = userStart[user]!; i < userStart[user + 1]!; i++) {
      if (!(timeS[i]! >= previous && timeS[i]! < Infinity)) return `event ${i} is out of order or has no time`;
      previous = timeS[i]!;
      conversions += conversion[i]!;
      if (channel[i]! >= channels.length && !(channel[i] === NO_CHANNEL && conversion[i] === 1))
        return `event ${i} names a channel that does not exist`;
    }
  }
  if (conversions !== value.length) return `${value.length} values were given for ${conversions} conversions`;
  for (let i = 0; i < conversions; i++)
    if (!Number.isFinite(value[i]!)) return `conversion ${i} has a revenue that is not a number`;
  return null;
}
