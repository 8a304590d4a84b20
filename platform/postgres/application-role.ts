/** The role that serves requests: neither owner nor superuser, so that row level security binds it. */
export const APPLICATION_ROLE = 'liftgraph_app';

/** The two logins of the service. */
export interface DatabaseUrls {
  /** Migrates and owns the schemas. */
  readonly ownerUrl: string;
  /** Serves requests. */
  readonly applicationUrl: string;
}

/**
 * The two faces of an external server. With one login only (no owner URL, or the same user in both), requests are
 * served over connections that become {@link APPLICATION_ROLE} at start (`options=-c role=liftgraph_app`), which the
 * migrations create and grant. Give the application a login of its own where you can: it leaves nothing to become.
 */
export function externalDatabaseUrls(databaseUrl: string, databaseOwnerUrl: string = databaseUrl): DatabaseUrls {
  const application = new URL(databaseUrl);
  if (application.username !== new URL(databaseOwnerUrl).username)
    return { ownerUrl: databaseOwnerUrl, applicationUrl: databaseUrl };
  const options = application.searchParams.get('options');
  application.searchParams.set(
    'options',
    [options, `-c role=${APPLICATION_ROLE}`].filter((part) => part !== null).join(' '),
  );
  return { ownerUrl: databaseOwnerUrl, applicationUrl: application.href };
}
