/** A row of a file, by its columns. */
export type PlantedRow = Readonly<Record<string, string | number>>;

/** The files of a shop. */
export interface PlantedShop {
  readonly touches: readonly PlantedRow[];
  readonly orders: readonly PlantedRow[];
  readonly spend: readonly PlantedRow[];
}

export const PLANTED_RANGE = ['2026-01-01', '2026-01-28'] as const;
const DAYS = 28;
const CHANNELS = ['meta_ads', 'google_ads', 'email', 'direct', 'organic_search'] as const;
const CAMPAIGNS: Readonly<Record<string, string>> = { meta_ads: 'spring', google_ads: 'shopping', email: 'weekly' };

const at = (day: number, second: number): string =>
  new Date(Date.UTC(2026, 0, 1 + day, 8) + second * 1000).toISOString();

/** A small shop that nothing is wrong with: four weeks, 168 buyers, each with touches before each order. */
export function plantedShop(): PlantedShop {
  const orders = Array.from({ length: 336 }, (_, place) => ({
    order_id: `o${place}`,
    user_id: `u${place % 168}`,
    timestamp: at(Math.floor(place / 12), 20_000 + 61 * place),
    // One was refunded in full.
    revenue: place === 100 ? 0 : 20 + ((place * 37) % 180),
    currency: 'USD',
  }));
  const touches = Array.from({ length: 2_016 }, (_, place) => {
    const channel = CHANNELS[(place * 7 + Math.floor(place / 11)) % CHANNELS.length]!;
    return {
      user_id: `u${(place * 7) % 240}`,
      timestamp: at(place % DAYS, 17 * Math.floor(place / DAYS)),
      channel,
      campaign: CAMPAIGNS[channel] ?? '',
    };
  });
  const spend = Array.from({ length: DAYS * 3 }, (_, place) => ({
    date: at(Math.floor(place / 3), 0).slice(0, 10),
    channel: CHANNELS[place % 3]!,
    campaign: CAMPAIGNS[CHANNELS[place % 3]!]!,
    spend: [40, 30, 2][place % 3]!,
  }));
  return { touches, orders, spend };
}

/** Rows as a CSV file has them. */
export function csvOf(rows: readonly PlantedRow[]): string {
  const columns = Object.keys(rows[0]!);
  const cell = (value: string | number | undefined): string => `"${String(value ?? '').replaceAll('"', '""')}"`;
  return [columns.join(','), ...rows.map((row) => columns.map((name) => cell(row[name])).join(',')), ''].join('\n');
}

/** The shop with other rows of a kind. */
export function withRows(
  kind: keyof PlantedShop,
  change: (row: PlantedRow, place: number) => PlantedRow | readonly PlantedRow[],
): PlantedShop {
  const shop = plantedShop();
  return { ...shop, [kind]: shop[kind].flatMap((row, place) => change(row, place)) };
}
