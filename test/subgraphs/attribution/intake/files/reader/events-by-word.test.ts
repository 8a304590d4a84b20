import { CSV, NDJSON, readContent } from '../read-content.ts';

const read = (lines: readonly string[], wishes = {}) => readContent(lines.join('\n'), CSV, wishes);
type Rows = readonly Record<string, string | number | null>[];
const of = (table: string, rows: Rows, column: string) =>
  rows.filter((row) => row['table'] === table).map((row) => row[column]);

describe('touches and orders by turns, each told by a word', () => {
  test('are what the word says', async () => {
    const { finding, rows, refusal } = await read([
      'uid,ts,channel,event,value,order_id',
      'u1,2026-01-01T10:00:00Z,email,view,,',
      'u1,2026-01-01T11:00:00Z,paid_search,click,,',
      'u1,2026-01-01T12:00:00Z,,purchase,49.9,R1',
      'u2,2026-01-01T12:00:00Z,email,add_to_cart,10,',
      'u2,2026-01-01T12:30:00Z,email,Purchase,20,R2',
      'u2,2026-01-03T12:30:00Z,,refund,5,R2',
      'u2,2026-01-03T13:30:00Z,,view,,',
    ]);
    expect(refusal).toBeUndefined();
    expect(of('touchpoints', rows, 'channel')).toEqual(['email', 'paid_search']);
    expect(of('touchpoints', rows, 'event_type')).toEqual(['view', 'click']);
    expect(of('conversions', rows, 'revenue')).toEqual([49.9, 20]);
    expect(of('conversions', rows, 'conversion_event')).toEqual(['purchase', 'purchase']);
    expect(of('refunds', rows, 'revenue')).toEqual([-5]);
    // What is put into a cart, and a view that tells no origin, is neither.
    expect(finding).toMatchObject({ kind: 'events', accepted: 5, rejected: 0, skipped: 2 });
  });

  test.each([
    ['Kunde;Zeitpunkt;Kanal;Ereignis;Umsatz;Bestellnummer', 'Klick', 'Kauf'],
    ['client;horodatage;canal;type;montant;numero_de_commande', 'visite', 'Achat'],
    ['usuario;fecha_hora;canal;evento;importe;pedido', 'clic', 'compra'],
    ['utente;data_e_ora;canale;tipo;importo;ordine', 'visita', 'acquisto'],
    ['klant;tijdstip;kanaal;gebeurtenis;bedrag;bestelnummer', 'bezoek', 'aankoop'],
    ['user_id;timestamp;channel;type;revenue;order_id', '閲覧', '購入'],
    ['user_id;timestamp;channel;event_type;revenue;order_id', 'page_view', 'Order Completed'],
  ])('in "%s"', async (header, touch, order) => {
    const { finding, rows, refusal } = await read([
      header,
      `u1;2026-01-01T10:00:00Z;email;${touch};;`,
      `u1;2026-01-02T10:00:00Z;;${order};10;R1`,
    ]);
    expect(refusal).toBeUndefined();
    expect(finding).toMatchObject({ kind: 'events', touchpoints: 1, conversions: 1, rejected: 0 });
    expect(of('conversions', rows, 'revenue')).toEqual([10]);
  });

  test('without order ids, and in JSON', async () => {
    const events = [
      { uid: 'u1', ts: '2026-01-01T10:00:00Z', channel: 'email', action: 'open' },
      { uid: 'u1', ts: '2026-01-01T11:00:00Z', channel: '', action: 'bought', value: 12.5 },
    ];
    const content = events.map((event) => JSON.stringify({ value: null, ...event })).join('\n');
    const { finding } = await readContent(content, NDJSON);
    expect(finding).toMatchObject({ kind: 'events', touchpoints: 1, conversions: 1, rejected: 0 });
  });

  test('a word that nobody knows is an order where one stands beside it', async () => {
    const { rows } = await read([
      'uid,ts,channel,event,value,order_id',
      'u1,2026-01-01T10:00:00Z,email,click,,',
      'u1,2026-01-02T10:00:00Z,,gekocht!!,9,R1',
      'u1,2026-01-02T10:00:00Z,email,blink,,',
    ]);
    expect(of('conversions', rows, 'revenue')).toEqual([9]);
    expect(of('touchpoints', rows, 'channel')).toEqual(['email']);
  });
});

test.each([
  [
    'orders with a type',
    ['order_id,user_id,timestamp,revenue,type,channel', 'R1,u,2026-01-01,5,online,email'],
    'conversions',
  ],
  ['touches with a type', ['user_id,timestamp,channel,event_type', 'u,2026-01-01,email,click'], 'touchpoints'],
  [
    'a flag that says so',
    ['user_id,timestamp,channel,event_type,conversion,order_id,revenue', 'u,2026-01-01,email,click,1,R1,5'],
    'events',
  ],
])('%s are what they were', async (_, lines, kind) => {
  const { finding } = await read(lines);
  expect(finding).toMatchObject({ kind, accepted: 1 });
});
