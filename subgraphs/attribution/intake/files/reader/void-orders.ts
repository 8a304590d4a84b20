import { plainName } from './column-names.ts';
import type { RowCells } from './record-reader.ts';
import { textAt, type RowTest } from './row-tests.ts';

/* Orders that nobody paid, or that only tried the shop out, told by a column of their status. */

const words = (...lines: readonly string[]): ReadonlySet<string> => new Set(lines.join(' ').split(' ').map(plainName));

const STATUS_NAMES = words(
  'status order_status payment_status financial_status transaction_status deal_stage state order_state',
  'bestellstatus auftragsstatus zahlungsstatus zustand etat statut statut_de_la_commande etat_de_la_commande',
  'estado estado_del_pedido situacao situacao_do_pedido status_do_pedido stato stato_ordine bestelstatus',
  'status_zamowienia stan orderstatus ordrestatus ステータス 注文ステータス 注文状況 状態',
);
/** Of what a network of affiliates asks for; the status of a campaign says nothing of what it cost. */
const COMMISSION_NAMES = words('commission_status commissionstatus');
const TAKEN_BACK = words('declined deleted rejected reversed');
const TEST_NAMES = words('test is_test test_order is_test_order testorder test_mode testbestellung');

/** Nothing of a refund: what was paid and given back stands in amounts. */
const VOID_WORDS = words(
  // The usual stages of a deal that is not won yet, of HubSpot.
  'appointment_scheduled qualified_to_buy presentation_scheduled decision_maker_bought_in contract_sent',
  'checkout_abandoned checkout_pending',
  'cancelled canceled voided void failed declined denied rejected abandoned incomplete closed_lost test',
  'storniert storno abgebrochen fehlgeschlagen annulee annule annulees annules echouee abandonnee',
  'cancelado cancelada anulado anulada rechazado annullato annullata geannuleerd mislukt',
  'anulowane anulowano anulowany anulowana odrzucone avbruten makulerad annullerad annulleret peruttu',
  'キャンセル キャンセル済み キャンセル済 取消 取消済み',
);
const TRUE_WORDS = words('true yes 1 y ja oui si sim tak はい');
/** WooCommerce's own names of them. */
const PREFIX = /^wc_/u;
/** As an amount that is taken back is written. */
const NEGATIVE = /^[^\d]*[-−–(]|-$/u;
const MOST_REMEMBERED = 1_000;

/** The columns that tell it. */
export const placesOfStatus = (header: readonly string[]): number[] =>
  header.flatMap((name, place) => {
    const plain = plainName(name);
    return STATUS_NAMES.has(plain) || TEST_NAMES.has(plain) ? [place] : [];
  });

/**
 * Whether an order came to nothing. One that takes an amount back stands for what it takes.
 * @returns null where no column tells it
 */
export function isVoidOrder(header: readonly string[], revenue: number | null): RowTest | null {
  const tests = placesOfStatus(header)
    .filter((place) => place !== revenue)
    .map((place) => isOneOfWords(place, STATUS_NAMES.has(plainName(header[place]!)) ? VOID_WORDS : TRUE_WORDS));
  if (tests.length === 0) return null;
  return (cells) => tests.some((test) => test(cells)) && (revenue === null || !NEGATIVE.test(textAt(cells, revenue)));
}

/** Commissions that a network took back. @returns null where no column tells it */
export function isTakenBack(header: readonly string[]): RowTest | null {
  const [place] = placesOfCommissionStatus(header);
  return place === undefined ? null : isOneOfWords(place, TAKEN_BACK);
}

export const placesOfCommissionStatus = (header: readonly string[]): number[] =>
  header.flatMap((name, place) => (COMMISSION_NAMES.has(plainName(name)) ? [place] : []));

/** There are few statuses and many rows. */
function isOneOfWords(place: number, known: ReadonlySet<string>): RowTest {
  const remembered = new Map<string, boolean>();
  return (cells: RowCells) => {
    const text = textAt(cells, place);
    const before = remembered.get(text);
    if (before !== undefined) return before;
    const isKnown = known.has(plainName(text).replace(PREFIX, ''));
    if (remembered.size < MOST_REMEMBERED) remembered.set(text, isKnown);
    return isKnown;
  };
}
