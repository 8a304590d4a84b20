/** Whether a request's `Host` is that of the sandbox's base URL; never without one. */
export function isSandboxHost(sandboxBaseUrl: string | undefined, host: string | undefined): boolean {
  if (sandboxBaseUrl === undefined || host === undefined) return false;
  const sandbox = new URL(sandboxBaseUrl);
  // A default port may be written out or not.
  return URL.canParse(`${sandbox.protocol}//${host}`) && new URL(`${sandbox.protocol}//${host}`).host === sandbox.host;
}
