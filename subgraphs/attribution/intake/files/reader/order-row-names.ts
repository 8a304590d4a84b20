import { plainName } from './column-names.ts';

/* What names of columns say of a row that has an order id: that it is a line of the order, or repeats its total. */

const LINE_WORDS = new Set(
  [
    'sku skus product products item article line lineitem position variant ean gtin upc asin quantity qty',
    'produkt produkte artikel menge anzahl stuck zeile einzelpreis produit quantite ligne producto articulo cantidad',
    'linea prodotto articolo quantita riga produto artigo quantidade aantal regel ilosc pozycja antal rad',
  ]
    .join(' ')
    .split(' '),
);
/** Words of languages that write them together, `Artikelnummer`, or without blanks. */
const LINE_PARTS = /(^|_)(artikel|produkt)(name|nummer|nr|bezeichnung|navn|namn)|商品|数量|品名/u;
/** How many there are is a fact of the order. */
const COUNTS = /(^|_)(count|number|num|total|items|anzahl_der|nombre)(_|$)/u;

const TOTAL_NAMES = new Set(
  [
    'order_total total_order grand_total total total_price total_amount order_value order_amount total_paid',
    'amount_paid',
    'transaction_total gesamt gesamtbetrag gesamtsumme gesamtpreis bestellwert auftragswert rechnungsbetrag',
    'montant_total total_commande total_ttc importe_total total_pedido totale totale_ordine importo_totale valor_total',
    'total_do_pedido totaal totaalbedrag ordertotaal wartosc_zamowienia totalt ordersumma',
  ]
    .join(' ')
    .split(' '),
);
const LINE_AMOUNTS =
  /(^|_)(line|lineitem|item|position|zeilen?|posten|ligne|linea|riga|regel)(_|$)|^(zeilen|positions)/u;

export const tellsLines = (name: string): boolean => {
  const plain = plainName(name);
  return LINE_PARTS.test(plain) || (!COUNTS.test(plain) && plain.split('_').some((word) => LINE_WORDS.has(word)));
};

/** An amount of the order as a whole. */
export const tellsTotal = (name: string): boolean => TOTAL_NAMES.has(plainName(name));

/** An amount of one line. */
export const tellsLineAmount = (name: string): boolean => LINE_AMOUNTS.test(plainName(name)) && !tellsTotal(name);
