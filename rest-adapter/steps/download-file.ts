import { Readable } from 'node:stream';
import type { Step } from '../call.ts';
import { DOWNLOAD_MEDIA_TYPES } from '../download-media.ts';
import { execute } from '../graph.ts';
import { atReadersPace } from '../readers-pace.ts';
import { whileAdmitted } from '../while-admitted.ts';

/**
 * Asks the graph whether there is something to download and how far it can be trusted, and the export port for the
 * bytes.
 */
export const downloadFile: Step = {
  name: 'download-file',
  problems: [],
  async run(call) {
    const { operation, request, door, http } = call;
    const data = await execute(call, operation.document!, operation.variables(request));
    const resource = operation.present(data, request, door.config.publicBaseUrl)!;
    const asked = operation.download!.asked(request.query);
    const over = new AbortController();
    http.res.once('close', () => over.abort());
    // Whoever left meanwhile does not leave again.
    if (http.res.destroyed) over.abort();
    const file = await door.exportAttribution(call.context, String(resource['id']), {
      ...asked,
      signal: over.signal,
    });
    const cut = (): void => {
      call.logger.info('a download was cut: its reader is too slow');
      http.res.destroy();
    };
    call.answer = {
      status: operation.success.status,
      mediaType: DOWNLOAD_MEDIA_TYPES[asked.format],
      body: Readable.from(atReadersPace(whileAdmitted(call, file.body), cut, door.config.slowestReader), {
        objectMode: false,
      }),
      trust: resource['trust'],
      headers: { 'Content-Disposition': `attachment; filename="${file.fileName}"` },
    };
  },
};
