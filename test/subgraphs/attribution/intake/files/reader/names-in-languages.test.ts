import {
  layoutByNames,
  type RecordLayout,
} from '../../../../../../subgraphs/attribution/intake/files/reader/record-layout.ts';
import { readContent } from '../read-content.ts';

const layoutOf = (header: string): RecordLayout | null =>
  layoutByNames(header.split(','), { mapping: {}, constants: {} });

test.each([
  ['Numer zamówienia,E-mail klienta,Data zamówienia,Kwota brutto,Status', 'conversions', 4],
  ['Nr zamówienia,Użytkownik,Data i godzina,Wartość,Waluta', 'conversions', 5],
  ['Użytkownik,Data i godzina,Kanał,Kampania', 'touchpoints', 4],
  ['Data,Kanał,Kampania,Koszt,Wyświetlenia,Kliknięcia', 'spend', 6],
  ['Besucher-ID,Zeitpunkt,Kanal', 'touchpoints', 3],
  ['Bestellnr.,Kundennummer,Bestelldatum,Rechnungsbetrag,Währung', 'conversions', 5],
  ['注文番号,メールアドレス,注文日時,合計金額,支払方法', 'conversions', 4],
  ['注文番号,顧客ID,注文日,金額', 'conversions', 4],
  ['顧客ID,日時,チャネル', 'touchpoints', 3],
  ['日付,チャネル,キャンペーン,費用,表示回数,クリック数', 'spend', 6],
  ['Ordernummer,E-post,Orderdatum,Summa', 'conversions', 4],
  ['Användare,Tidpunkt,Kanal', 'touchpoints', 3],
  ['Datum,Kanal,Kampanj,Kostnad,Visningar,Klick', 'spend', 6],
  ['Número do pedido,E-mail do cliente,Data do pedido,Valor total,Moeda', 'conversions', 5],
  ['Usuário,Data e hora,Canal,Origem', 'touchpoints', 4],
  ['Data,Canal,Campanha,Valor gasto', 'spend', 4],
  ['uid,time,channel', 'touchpoints', 3],
])('%s: %s', (header, kind, columns) => {
  const layout = layoutOf(header);
  expect(layout?.kind).toBe(kind);
  expect(layout!.forms[0]!.columns.size).toBe(columns);
  expect(layout!.certainty).toBeGreaterThan(0.9);
});

test.each([
  ['e-mail,ordernummer,datum,x\na,b,c,d\n', 'conversions', 'revenue'],
  ['id,Created,Order,Source,Currency,Amount\na,b,c,d,e,f\n', 'conversions', 'user_id'],
  ['Kanal,Kosten,Tage her\nsearch,viel,drei\n', 'spend', 'date'],
])('what is still not recognised says what the nearest kind lacks, and how to name it', async (file, kind, lacks) => {
  const { refusal } = await readContent(file);
  expect(refusal?.code).toBe('unrecognised_columns');
  expect(refusal?.message).toContain(`nearest is ${kind}, which lacks ${lacks}`);
  expect(refusal?.message).toContain(`mapping={"${lacks}":"…"}`);
  expect(refusal?.message).toContain(`--map ${lacks}=…`);
});

test('a channel that stands in no column may be said for all rows', async () => {
  const { refusal } = await readContent('Datum,Kosten\n2026-09-01,12\n2026-09-02,13\n');
  expect(refusal?.message).toContain('lacks channel');
  expect(refusal?.message).toContain('constants={"channel":"…"} (--set channel=…)');
});

test('where no column says anything, all of one kind are named', async () => {
  const { refusal } = await readContent('a,b,c\nx,y,z\n');
  expect(refusal?.message).toContain('--map user_id=… --map timestamp=…');
});
