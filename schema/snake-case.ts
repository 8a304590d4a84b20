/** `totalDeltaRCents` → `total_delta_r_cents`. */
export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`);
}
