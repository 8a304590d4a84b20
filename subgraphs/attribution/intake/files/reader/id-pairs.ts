import type { TextColumn } from './block-columns.ts';
import { plainName } from './column-names.ts';
import { NOT_TEXT, type RowCells } from './record-reader.ts';
import { tableFilledBy, type RecordTable } from './record-table.ts';
import { Located, type CellSource } from './row-cells.ts';
import { SeenIds } from './seen-ids.ts';
import { UserCell } from './user-cell.ts';

/** Two columns of one row whose ids are one person. */
export interface IdPair {
  readonly id: CellSource;
  readonly sameAs: CellSource;
}

/** Ids of somebody who has not said who he is; those of devices that many share are none. */
const UNKNOWN_VISITOR: ReadonlySet<string> = new Set(
  'anonymous_id anonymousid visitor_id visitorid client_id clientid ga_client_id cookie cookie_id user_pseudo_id'.split(
    ' ',
  ),
);
/** Ids of somebody who is known. */
const KNOWN_PERSON: ReadonlySet<string> = new Set(
  (
    'user_id userid customer_id customerid customer_email customer_number email e_mail email_address profile_id ' +
    'kunden_id kundennummer kunden_nr e_mail_adresse nutzer_id id_client numero_client courriel adresse_e_mail ' +
    'id_cliente id_de_cliente correo_electronico id_utente id_usuario klant_id klantnummer klantnr'
  ).split(' '),
);

/** What stands where there is no id. */
const NO_ID = /^(?:0|-1|null|none|nil|nan|undefined|unknown|unassigned|guest|gast|anonymous|anon|n\/?a|\(.*\)|-+)?$/i;

/**
 * Columns with another id of the person beside that of the user: a cookie beside an account, or the other way round.
 * @param user place of the column that rows are told apart by
 */
export function otherIdsOf(header: readonly string[], user: number): readonly number[] {
  const names = header.map(plainName);
  const others = UNKNOWN_VISITOR.has(names[user]!) ? KNOWN_PERSON : UNKNOWN_VISITOR;
  return names.flatMap((name, place) => (place !== user && others.has(name) ? [place] : []));
}

/** Pairs of ids that stand beside each other in rows of whatever kind, each told once. */
export class IdPairs {
  readonly table: RecordTable;
  readonly #pairs: readonly IdPair[];
  readonly #id = new UserCell();
  readonly #sameAs = new UserCell();
  readonly #seen = new SeenIds({ isSampled: false });
  readonly #located = new Located();
  /** As far as they are known to be unlike. */
  count = 0;

  constructor(pairs: readonly IdPair[]) {
    this.#pairs = pairs;
    const text = (cell: UserCell) => (column: TextColumn) => cell.addTo(column);
    this.table = tableFilledBy('identities', { id: text(this.#id), same_as: text(this.#sameAs) });
  }

  take(cells: RowCells, line: number): void {
    for (const { id, sameAs } of this.#pairs) {
      if (!this.#read(this.#id, id, cells) || !this.#read(this.#sameAs, sameAs, cells)) continue;
      const pair = Buffer.from(`${this.#id.shown()}\0${this.#sameAs.shown()}`);
      if (this.#id.shown() === this.#sameAs.shown() || this.#seen.add(pair, 0, pair.length)) continue;
      this.count += 1;
      this.table.add(line);
    }
  }

  /** What is no id joins nobody. */
  #read(cell: UserCell, source: CellSource, cells: RowCells): boolean {
    const { data, start, end } = this.#located.at(source, cells);
    return end !== NOT_TEXT && end > start && cell.read(data, start, end) === null && !NO_ID.test(cell.shown().trim());
  }
}
