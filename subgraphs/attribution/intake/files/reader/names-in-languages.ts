import type { CanonicalColumn } from '../../../../../schema/origins/canonical-columns.ts';

/** Usual names of columns in Polish, Swedish, Portuguese and Japanese, and in other languages, as people write them. */
export const NAMES_IN_LANGUAGES: Readonly<Partial<Record<CanonicalColumn, readonly string[]>>> = {
  user_id: [
    ['uid', 'Besucher-ID', 'Käufer', 'Kundennr', 'Kunden-E-Mail', 'E-Mail des Kunden'],
    ['Użytkownik', 'ID użytkownika', 'Identyfikator użytkownika', 'Klient', 'ID klienta', 'Numer klienta'],
    ['E-mail klienta', 'Email klienta', 'Adres e-mail', 'Adres e-mail klienta'],
    ['Användare', 'Användar-ID', 'Besökare', 'Besökar-ID', 'Kund', 'Kund-ID', 'Kundnummer', 'Kundnr'],
    ['E-post', 'E-postadress', 'Kundens e-post'],
    ['Usuário', 'ID do usuário', 'Utilizador', 'ID do utilizador', 'ID do cliente', 'E-mail do cliente'],
    ['顧客ID', '顧客番号', '会員ID', '会員番号', 'ユーザーID', 'メールアドレス', '顧客メールアドレス'],
  ].flat(),
  timestamp: [
    ['Data i godzina', 'Czas', 'Data zamówienia', 'Data złożenia zamówienia', 'Data zakupu', 'Data utworzenia'],
    ['Tidpunkt', 'Tidsstämpel', 'Orderdatum', 'Beställningsdatum', 'Köpdatum'],
    ['Data e hora', 'Data do pedido', 'Data da compra', 'Data da encomenda', 'Data de criação'],
    ['注文日時', '注文日', '購入日時', '購入日', '受注日時', '受注日', '日時', 'タイムスタンプ', '日付'],
  ].flat(),
  channel: [
    ['Kanał', 'Kanał marketingowy', 'Platforma'],
    ['Marknadsföringskanal', 'Canal de marketing'],
    ['チャネル', 'チャンネル', 'マーケティングチャネル', '流入経路', '媒体', 'プラットフォーム'],
  ].flat(),
  campaign: [
    ['Kampania', 'Nazwa kampanii', 'Kampanj', 'Kampanjnamn', 'Nome da campanha'],
    ['キャンペーン', 'キャンペーン名'],
  ].flat(),
  source: ['Źródło', 'Źródło ruchu', 'Källa', 'Trafikkälla', 'Origem', '参照元', 'ソース'],
  medium: ['Mídia', 'Meio', 'メディア'],
  order_id: [
    ['Bestellnr', 'Auftragsnr', 'Bestellungsnummer', 'Rechnungsnummer'],
    ['Numer zamówienia', 'Nr zamówienia', 'ID zamówienia', 'Zamówienie', 'Numer transakcji'],
    ['Ordernr', 'Beställning', 'Beställningsnummer', 'Order-nr'],
    ['Número do pedido', 'Nº do pedido', 'N do pedido', 'ID do pedido', 'Encomenda', 'Número da encomenda'],
    ['注文番号', '注文ID', '受注番号', '受注ID', '注文No'],
  ].flat(),
  revenue: [
    ['Rechnungsbetrag', 'Bestellsumme', 'Bestellbetrag', 'Gesamtsumme', 'Gesamtpreis'],
    ['Kwota brutto', 'Kwota', 'Kwota zamówienia', 'Łączna kwota', 'Wartość zamówienia', 'Wartość', 'Suma'],
    ['Przychód', 'Przychody', 'Razem'],
    ['Summa', 'Belopp', 'Totalbelopp', 'Totalsumma', 'Totalt', 'Ordervärde', 'Ordersumma', 'Intäkt', 'Intäkter'],
    ['Valor total', 'Valor do pedido', 'Total do pedido', 'Preço total', 'Faturamento', 'Faturação'],
    ['合計金額', '注文金額', '購入金額', '売上金額', '売上', '金額', '合計'],
  ].flat(),
  refunded: [
    ['Zwrot', 'Kwota zwrotu', 'Zwrócono', 'Återbetalning', 'Återbetalat', 'Återbetalt belopp'],
    ['Valor reembolsado', 'Estorno', '返金額', '返金'],
  ].flat(),
  currency: ['Waluta', '通貨', '通貨コード'],
  new_customer: ['Nowy klient', 'Ny kund', 'Novo cliente', 'Cliente novo'],
  date: ['Dzień', 'Data dnia', '日付', '日'],
  spend: [
    ['Koszt', 'Koszty', 'Koszt całkowity', 'Wydatki', 'Wydana kwota', 'Kwota wydana'],
    ['Kostnad', 'Kostnader', 'Total kostnad', 'Annonskostnad', 'Spenderat belopp', 'Utgifter'],
    ['Custo total', 'Custos', 'Despesa', 'Despesas', 'Investimento', 'Valor gasto', 'Valor usado'],
    ['費用', '広告費', '広告費用', 'コスト', '利用金額', '消化金額', '金額'],
  ].flat(),
  impressions: ['Wyświetlenia', 'Visningar', 'Exponeringar', '表示回数', 'インプレッション', 'インプレッション数'],
  clicks: ['Kliknięcia', 'Klick', 'Klickar', 'クリック', 'クリック数'],
  path: ['Ścieżka', 'Caminho', 'Percurso'],
  conversions: ['Konwersje', 'Konverteringar', 'Conversões', 'コンバージョン', 'コンバージョン数'],
  rate: ['Kurs wymiany', 'Växelkurs', 'Taxa de câmbio', '為替レート'],
};
