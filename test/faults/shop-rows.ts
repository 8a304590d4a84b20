import { seededRandom } from '../../compute/numerics/random.ts';

const DAY_MS = 86_400_000;

export interface RowsRequest {
  readonly users: number;
  readonly channels: number;
  readonly touches: number;
  /** Every seed makes users of its own. */
  readonly seed: number;
}

/** A file of events, and how much of what stands in it. */
export interface ShopRows {
  readonly csv: string;
  readonly touchpoints: number;
  readonly conversions: number;
}

export const HEADER = 'user_id,timestamp,channel,campaign,cost,conversion,revenue\n';

/** The last 60 days, which every row of {@link shopRows} falls into. */
export function recentDays(now: Date = new Date()): readonly [string, string] {
  return [dayOf(now.getTime() - 60 * DAY_MS), dayOf(now.getTime() - DAY_MS)];
}

/** Touchpoints and purchases of the last weeks, the same for the same seed and day. */
export function shopRows({ users, channels, touches, seed }: RowsRequest, now: Date = new Date()): ShopRows {
  const random = seededRandom(seed);
  const startMs = Date.parse(recentDays(now)[0]);
  const rows: string[] = [];
  let conversions = 0;
  for (let user = 0; user < users; user += 1) {
    let timeMs = startMs + random() * 25 * DAY_MS;
    for (let touch = 0; touch < touches; touch += 1) {
      timeMs += random() * (30 / touches) * DAY_MS + 1;
      rows.push(
        `s${seed}u${user},${new Date(timeMs).toISOString()},channel-${Math.floor(random() * channels)},spring,0.10,0,`,
      );
    }
    if (random() < 0.3) {
      conversions += 1;
      const revenue = (20 + 80 * random()).toFixed(2);
      rows.push(`s${seed}u${user},${new Date(timeMs + 600_000).toISOString()},channel-0,spring,0,1,${revenue}`);
    }
  }
  return { csv: `${HEADER}${rows.join('\n')}\n`, touchpoints: users * touches, conversions };
}

function dayOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}
