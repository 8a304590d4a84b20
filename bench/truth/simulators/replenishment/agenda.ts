/** Kinds of what lies ahead of a person. */
export const NEED = 0;
export const SEARCH = 1;
export const DECIDE = 2;
export const CONTACT = 3;
export const VISIT = 4;
export const HALO_VISIT = 5;
export const FRIEND = 6;

/** What lies ahead of a person, the next one last; a sorted list, as there are few at a time. */
export class Agenda {
  private count = 0;
  private readonly times: number[] = [];
  private readonly kinds: number[] = [];
  private readonly subjects: number[] = [];
  private readonly keys: number[] = [];
  /** the one that `take` took */
  time = 0;
  kind = 0;
  /** good or channel */
  subject = 0;
  key = 0;

  clear(): void {
    this.count = 0;
  }

  next(): number {
    return this.count > 0 ? this.times[this.count - 1]! : Infinity;
  }

  add(time: number, kind: number, subject: number, key: number): void {
    let at = this.count++;
    while (at > 0 && this.times[at - 1]! < time) {
      this.times[at] = this.times[at - 1]!;
      this.kinds[at] = this.kinds[at - 1]!;
      this.subjects[at] = this.subjects[at - 1]!;
      this.keys[at] = this.keys[at - 1]!;
      at--;
    }
    this.times[at] = time;
    this.kinds[at] = kind;
    this.subjects[at] = subject;
    this.keys[at] = key;
  }

  take(): void {
    const at = --this.count;
    this.time = this.times[at]!;
    this.kind = this.kinds[at]!;
    this.subject = this.subjects[at]!;
    this.key = this.keys[at]!;
  }
}
