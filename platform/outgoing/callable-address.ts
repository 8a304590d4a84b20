import { RefusedAddressError } from './address-rules.ts';
import { CallFailedError, type Caller } from './caller.ts';
import { ProblemError } from '../../schema/problems.ts';

/**
 * Checks an address that a customer wants to be called at; its name is looked up.
 * @param param JSON Pointer of the member that holds it
 * @throws ProblemError `validation_error` with code `refused_address`, or `unknown_host` for a name without an address
 */
export async function assertCallableAddress(
  outgoing: Pick<Caller, 'assertCallable'>,
  url: string,
  param: string,
  status: 400 | 422,
): Promise<void> {
  try {
    await outgoing.assertCallable(url);
  } catch (error) {
    const [code, message] = faultOf(error);
    throw new ProblemError('validation_error', `${param.slice(1)}: ${message}`, {
      code,
      param,
      errors: [{ param, code, message }],
      status,
    });
  }
}

function faultOf(error: unknown): [code: string, message: string] {
  if (error instanceof RefusedAddressError) return ['refused_address', error.message];
  // What the resolver says may name what is inside.
  if (error instanceof CallFailedError) return ['unknown_host', 'names a host that has no address'];
  throw error;
}
