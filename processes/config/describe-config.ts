import type { Config } from './config.ts';
import type { RateLimits } from '../../services/identity/limits/rate-limits.ts';
import { SECRET_VARIABLES, withoutPassword } from './config-secrets.ts';
import type { TrustWeights } from '../../schema/trust-envelope.ts';

/** Settings whose variable has another name than their own in capitals. */
const NAMED_OTHERWISE: Readonly<Record<string, string>> = {
  role: 'LIFTGRAPH_ROLE',
  dataDir: 'LIFTGRAPH_DATA_DIR',
  retiredApiVersions: 'API_VERSIONS_RETIRED',
};

/** The configuration in force as `VARIABLE = value` lines, each as the environment would set it, without any secret. */
export function describeConfig({ subgraphUrls, ...settings }: Config): string[] {
  const subgraphs = Object.entries(subgraphUrls).map(
    ([subgraph, url]) => [`SUBGRAPH_${subgraph.toUpperCase()}_URL`, url] as const,
  );
  const others = Object.entries(settings).map(
    ([name, value]) => [NAMED_OTHERWISE[name] ?? inCapitals(name), value] as const,
  );
  return [...others, ...subgraphs].map(([variable, value]) => `${variable} = ${described(variable, value)}`);
}

function inCapitals(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

function described(variable: string, value: unknown): string {
  if (value === undefined) return '(not set)';
  if (SECRET_VARIABLES.has(variable)) return '(set, hidden)';
  if (variable === 'TRUST_WEIGHTS')
    return Object.entries(value as TrustWeights)
      .map(([component, weight]) => `${component}=${weight}`)
      .join(',');
  if (variable === 'RATE_LIMITS')
    return Object.entries(value as RateLimits)
      .map(([rateClass, { perMinute, perDay }]) => `${rateClass}=${perMinute}${perDay === null ? '' : `/${perDay}`}`)
      .join(',');
  if (Array.isArray(value)) return value.length === 0 ? '(none)' : value.join(',');
  return typeof value === 'string' ? withoutPassword(value) : String(value);
}
