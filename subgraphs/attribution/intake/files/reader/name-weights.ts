import type { CanonicalColumn } from '../../../../../schema/origins/canonical-columns.ts';
import { plainName } from './column-names.ts';

/** What the words of a name say for and against a column of which only the content speaks. */
interface Words {
  /** What the column can't be, whatever stands in it. */
  readonly never: readonly RegExp[];
  /** The higher, the likelier. */
  readonly better: readonly (readonly [words: RegExp, weight: number])[];
  /** Of what this finds only its group is judged. */
  readonly whole?: RegExp;
}

/** Names stand between `_`, and so do their words; parts of words count where languages join them. */
const NUMBERS_ONLY = [
  /_(ids?|sku|no|nr|num|qty|menge|anzahl|count|tax|taxes|vat|mwst|zip|plz|site|bid|bids|age|year|rank|score|stock)_/u,
  /_(item|items|line|row|unit|units|rate|pct|percent|ratio|ctr|cpc|cpm|cpa|roas|avg|average|per|fee|fees|tip|tips)_/u,
  /_(impressions|clicks|views|reach|frequency|days|duration|weight|ip|fax|tel|conv|conversions)_$/u,
  /number|nummer|numer|numero|quantity|budget|discount|rabatt|remise|descuento|sconto|rabat|steuer|impuesto|_iva_/u,
  /shipping|versand|phone|telefon|postal|postcode|post_code|balance|saldo|refund|coupon|voucher|gutschein/u,
  /(order|item|product|user|customer|campaign|account|group|ad|line|variant)id_/u,
  /番号|数量|税(?!込|抜)|送料|電話|郵便|割引|予算/u,
];
/** Such words of a line of an order are part of its price. */
const ITEM_PRICE = /_(?:item|line)_(price|total|amount)_/u;
/** The kind or name of a channel is as good as the channel. */
const CHANNEL_NAME = /_(?:ads?_)?(channel|network|source|platform|publisher)(?:_(?:name|type|group))?_/u;
const AMOUNT = /_(value|kwota|valor|summa|kr)_|amount|betrag|montant|importe|importo|bedrag|belopp|wartosc|金額/u;
const TOTAL = /_(total|gesamt|suma|summe|grand|razem|totale|totaal|totalt)_|合計/u;

const WORDS: Readonly<Partial<Record<CanonicalColumn, Words>>> = {
  revenue: {
    whole: ITEM_PRICE,
    never: [...NUMBERS_ONLY, /_(cost|costs|spend|spent|cogs|net_payout)_|kosten|ausgaben|koszt/u],
    better: [
      [/_(sales|ventas|receita)_|revenue|umsatz|umsaetze|przychod|omzet|intakt|ricavi|売上/u, 4],
      [TOTAL, 3],
      [AMOUNT, 2],
      [/_(price|brutto|gross|paid)_|preis|preco/u, 1],
    ],
  },
  spend: {
    never: [...NUMBERS_ONLY, /_(sales|price|result|results|cogs)_|revenue|umsatz|conversion|konversion|purchase/u],
    better: [
      [/_(spend|spent)_|ausgegeben|ausgaben|depens|gasto|gastado|wydatk|wydan|広告費/u, 4],
      [/_(cost|costs|costo|coste|cout|custo)_|kosten|koszt|kostnad|費用/u, 3],
      [AMOUNT, 2],
      [TOTAL, 1],
    ],
  },
  channel: {
    whole: CHANNEL_NAME,
    never: [
      /_(ids?|sku|no|nr|type|status|state|account|group|ad|ads|adset|keyword|currency|country|city|region|device)_/u,
      /_(name|title|method|payment|ship|note|level|product|item|resource|objective|gender|age|language|locale)_$/u,
      /number|nummer|konto|gruppe|email|phone|amount|betrag|(campaign|account|group|ad)id_/u,
    ],
    better: [
      [/channel|kanal|kanał|canal|canale|kanaal|チャネル/u, 4],
      [/_(source|network|publisher|platform|medium|partner)_|quelle|netzwerk/u, 3],
      [/campaign|kampagne|campagne|kampania/u, 1],
    ],
  },
  order_id: {
    never: [
      /_(item|line|name|address|ip|url|visit|session|user|customer|kunde|klient|client|date|time|status|note)_/u,
      /_(price|cost|qty|sku|tax|vat|zip|city|total|amount)_|email|phone|shipping|betrag|discount|balance/u,
    ],
    better: [
      [/order|bestell|auftrag|commande|pedido|ordine|zamowien|transaction|invoice|receipt|rechnung|注文/u, 3],
      [/_(id|no|nr|number)_|nummer|numer/u, 1],
    ],
  },
  timestamp: {
    never: [/birth|expir|modif|updat|deliver|shipp|fulfil|cancel|refund|payout|_(due|end|ends|until)_/u],
    better: [[/order|purchase|created|paid|placed|bestell|kauf|zamowien|注文/u, 1]],
  },
  date: {
    never: [/birth|expir|modif|updat|_(due|end|ends|until)_/u],
    better: [[/_(date|day|datum|data|tag|start)_|日付/u, 1]],
  },
};

/** How well a name fits a column, 0 where it says nothing; null where it says that the column is something else. */
export function nameWeight(canonical: CanonicalColumn, name: string): number | null {
  const words = WORDS[canonical];
  if (words === undefined) return 0;
  const parted = name.replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2').replaceAll('#', ' no ');
  const plain = `_${plainName(parted)}_`;
  const judged = words.whole === undefined ? plain : plain.replace(words.whole, '_$1_');
  if (words.never.some((pattern) => pattern.test(judged))) return null;
  return words.better.reduce((sum, [pattern, weight]) => (pattern.test(judged) ? sum + weight : sum), 0);
}
