import { plainName } from './column-names.ts';

/* What a row of a table of events is, by the word that stands in one of its columns. */

export type EventMeaning = 'touch' | 'order' | 'refund' | 'neither';

const wordsOf = (...lines: readonly string[]): readonly string[] => lines.join(' ').split(' ').map(plainName);

const WORDS: Readonly<Record<EventMeaning, readonly string[]>> = {
  touch: wordsOf(
    'view views viewed impression impressions imp ad_impression ad_view ad_click click clicks clicked link_click',
    'visit visits visited session session_start page_view pageview page landing landing_page touch touchpoint',
    'interaction open opened email_open email_opened email_click email_clicked video_view engagement referral',
    'ansicht aufruf seitenaufruf klick besuch sitzung einblendung kontakt öffnung vue clic visite ouverture page_vue',
    'vista clique visita impresión apertura sesión visualizzazione impressione visualização impressão weergave klik',
    'bezoek vertoning wyświetlenie kliknięcie wizyta odsłona visning klikk besök 閲覧 表示 クリック 訪問',
  ),
  order: wordsOf(
    'purchase purchased order ordered order_completed completed_order order_placed placed_order sale transaction',
    'conversion converted buy bought checkout_completed payment paid in_app_purchase complete_payment',
    'kauf gekauft bestellung bestellt verkauf transaktion konversion achat commande vente compra pedido venta',
    'transacción conversión acquisto ordine vendita transazione conversione venda encomenda aankoop bestelling',
    'verkoop zakup zamówienie sprzedaż köp beställning kjøp 購入 注文',
  ),
  refund: wordsOf(
    'refund refunded return returned chargeback erstattung rückerstattung retoure storno rücksendung remboursement',
    'reembolso devolución devolução rimborso reso terugbetaling zwrot återbetalning 返金 返品',
  ),
  neither: wordsOf(
    'add_to_cart addtocart cart view_cart remove_from_cart begin_checkout checkout checkout_started initiate_checkout',
    'view_item product_view product_viewed view_item_list search scroll login logout identify add_payment_info',
    'add_shipping_info wishlist add_to_wishlist warenkorb in_den_warenkorb panier ajout_panier carrito carrello',
    'winkelwagen koszyk varukorg カート cancel cancelled canceled cancellation',
  ),
};

const MEANINGS: ReadonlyMap<string, EventMeaning> = new Map(
  Object.entries(WORDS).flatMap(([meaning, words]) => words.map((word) => [word, meaning as EventMeaning] as const)),
);

/** Undefined for a word that is not known. */
export const meaningOf = (word: string): EventMeaning | undefined => MEANINGS.get(plainName(word));

/** Names of columns that may hold such words. */
const COLUMN_NAMES: ReadonlySet<string> = new Set(
  wordsOf(
    'event event_type event_name type kind action activity interaction interaction_type type_of_event record_type',
    'row_type hit_type ereignis ereignistyp ereignisname typ art aktion aktivität événement type_événement',
    'type_d_événement evento tipo tipo_evento tipo_de_evento acción azione ação gebeurtenis zdarzenie händelse',
    'イベント 種別 種類',
  ),
);

export const mayHoldEvents = (name: string): boolean => COLUMN_NAMES.has(plainName(name));
