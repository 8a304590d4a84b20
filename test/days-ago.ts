const DAY_MS = 86_400_000;

/**
 * The UTC day this many days before today, `YYYY-MM-DD`: for services on the system's clock, whose archive ends two
 * years ago.
 */
export function daysAgo(days: number): string {
  return new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);
}
