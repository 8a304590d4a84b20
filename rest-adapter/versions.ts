import { ProblemError } from '../schema/problems.ts';
import { API_VERSIONS } from '../schema/value-lists.ts';

export type ApiVersion = (typeof API_VERSIONS)[number];

export const CURRENT_VERSION: ApiVersion = API_VERSIONS[0];

/** When a version became deprecated and when support ends, twelve months later. */
export interface Deprecation {
  readonly deprecatedAt: Date;
  readonly sunsetAt: Date;
}

const DEPRECATIONS: Readonly<Partial<Record<ApiVersion, Deprecation>>> = {
  '2025-08-01': { deprecatedAt: new Date('2026-02-01T00:00:00Z'), sunsetAt: new Date('2027-02-01T00:00:00Z') },
};

function isApiVersion(text: string): text is ApiVersion {
  return (API_VERSIONS as readonly string[]).includes(text);
}

/** Which versions an installation has retired. */
export interface Retirement {
  /** As configured; a version that was never deprecated, or whose sunset is still ahead, goes on all the same. */
  readonly versions: readonly string[];
  readonly now: Date;
}

const NOTHING_RETIRED: Retirement = { versions: [], now: new Date(0) };

/**
 * The version that a `SVC-API-Version` header asks for, the current one without it. A version ends when the
 * configuration says so and its sunset has passed: neither a clock nor a setting alone breaks a client.
 * @throws ProblemError `unsupported_api_version`, with code `version_retired` for one that has ended
 */
export function resolveApiVersion(header: string | undefined, retirement: Retirement = NOTHING_RETIRED): ApiVersion {
  const wanted = header?.trim() ?? '';
  if (wanted === '') return CURRENT_VERSION;
  const supported = API_VERSIONS.filter((version) => !isRetired(version, retirement));
  if ((supported as readonly string[]).includes(wanted)) return wanted as ApiVersion;
  const list = `Send one of ${supported.join(', ')}, or leave the header out for ${CURRENT_VERSION}.`;
  if (!isApiVersion(wanted))
    throw new ProblemError(
      'unsupported_api_version',
      `There is no version ${JSON.stringify(wanted.slice(0, 40))}. ${list}`,
      { param: 'header:SVC-API-Version' },
    );
  throw new ProblemError('unsupported_api_version', `Support of ${wanted} has ended. ${list}`, {
    code: 'version_retired',
    param: 'header:SVC-API-Version',
  });
}

function isRetired(version: ApiVersion, { versions, now }: Retirement): boolean {
  const sunset = DEPRECATIONS[version]?.sunsetAt;
  return sunset !== undefined && sunset <= now && versions.includes(version);
}

/** When a version was deprecated and until when it is supported; undefined for the others. */
export function deprecationOf(version: string): Deprecation | undefined {
  return isApiVersion(version) ? DEPRECATIONS[version] : undefined;
}

/** `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and `Link` of a deprecated version; empty for the others. */
export function deprecationHeaders(version: string, docsRoot: string): Record<string, string> {
  const deprecation = deprecationOf(version);
  if (deprecation === undefined) return {};
  return {
    Deprecation: `@${deprecation.deprecatedAt.getTime() / 1000}`,
    Sunset: deprecation.sunsetAt.toUTCString(),
    Link: `<${docsRoot}/docs/versions>; rel="deprecation"`,
  };
}
