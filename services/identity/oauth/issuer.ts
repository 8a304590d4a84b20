/** The issuer identifier (RFC 8414 §2): the public address without `/v1`. */
export function issuerOf(publicBaseUrl: string): string {
  return publicBaseUrl.replace(/\/v1$/, '');
}

/** The paths below the issuer that tokens open (RFC 9728): everything, the REST interface, and MCP. */
const RESOURCE_PATHS = ['', '/v1', '/mcp'];

/** Whether a `resource` parameter (RFC 8707 §2) names this service; a final slash makes no difference. */
export function isResource(resource: string, publicBaseUrl: string): boolean {
  return RESOURCE_PATHS.some((path) => resource.replace(/\/$/, '') === `${issuerOf(publicBaseUrl)}${path}`);
}
