import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';

/** What a metric tells of the process that it comes from. */
export interface BuildInfo {
  readonly version: string;
  readonly role: string;
}

/**
 * Where a process counts what it does, with what Node.js tells of itself: memory, garbage collection, event loop,
 * handles. Once per process: Node.js goes on telling for as long as the process lives.
 */
export function processRegistry({ version, role }: BuildInfo): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const info = new Gauge({
    name: 'liftgraph_build_info',
    help: 'Always 1; the labels say which version runs, in which role, on which Node.js.',
    labelNames: ['version', 'role', 'node'],
    registers: [registry],
  });
  info.set({ version, role, node: process.version }, 1);
  return registry;
}
