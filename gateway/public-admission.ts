import type { IncomingMessage } from 'node:http';
import { addressBlock } from '../services/identity/admission/address-block.ts';
import type { Admission, Admitted } from '../services/identity/admission/admission.ts';
import type { RequestOrigin } from '../schema/principal.ts';
import { grantSandboxWishes, type SandboxWishes } from '../services/identity/admission/sandbox-wishes.ts';
import type { PublicRequest } from './public-request.ts';

export interface PublicAdmissionOptions {
  readonly admission: Admission;
  /** Where a request comes from, proxies that are believed taken into account. */
  readonly originOf: (request: IncomingMessage) => RequestOrigin;
  /** Whether the sandbox's host was addressed, which takes test keys only. */
  readonly isSandboxHost: (request: IncomingMessage) => boolean;
  /** Resolves `SVC-API-Version`. @throws ProblemError `unsupported_api_version` */
  readonly resolveApiVersion: (header: string | undefined) => string;
}

/**
 * What an operation says about itself, beside its document: headers, or what a message of a WebSocket has in their
 * place.
 */
export interface OperationHeaders {
  readonly requestId: string;
  readonly authorization: string | undefined;
  /** The request's own header when absent. */
  readonly version?: string | undefined;
  readonly workspaceId: string | undefined;
  readonly nonce: string | undefined;
  readonly idempotencyKey: string | undefined;
  readonly wishes: SandboxWishes;
}

/**
 * How operations of the public get in, over HTTP and WebSocket: version, caller, rate. Without a credential they are
 * strangers'.
 */
export function publicAdmission({ admission, originOf, isSandboxHost, resolveApiVersion }: PublicAdmissionOptions) {
  /**
   * @param onAdmitted hears who is calling, and where its windows stand, before anything else is refused
   * @throws ProblemError as {@link Admission.admit} and {@link Admission.enterWorkspace} do, `unsupported_api_version`,
   * and what a test key asked for
   */
  return async (
    http: IncomingMessage,
    said: OperationHeaders,
    onAdmitted?: (admitted: Admitted) => void,
  ): Promise<PublicRequest> => {
    const { requestId, authorization, workspaceId, nonce, idempotencyKey, wishes } = said;
    const wanted = (said.version ?? headerOf(http, 'svc-api-version'))?.trim() || undefined;
    const apiVersion = resolveApiVersion(wanted);
    const origin = originOf(http);
    const admitted =
      authorization === undefined
        ? null
        : await admission.admit({ requestId, origin, authorization, onSandboxHost: isSandboxHost(http) });
    const strangersWindows =
      admitted === null
        ? await admission.countStranger('anonymous', addressBlock(origin.clientAddress), { requestId, origin })
        : [];
    if (admitted !== null) onAdmitted?.(admitted);
    const principal =
      admitted === null || workspaceId === undefined
        ? (admitted?.principal ?? null)
        : await admission.enterWorkspace(admitted.principal, workspaceId);
    const pinned = wanted === undefined ? (admitted?.pinnedVersion ?? null) : null;
    const sandboxDelayMs = grantSandboxWishes(principal, wishes);
    const context = {
      requestId,
      principal,
      apiVersion: pinned === null ? apiVersion : resolveApiVersion(pinned),
      origin,
      ...(sandboxDelayMs === undefined ? {} : { sandboxDelayMs }),
    };
    return {
      context,
      nonce,
      idempotencyKey,
      credential: admitted?.credential ?? null,
      windows: admitted?.windows ?? strangersWindows,
      refused: false,
      missingScopes: new Set(),
    };
  };
}

export function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}
