import type { RowForm } from './record-layout.ts';
import { NOT_TEXT, type RowCells } from './record-reader.ts';
import { limitExceeded } from './refused-file.ts';
import { Located, type CellSource } from './row-cells.ts';
import { WrittenTime } from './styles/time-style.ts';
import { TimeZone } from './styles/time-zone.ts';

/** Of one file: a key and its time take about 150 bytes. */
const MOST_KEYS = 500_000;
const PART_END = '\0';
/** Whose row has been taken. */
const TAKEN = -Infinity;

/**
 * Of all rows that agree in some values, the earliest: of the events of a session, the one that began it. Files are not
 * sorted, so that all of it is looked at before a row is taken.
 */
export class EarliestRows {
  /** Time of the earliest row by what rows agree in, milliseconds since 1970. */
  readonly #times = new Map<string, number>();
  readonly #located = new Located();
  readonly #time = new WrittenTime();
  readonly #zone = new TimeZone('UTC');

  /** @throws RefusedFileError `file_limit_exceeded` */
  look(form: RowForm, cells: RowCells): void {
    const ms = this.#timeOf(form, cells);
    if (Number.isNaN(ms)) return;
    const key = this.#keyOf(form.oncePer ?? [], cells);
    const known = this.#times.get(key);
    if (known === undefined && this.#times.size === MOST_KEYS)
      throw limitExceeded('its rows are of too many sessions or touches', `${MOST_KEYS} in a file`);
    if (known === undefined || ms < known) this.#times.set(key, ms);
  }

  /** Whether a row is the earliest of those that it agrees with; of several, the first that is asked about. */
  takes(form: RowForm, cells: RowCells): boolean {
    const ms = this.#timeOf(form, cells);
    // What is no time is told of each row.
    if (Number.isNaN(ms)) return true;
    const key = this.#keyOf(form.oncePer ?? [], cells);
    if (this.#times.get(key) !== ms) return false;
    this.#times.set(key, TAKEN);
    return true;
  }

  #timeOf(form: RowForm, cells: RowCells): number {
    const source = form.columns.get('timestamp');
    if (source === undefined) return Number.NaN;
    const { data, start, end } = this.#located.at(source, cells);
    if (end === NOT_TEXT) return Number.NaN;
    this.#time.take(data, start, end);
    const ms = this.#time.moment('day_first', this.#zone);
    return Number.isFinite(ms) ? ms : Number.NaN;
  }

  #keyOf(sources: readonly CellSource[], cells: RowCells): string {
    let key = '';
    for (const source of sources) {
      const { data, start, end } = this.#located.at(source, cells);
      if (end > start) key += Buffer.from(data.buffer, data.byteOffset + start, end - start).toString('latin1');
      key += PART_END;
    }
    return key;
  }
}
