/** Kinds of events that wait in a person's queue. */
export const EVENT = {
  visit: 0,
  search: 1,
  order: 2,
  contact: 3,
  listDay: 4,
  listChance: 5,
  newsletter: 6,
  cartMail: 7,
} as const;

/** Binary heap of one person's pending events in typed arrays, reused from person to person. */
export class EventQueue {
  size = 0;
  private room: number;
  private times: Float64Array;
  /** kind, key and argument of each event, in step with `times` */
  private marks: Int32Array;
  private savedSize = 0;
  private savedTimes: Float64Array;
  private savedMarks: Int32Array;
  /** of the event last taken */
  time = 0;
  kind = 0;
  key = 0;
  argument = 0;

  constructor(room: number) {
    this.room = room;
    this.times = new Float64Array(room);
    this.marks = new Int32Array(3 * room);
    this.savedTimes = new Float64Array(room);
    this.savedMarks = new Int32Array(3 * room);
  }

  /** Time of the next event; infinity when none is left. */
  next(): number {
    return this.size > 0 ? (this.times[0] as number) : Infinity;
  }

  push(time: number, kind: number, key: number, argument: number): void {
    if (this.size === this.room) this.grow();
    let at = this.size++;
    const times = this.times;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if ((times[parent] as number) <= time) break;
      this.move(parent, at);
      at = parent;
    }
    this.put(at, time, kind, key, argument);
  }

  /** Takes the earliest event into `time`, `kind`, `key` and `argument`. */
  pop(): void {
    const { times, marks } = this;
    this.time = times[0] as number;
    this.kind = marks[0] as number;
    this.key = marks[1] as number;
    this.argument = marks[2] as number;
    const last = --this.size;
    if (last === 0) return;
    const time = times[last] as number;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= last) break;
      if (child + 1 < last && (times[child + 1] as number) < (times[child] as number)) child++;
      if ((times[child] as number) >= time) break;
      this.move(child, at);
      at = child;
    }
    const from = 3 * last;
    this.put(at, time, marks[from] as number, marks[from + 1] as number, marks[from + 2] as number);
  }

  save(): void {
    this.savedSize = this.size;
    for (let i = 0; i < this.size; i++) this.savedTimes[i] = this.times[i] as number;
    for (let i = 0; i < 3 * this.size; i++) this.savedMarks[i] = this.marks[i] as number;
  }

  restore(): void {
    this.size = this.savedSize;
    for (let i = 0; i < this.size; i++) this.times[i] = this.savedTimes[i] as number;
    for (let i = 0; i < 3 * this.size; i++) this.marks[i] = this.savedMarks[i] as number;
  }

  private put(at: number, time: number, kind: number, key: number, argument: number): void {
    this.times[at] = time;
    this.marks[3 * at] = kind;
    this.marks[3 * at + 1] = key;
    this.marks[3 * at + 2] = argument;
  }

  private move(from: number, to: number): void {
    const marks = this.marks;
    this.times[to] = this.times[from] as number;
    marks[3 * to] = marks[3 * from] as number;
    marks[3 * to + 1] = marks[3 * from + 1] as number;
    marks[3 * to + 2] = marks[3 * from + 2] as number;
  }

  private grow(): void {
    this.room *= 2;
    const times = new Float64Array(this.room);
    times.set(this.times);
    this.times = times;
    const marks = new Int32Array(3 * this.room);
    marks.set(this.marks);
    this.marks = marks;
    const savedTimes = new Float64Array(this.room);
    savedTimes.set(this.savedTimes);
    this.savedTimes = savedTimes;
    const savedMarks = new Int32Array(3 * this.room);
    savedMarks.set(this.savedMarks);
    this.savedMarks = savedMarks;
  }
}
