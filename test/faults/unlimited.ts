/**
 * Environment of a service on which nobody is limited in how often to call: limits would answer in everyone's place.
 */
export const UNLIMITED = {
  RATE_LIMITS: ['discovery', 'self_hosted', 'register', 'standard', 'oauth', 'sandbox']
    .map((name) => `${name}=999999999`)
    .join(','),
} as const;
