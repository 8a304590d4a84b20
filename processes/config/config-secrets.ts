/** Variables whose value must not be printed, not even in an error. */
export const SECRET_VARIABLES: ReadonlySet<string> = new Set([
  'INTERNAL_SECRET',
  'KEY_PEPPER',
  'KEY_ENCRYPTION_KEY',
  'BOOTSTRAP_TOKEN',
  'METRICS_TOKEN',
]);

/** A value as it may be printed: the password of a URL, in front of the host or among its parameters, becomes `***`. */
export function withoutPassword(value: string): string {
  if (!URL.canParse(value)) return value;
  const address = new URL(value);
  if (address.password === '' && !/[?&](password|sslpassword|sslkey)=/i.test(address.search)) return value;
  if (address.password !== '') address.password = '***';
  for (const key of new Set(address.searchParams.keys()))
    if (/password|sslkey/i.test(key)) address.searchParams.set(key, '***');
  return address.href;
}
