/** A file of the smallest shop that can be analysed: who was touched orders a day later, who came alone does not. */
export function smallestShop(day: string, dayOfOrder: string): string {
  return [
    'user_id,timestamp,channel,conversion,revenue',
    `u1,${day}T00:00:00Z,email,0,0`,
    `u1,${dayOfOrder}T00:00:00Z,,1,10`,
    `u2,${day}T00:00:00Z,direct,0,0`,
    '',
  ].join('\n');
}

export const SMALLEST_SHOP = smallestShop('2026-01-01', '2026-01-02');
