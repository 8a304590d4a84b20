import { Counter, Gauge, type Registry } from 'prom-client';
import { ProblemError } from '../../../schema/problems.ts';
import type { Admission } from './admission.ts';

/** Counts, beside an admission, whom it refuses and which streams it has let in. */
export class AdmissionMetrics {
  readonly #refusals: Counter<'reason'>;
  readonly #streams: Gauge;

  constructor(registry: Registry) {
    this.#refusals = new Counter({
      name: 'liftgraph_admission_refusals_total',
      help:
        'Requests and streams that were not let in, by error type; overloaded and concurrency are told apart ' +
        'from the other reasons of their types.',
      labelNames: ['reason'],
      registers: [registry],
    });
    this.#streams = new Gauge({
      name: 'liftgraph_streams_open',
      help: 'Event streams and subscriptions that clients have open.',
      registers: [registry],
    });
  }

  /** The same admission, with what it refuses counted. */
  metered(admission: Admission): Admission {
    return {
      refuseWhenOverloaded: (authorization) => this.#refusing(() => admission.refuseWhenOverloaded(authorization)),
      arrive: (authorization) => admission.arrive(authorization),
      admit: (arrival) => this.#counted(admission.admit(arrival)),
      authenticate: (arrival) => this.#counted(admission.authenticate(arrival)),
      enterWorkspace: (principal, workspaceId) => this.#counted(admission.enterWorkspace(principal, workspaceId)),
      countStranger: (rateClass, subject, arrival) =>
        this.#counted(admission.countStranger(rateClass, subject, arrival)),
      consumeNonce: (principal, clientAddress, nonce) =>
        this.#counted(admission.consumeNonce(principal, clientAddress, nonce)),
      whenEnded: (credential, ended) => admission.whenEnded(credential, ended),
      noticeRefusal: (problem, admitted, arrival) => admission.noticeRefusal(problem, admitted, arrival),
      openStream: (credential) => this.#held(this.#refusing(() => admission.openStream(credential))),
    };
  }

  #refusing<T>(check: () => T): T {
    try {
      return check();
    } catch (error) {
      this.#count(error);
      throw error;
    }
  }

  #counted<T>(asked: Promise<T>): Promise<T> {
    return asked.catch((error: unknown) => {
      this.#count(error);
      throw error;
    });
  }

  #held(close: () => void): () => void {
    this.#streams.inc();
    let isOpen = true;
    return () => {
      if (isOpen) this.#streams.dec();
      isOpen = false;
      close();
    };
  }

  #count(error: unknown): void {
    const {
      type,
      problem: { code = '' },
    } = error instanceof ProblemError ? error : new ProblemError('internal_error', '');
    this.#refusals.inc({ reason: code === 'overloaded' || code === 'concurrency' ? code : type });
  }
}
