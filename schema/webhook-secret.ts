/** Beginning of the secrets that Standard Webhooks generates. */
export const GENERATED_PREFIX = 'whsec_';

/** Whether a secret is of the kind that Standard Webhooks generates: the prefix, and base64 behind it. */
export function isGeneratedKind(secret: string): boolean {
  return secret.startsWith(GENERATED_PREFIX);
}

/** Whether what is behind `whsec_` is base64 that a library can decode; any other secret is taken as it is. */
export function isUsableSecret(secret: string): boolean {
  return (
    !isGeneratedKind(secret) ||
    /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(secret.slice(GENERATED_PREFIX.length))
  );
}
