import { publicId } from '../../../platform/identifiers.ts';
import { wholeAccount, type Database } from '../../../platform/postgres/database.ts';
import type { PubSub } from '../../../platform/postgres/pub-sub.ts';
import type { Logger } from '../../../platform/telemetry/logs.ts';
import { appendProgress, isUnderWay, type RunEvent } from './run-progress.ts';
import type { RevisionRun, RunTable } from './run-table.ts';

export interface ProgressWriterServices {
  readonly database: Database;
  readonly pubSub: PubSub;
  readonly logger: Logger;
}

/**
 * Writes progress beside the work: events queue while a write is under way and go out together,
 * so that reporting never holds up the run. Each write is durable before anyone hears of it: were told events lost
 * in a crash of the database, their numbers would be given again, and a watcher would take the result for an old event.
 */
export class ProgressWriter {
  readonly #services: ProgressWriterServices;
  readonly #runs: RunTable;
  readonly #run: RevisionRun;
  #queue: RunEvent[] = [];
  #writing: Promise<void> | null = null;

  constructor(services: ProgressWriterServices, runs: RunTable, run: RevisionRun) {
    this.#services = services;
    this.#runs = runs;
    this.#run = run;
  }

  /** Queues an event; returns at once. */
  push(event: RunEvent): void {
    this.#queue.push(event);
    this.#writing ??= this.#write();
  }

  /** Resolves when everything pushed is written, or could not be. */
  async drain(): Promise<void> {
    await this.#writing;
  }

  async #write(): Promise<void> {
    const { database, pubSub, logger } = this.#services;
    while (this.#queue.length > 0) {
      const batch = this.#queue;
      this.#queue = [];
      try {
        await database.asTenant(wholeAccount(this.#run), async (em) => {
          // Nothing follows the event that ends a run.
          if (await isUnderWay(em, this.#runs, this.#run))
            await appendProgress(em, pubSub, this.#runs, this.#run, batch);
        });
      } catch (error) {
        // The work is worth more than the news of it; the result will tell everything.
        logger.warn(
          { err: error, [this.#runs.name]: publicId(this.#runs.prefix, this.#run.id), events: batch.length },
          'progress of a run could not be written',
        );
      }
    }
    this.#writing = null;
  }
}
