import type { Environment } from '../../../schema/principal.ts';

const TEST_KEY = /^Bearer +svc_test_/i;

/** Whose data a request is about as long as nobody knows who is calling: what host and key look like. */
export function addressedEnvironment(onSandboxHost: boolean, authorization: string | undefined): Environment {
  return onSandboxHost || TEST_KEY.test(authorization ?? '') ? 'sandbox' : 'live';
}
