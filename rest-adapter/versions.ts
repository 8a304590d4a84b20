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

/** The version that a `SVC-API-Version` header asks for, the current one without it. @throws ProblemError `unsupported_api_version` */
export function resolveApiVersion(header: string | undefined): ApiVersion {
  const wanted = header?.trim() ?? '';
  if (wanted === '') return CURRENT_VERSION;
  if (isApiVersion(wanted)) return wanted;
  throw new ProblemError('unsupported_api_version', `SVC-API-Version must be one of ${API_VERSIONS.join(', ')}.`, { param: 'header:SVC-API-Version' });
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
