import { inUnits, invoicePdf } from '../../report/invoice-pdf.ts';

const INVOICE = {
  invoice_id: 'inv_01JQ2m7Bv4XgL9uTcPdYsF',
  period: '2026-01',
  currency: 'EUR',
  status: 'paid',
  billed_to: 'Frühling & Söhne · Ωμέγα · Сыновья',
  analyses_count: 2,
  platform_fee_cents: 93_649,
  floor_fee_cents: 10,
  plan_fee_cents: 0,
  total_billed_cents: 93_659,
  created_at: '2026-02-01T02:00:04.000Z',
  due_date: '2026-02-15',
  settled_at: '2026-02-03T10:12:00.000Z',
};

test('amounts are whole cents to the last digit', () => {
  expect([0, 5, 10, 100, 123_456, 100_000_000, Number.MAX_SAFE_INTEGER].map(inUnits)).toEqual([
    '0.00',
    '0.05',
    '0.10',
    '1.00',
    '1,234.56',
    '1,000,000.00',
    '90,071,992,547,409.91',
  ]);
});

test('an invoice is one page with the letters that it uses in it', async () => {
  const bytes = await invoicePdf(INVOICE, 'https://api.example');
  const text = bytes.toString('latin1');
  expect(text.startsWith('%PDF-')).toBe(true);
  expect(text.match(/\/Type \/Page\b/g)).toHaveLength(1);
  expect(text).toMatch(/\/FontName \/\w+\+DejaVuSans\b/);
  // Only the glyphs that the page uses are in it.
  expect(bytes.length).toBeLessThan(100_000);
});
