import type { Step } from '../call.ts';
import { tellingWindows } from '../rate-headers.ts';
import { isSandboxHost } from '../sandbox-host.ts';

/** Names the workspace that a request acts in. */
export const WORKSPACE_HEADER = 'SVC-Workspace';

/** Finds out who is calling, where, and from an address that the key allows, and counts the call. */
export const authenticate: Step = {
  name: 'authenticate',
  problems: ['invalid_api_key', 'expired_api_key', 'ip_not_allowed', 'rate_limit_exceeded', 'resource_not_found'],
  async run(call, next) {
    const { http, door } = call;
    const { requestId, origin } = call;
    const arrival = {
      requestId,
      origin,
      authorization: http.get('Authorization') || undefined,
      onSandboxHost: isSandboxHost(door.config.sandboxBaseUrl, http.get('Host')),
    };
    call.admitted = await tellingWindows(http, door.admission.admit(arrival), ({ windows }) => windows);
    const { pinnedVersion } = call.admitted;
    if (pinnedVersion !== null && http.get('SVC-API-Version').trim() === '')
      call.apiVersion = call.resolveVersion(pinnedVersion);
    const workspaceId = http.get(WORKSPACE_HEADER).trim();
    if (workspaceId !== '')
      call.admitted = {
        ...call.admitted,
        principal: await door.admission.enterWorkspace(call.admitted.principal, workspaceId),
      };
    await next();
  },
};
