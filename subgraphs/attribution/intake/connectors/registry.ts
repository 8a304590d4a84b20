import { ProblemError } from '../../../../schema/problems.ts';
import { checkCredentials } from './check-credentials.ts';
import type { Connector, FetchingConnector, SourceType } from './connector.ts';
import { csvUpload } from './csv-upload/csv-upload-connector.ts';

/** What every deployment serves: one line per type. */
export const SERVED: readonly Connector[] = [csvUpload];

const CHECK_TIMEOUT_MS = 10_000;

/** The connectors of a deployment, by the type of source. */
export class Connectors {
  readonly #byType: ReadonlyMap<SourceType, Connector>;
  readonly #checkTimeoutMs: number;

  /** @param options `checkTimeoutMs`: longest check of credentials, which a request waits for; 10 s */
  constructor(connectors: readonly Connector[], { checkTimeoutMs = CHECK_TIMEOUT_MS } = {}) {
    this.#byType = new Map(connectors.map((connector) => [connector.type, connector]));
    this.#checkTimeoutMs = checkTimeoutMs;
  }

  /** @throws ProblemError `validation_error` / `unsupported_type` for a type without a connector here */
  require(type: SourceType): Connector {
    const connector = this.#byType.get(type);
    if (connector !== undefined) return connector;
    throw new ProblemError(
      'validation_error',
      `type: this deployment has no connector for ${type}; it serves ${[...this.#byType.keys()].join(', ')}.`,
      { code: 'unsupported_type', param: '/type' },
    );
  }

  /**
   * Has credentials checked where they are for.
   * @throws ProblemError `validation_error` / `credentials_rejected`; `service_unavailable` / `source_unreachable`
   */
  check(connector: FetchingConnector, credentials: unknown): Promise<void> {
    return checkCredentials(connector, credentials, this.#checkTimeoutMs);
  }
}
