import type { Config } from '../config/config.ts';
import type { Logger } from '../../platform/telemetry/logs.ts';
import { MetricsDoor } from '../../platform/telemetry/metrics-door.ts';
import { newRequestId } from '../../platform/identifiers.ts';
import { parserProblem, problemMessage } from '../../rest-adapter/edge.ts';
import type { BackingServices } from '../backing-services.ts';
import { ConnectionMetrics } from '../connection-metrics.ts';
import { listen, type ListeningServer } from '../http-server.ts';
import { metricsListener } from '../metrics-listener.ts';
import { openOutgoing } from '../outgoing.ts';
import { openExternalServices } from '../external-services.ts';
import type { Running } from '../running.ts';
import { startWorker } from '../worker.ts';

/**
 * A worker as a process of its own: takes jobs, answers nobody but those who ask for its metrics, where it is told to.
 */
export async function startWorkerRole(config: Config, logger: Logger): Promise<Running> {
  const backing = await openExternalServices(config, logger);
  const outgoing = openOutgoing(config);
  const worker = await startWorker({
    backing,
    config,
    keyEncryptionKey: config.keyEncryptionKey!,
    outgoing,
    logger,
    clock: () => new Date(),
  });
  const { metricsPort } = config;
  const metrics = metricsPort === undefined ? undefined : await serveMetrics(config, metricsPort, backing);
  return {
    welcome: [
      `Liftgraph worker is up: ${config.jobConcurrency} jobs at a time on ${config.computeThreads} threads`,
      ...(metrics === undefined ? [] : [`  Metrics    http://${config.host}:${metrics.port}/metrics`]),
    ],
    async stop() {
      await metrics?.drain(0);
      await worker.close();
      await outgoing.close();
      await backing.close();
    },
  };
}

/** @throws ListenError */
function serveMetrics(config: Config, port: number, { registry }: BackingServices): Promise<ListeningServer> {
  const { host, metricsToken, publicBaseUrl, connectionsMax: max, connectionsMaxPerAddress: maxPerAddress } = config;
  const door = new MetricsDoor({ registry, token: metricsToken, publicBaseUrl });
  return listen({
    host,
    port,
    handler: metricsListener(door, publicBaseUrl, (_request, response) => response.writeHead(404).end()),
    limits: { max, maxPerAddress },
    refusal: (code) => problemMessage(parserProblem(code), newRequestId(), publicBaseUrl),
    metrics: new ConnectionMetrics(registry),
  });
}
