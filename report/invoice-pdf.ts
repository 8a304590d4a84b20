import { createRequire } from 'node:module';
import { buffer } from 'node:stream/consumers';
import PDFDocument from 'pdfkit';

/** An invoice in REST's form, as far as a page shows it. */
export interface PrintedInvoice {
  readonly invoice_id: string;
  readonly period: string;
  readonly currency: string;
  readonly status: string;
  readonly billed_to: string | null;
  readonly analyses_count: number;
  readonly platform_fee_cents: number;
  readonly floor_fee_cents: number;
  readonly plan_fee_cents: number;
  readonly total_billed_cents: number;
  readonly created_at: string;
  readonly due_date: string;
  readonly settled_at: string | null;
}

const require = createRequire(import.meta.url);
/** Latin, Greek, Cyrillic, Armenian, Georgian, Arabic and Hebrew letters; what it lacks is shown as a box. */
const FONT = require.resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf');
const BOLD = require.resolve('dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf');

const MARGIN = 64;
const A4 = { width: 595.28, height: 841.89 };
const RIGHT = A4.width - MARGIN;
const SOFT = '#5a6775';
const LINE = '#dfe5ea';

/**
 * An invoice as one page of A4.
 * @param issuer who asks for the money: the address of the service
 */
export async function invoicePdf(invoice: PrintedInvoice, issuer: string): Promise<Buffer> {
  const { invoice_id: id, created_at: createdAt } = invoice;
  const page = new PDFDocument({
    size: 'A4',
    margin: MARGIN,
    font: FONT,
    lang: 'en',
    info: { Title: `Invoice ${id}`, Author: issuer, CreationDate: new Date(createdAt) },
  });
  const written = buffer(page);
  page.font(BOLD).fontSize(20).text('Invoice', MARGIN, MARGIN);
  page.font(FONT).fontSize(10).fillColor(SOFT).text(id).fillColor('black').moveDown(1.5);
  for (const [name, value] of [
    ['From', issuer],
    ['Billed to', invoice.billed_to ?? '–'],
    ['Month', `${invoice.period} (UTC)`],
    ['Made on', createdAt.slice(0, 10)],
    ['Due by', invoice.due_date],
    ['Status', statusOf(invoice)],
  ] as const)
    row(page, name, value);
  page.moveDown(1.5);
  for (const [name, cents] of [
    [`Share of recovered revenue (${invoice.analyses_count} analyses in all)`, invoice.platform_fee_cents],
    ['Analyses at the least fee', invoice.floor_fee_cents],
    ['Plans', invoice.plan_fee_cents],
  ] as const)
    amount(page, name, cents, invoice.currency);
  page.moveDown(0.3).moveTo(MARGIN, page.y).lineTo(RIGHT, page.y).strokeColor(LINE).stroke().moveDown(0.5);
  page.font(BOLD);
  amount(page, 'Total', invoice.total_billed_cents, invoice.currency);
  page.end();
  return written;
}

function row(page: PDFKit.PDFDocument, name: string, value: string): void {
  const { y } = page;
  page.fillColor(SOFT).text(name, MARGIN, y, { width: 90 });
  page.fillColor('black').text(value, MARGIN + 100, y, { width: RIGHT - MARGIN - 100 });
  page.moveDown(0.2);
}

function amount(page: PDFKit.PDFDocument, name: string, cents: number, currency: string): void {
  const { y } = page;
  page.text(name, MARGIN, y, { width: 330 });
  page.text(`${inUnits(cents)} ${currency}`, MARGIN + 330, y, { width: RIGHT - MARGIN - 330, align: 'right' });
  page.moveDown(0.3);
}

/** `1,234.50`, by whole cents: no binary fraction decides one. */
export function inUnits(cents: number): string {
  const whole = BigInt(cents);
  const units = (whole / 100n).toString().replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
  return `${units}.${(whole % 100n).toString().padStart(2, '0')}`;
}

function statusOf({ status, settled_at: settledAt }: PrintedInvoice): string {
  const told = status.replace('_', ' ');
  return settledAt === null ? told : `${told} on ${settledAt.slice(0, 10)}`;
}
