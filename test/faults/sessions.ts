import { Caller, type Answer } from '../house.ts';

/** What descends from one log-in by client_credentials (docs/operating/oauth.md), as its client holds it. */
export interface AcknowledgedSession {
  readonly clientId: string;
  /** Every one that was handed out: the older work on beside the newer, until all end together. */
  readonly accessTokens: string[];
  /** Those that acknowledged refreshes have used up. */
  readonly spentTokens: string[];
  refreshToken: string;
  /** A refresh token was shown twice: everything of the session is revoked. */
  hasEnded: boolean;
}

/** Says a token request as stock clients do, by a form. */
export function askForTokens(
  root: string,
  path: '/oauth/token' | '/oauth/token/refresh',
  members: Readonly<Record<string, string>>,
): Promise<Answer> {
  return new Caller(root, null).send('POST', path, new URLSearchParams(members).toString(), {
    'content-type': 'application/x-www-form-urlencoded',
  });
}

/** The request that opens a session of this agent. */
export function logIn(root: string, clientId: string, key: string): Promise<Answer> {
  return askForTokens(root, '/oauth/token', {
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: key,
  });
}

/** The request that uses a refresh token up for another pair. */
export function refresh(root: string, clientId: string, refreshToken: string): Promise<Answer> {
  return askForTokens(root, '/oauth/token/refresh', {
    grant_type: 'refresh_token',
    client_id: clientId,
    refresh_token: refreshToken,
  });
}

/** A session that has just been opened. */
export function openedSession(clientId: string, { body }: Answer): AcknowledgedSession {
  return {
    clientId,
    accessTokens: [String(body['access_token'])],
    spentTokens: [],
    refreshToken: String(body['refresh_token']),
    hasEnded: false,
  };
}

/** Notes the pair that a refresh gave. */
export function noteRefresh(session: AcknowledgedSession, { body }: Answer): void {
  session.spentTokens.push(session.refreshToken);
  session.refreshToken = String(body['refresh_token']);
  session.accessTokens.push(String(body['access_token']));
}

/** Whether a token request was refused because of its refresh token (RFC 6749 §5.2). */
export function isRefusedRefresh({ status, body }: Answer): boolean {
  return status === 401 && (body['error'] as unknown) === 'invalid_grant';
}

/**
 * Compares a session with what was acknowledged of it. Whether a token was used up shows only when it is used again,
 * which ends the session: it is told so, and checked as an ended one from then on.
 */
export async function brokenSession(root: string, session: AcknowledgedSession): Promise<string[]> {
  const broken: string[] = [];
  const checkAccess = async (wanted: number, kind: string): Promise<void> => {
    for (const token of session.accessTokens) {
      const { status } = await new Caller(root, token).get('/data-sources');
      if (status !== wanted) broken.push(`an access token of ${kind} session is answered with ${status}`);
    }
  };
  if (!session.hasEnded) {
    await checkAccess(200, 'a living');
    for (const token of session.spentTokens) {
      const again = await refresh(root, session.clientId, token);
      if (!isRefusedRefresh(again)) broken.push(`a refresh token that was used up is answered with ${again.status}`);
      session.hasEnded = true;
    }
  }
  if (session.hasEnded) await checkAccess(401, 'an ended');
  return broken;
}
