import type { CanonicalColumn } from '../../../../../schema/origins/canonical-columns.ts';
import { mayHoldEvents, meaningOf, type EventMeaning } from './event-words.ts';
import { layoutOf, likelyColumnsOf, type LayoutWishes, type RecordLayout, type RowForm } from './record-layout.ts';
import { ReadingStoppedError, type RowCells, type RowSink } from './record-reader.ts';
import { EVENTS_BY_WORD, ORIGINS } from './record-kind.ts';
import type { CellSource } from './row-cells.ts';
import { isEmptyAt, textAt, type RowTest } from './row-tests.ts';
import type { OpenedFile } from './source-file.ts';

const ROWS_LOOKED_AT = 1_000;
const MOST_WORDS = 200;
/** How sure a word is that stands where such words stand. */
const WORD_CERTAINTY = 0.95;

/** What only touches, and only orders, have. */
const OF_TOUCHES: ReadonlySet<CanonicalColumn> = new Set(['cost', 'event_type']);
const OF_ORDERS: ReadonlySet<CanonicalColumn> = new Set([
  'order_id',
  'revenue',
  'refunded',
  'cogs',
  'new_customer',
  'conversion_event',
]);

/**
 * A table of touches and orders by turns, each row named by a word (`click`, `Kauf`) instead of a flag.
 * @returns null where no column holds such words, of touches as well as of others
 */
export async function layoutByEventWords(
  header: readonly string[],
  wishes: LayoutWishes,
  reopened: () => Promise<OpenedFile>,
): Promise<RecordLayout | null> {
  const places = header.flatMap((name, place) => (mayHoldEvents(name) ? [place] : []));
  if (places.length === 0 || Object.hasOwn(wishes.constants, 'conversion')) return null;
  const found = likelyColumnsOf(header, wishes, EVENTS_BY_WORD);
  const has = (...columns: readonly CanonicalColumn[]) => columns.some((column) => found?.sources.has(column) === true);
  if (found === null || has('conversion') || !has('user_id') || !has('timestamp')) return null;
  if (!has('order_id', 'revenue') || !has(...ORIGINS)) return null;
  const place = await wordPlace(places, header, reopened);
  if (place === null) return null;
  for (const [column, source] of found.sources)
    if ('place' in source && source.place === place) found.sources.delete(column);
  found.sources.set('event_type', { place });
  found.certainties.set('event_type', WORD_CERTAINTY);
  const layout = layoutOf(EVENTS_BY_WORD, header, found);
  const [{ columns }] = layout.forms as readonly [RowForm];
  return { ...layout, kind: 'events', forms: formsOf(columns, place) };
}

function formsOf(columns: RowForm['columns'], place: number): RowForm[] {
  const meaningAt = (cells: RowCells): EventMeaning | undefined => meaningOf(textAt(cells, place));
  const filled = (...names: readonly CanonicalColumn[]): RowTest => {
    const places = names.flatMap((name) => {
      const source = columns.get(name);
      return source !== undefined && 'place' in source ? [source.place] : [];
    });
    const areEmpty = isEmptyAt(places);
    return (cells) => places.length > 0 && !areEmpty(cells);
  };
  const [hasOrigin, hasId, hasAmount] = [filled(...ORIGINS), filled('order_id'), filled('revenue')];
  // A word that nobody knows, with an order beside it, is one for it.
  const isOrder: RowTest = (cells) => {
    const meaning = meaningAt(cells);
    return meaning === 'order' || (meaning === undefined && hasId(cells) && hasAmount(cells));
  };
  const without = (names: ReadonlySet<CanonicalColumn>, conversion: '0' | '1'): Map<CanonicalColumn, CellSource> =>
    new Map([
      ...[...columns].filter(([name]) => !names.has(name)),
      ['conversion', { constant: Buffer.from(conversion) }] as const,
    ]);
  const ofOrder = without(OF_TOUCHES, '1');
  const paidBack = columns.get('refunded') ?? columns.get('revenue');
  const ofRefund = new Map(ofOrder).set('revenue', { constant: Buffer.from('0') });
  if (paidBack !== undefined) ofRefund.set('refunded', paidBack);
  return [
    {
      columns: without(OF_ORDERS, '0'),
      when: (cells) => meaningAt(cells) === 'touch' && hasOrigin(cells),
      oncePer: null,
    },
    { columns: ofOrder, when: isOrder, oncePer: null },
    { columns: ofRefund, when: (cells) => meaningAt(cells) === 'refund', oncePer: null, needsOrder: true },
  ];
}

/** The column in which rows are called touches, and others something else that is known. */
async function wordPlace(
  places: readonly number[],
  header: readonly string[],
  reopened: () => Promise<OpenedFile>,
): Promise<number | null> {
  const words = new WordSample(places);
  const { reader } = await reopened();
  try {
    await reader.read(new Set(places), words, header);
  } catch (error) {
    if (!(error instanceof ReadingStoppedError)) throw error;
  }
  return places.find((place) => words.meanings(place).has('touch')) ?? null;
}

class WordSample implements RowSink {
  readonly #words: ReadonlyMap<number, Set<string>>;
  #rows = 0;

  constructor(places: readonly number[]) {
    this.#words = new Map(places.map((place) => [place, new Set()]));
  }

  row(cells: RowCells): void {
    if (this.#rows === ROWS_LOOKED_AT) throw new ReadingStoppedError('enough rows were looked at');
    this.#rows += 1;
    for (const [place, words] of this.#words) if (words.size < MOST_WORDS) words.add(textAt(cells, place));
  }

  unreadable(): void {
    // Told by the reading that follows.
  }

  pause(): void {
    // A look at the first rows is no progress.
  }

  meanings(place: number): ReadonlySet<EventMeaning | undefined> {
    return new Set([...this.#words.get(place)!].map(meaningOf));
  }
}
