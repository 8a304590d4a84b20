import { CLICK_KINDS, type ClickKind } from '../../../../../schema/origins/click-kinds.ts';
import { referrerHost } from '../../../../../schema/origins/referrer-host.ts';
import type { TextColumn } from './block-columns.ts';
import type { Cell } from './cells.ts';

/*
 * Cells that say where a touch came from, beside its channel. None of them refuses a row: files had such columns before
 * anybody read them, with whatever in them.
 */

const NOTHING = Buffer.alloc(0);
/** Longer addresses name their host in their beginning. */
const READ_BYTES = 2_048;

/** The host of an address; empty where none stands there. */
export class ReferrerCell implements Cell {
  #host: Buffer = NOTHING;

  get isEmpty(): boolean {
    return this.#host.length === 0;
  }

  read(data: Uint8Array, start: number, end: number): null {
    this.#host =
      start === end
        ? NOTHING
        : Buffer.from(referrerHost(Buffer.from(data.subarray(start, Math.min(end, start + READ_BYTES))).toString()));
    return null;
  }

  shown(): string {
    return this.#host.toString();
  }

  addTo(column: TextColumn): void {
    column.add(this.#host, 0, this.#host.length);
  }
}

const KINDS: ReadonlyMap<string, Buffer> = new Map(CLICK_KINDS.map((kind) => [kind, Buffer.from(kind)]));
const LONGEST_KIND = Math.max(...CLICK_KINDS.map(({ length }) => length));

/**
 * The kind of a click id, of a column of kinds or of the first column called as a kind that has an id. Ids themselves
 * are not kept.
 */
export class ClickCells {
  #named: Buffer = NOTHING;
  readonly #present = new Set<string>();

  readonly cells: Readonly<Record<'click_id' | ClickKind, Cell>> = {
    click_id: { read: (data, start, end) => this.#readKind(data, start, end), shown: () => this.#kind().toString() },
    ...(Object.fromEntries(CLICK_KINDS.map((kind) => [kind, this.#cellOf(kind)])) as Record<ClickKind, Cell>),
  };

  get isEmpty(): boolean {
    return this.#named.length === 0 && this.#present.size === 0;
  }

  addTo(column: TextColumn): void {
    const kind = this.#kind();
    column.add(kind, 0, kind.length);
  }

  /** Most rows have none: they cost no look at the kinds. */
  #kind(): Buffer {
    if (this.#named.length > 0 || this.#present.size === 0) return this.#named;
    return KINDS.get(CLICK_KINDS.find((each) => this.#present.has(each))!)!;
  }

  #readKind(data: Uint8Array, start: number, end: number): null {
    const text =
      end - start > LONGEST_KIND ? '' : Buffer.from(data.subarray(start, end)).toString('latin1').trim().toLowerCase();
    this.#named = KINDS.get(text) ?? NOTHING;
    return null;
  }

  #cellOf(kind: string): Cell {
    return {
      read: (_data, start, end) => {
        if (start === end) this.#present.delete(kind);
        else this.#present.add(kind);
        return null;
      },
      shown: () => (this.#present.has(kind) ? kind : ''),
    };
  }
}
