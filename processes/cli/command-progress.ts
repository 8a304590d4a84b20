/** How a command tells its user what it is doing. */
export interface CommandProgress {
  /** `fraction` of the whole command in [0, 1], and what is being done. */
  at(fraction: number, message: string): void;
  /** Something worth keeping on the screen. */
  note(message: string): void;
  /** Removes whatever moves. */
  end(): void;
}

/**
 * A bar on a terminal, plain lines elsewhere; both on `stream`, which is standard error so that standard output holds
 * the result alone.
 */
export async function commandProgress(stream: NodeJS.WriteStream): Promise<CommandProgress> {
  return stream.isTTY ? barProgress(stream) : lineProgress(stream);
}

async function barProgress(stream: NodeJS.WriteStream): Promise<CommandProgress> {
  const { default: cliProgress } = await import('cli-progress');
  const bar = new cliProgress.SingleBar({
    stream,
    format: '{bar} {percentage} %  {message}',
    barCompleteChar: '█',
    barIncompleteChar: '░',
    barsize: 24,
    hideCursor: true,
    clearOnComplete: true,
    stopOnComplete: false,
    linewrap: false,
    gracefulExit: false,
  });
  let running = false;
  const end = (): void => {
    if (running) bar.stop();
    running = false;
  };
  return {
    at(fraction, message) {
      if (!running) bar.start(100, 0, { message });
      running = true;
      bar.update(Math.floor(100 * fraction), { message });
    },
    note(message) {
      end();
      stream.write(`${message}\n`);
    },
    end,
  };
}

function lineProgress(stream: NodeJS.WriteStream): CommandProgress {
  let last = '';
  return {
    at(fraction, message) {
      if (message !== last) stream.write(`${String(Math.floor(100 * fraction)).padStart(3)} %  ${message}\n`);
      last = message;
    },
    note: (message) => void stream.write(`${message}\n`),
    end: () => undefined,
  };
}
