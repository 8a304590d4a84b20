// What launch.mjs and liftgraph.mjs share. Plain JavaScript for whatever Node the host has, without dependencies:
// it runs before anything is installed.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const requireFromRoot = createRequire(join(root, 'package.json'));

/** The address of a file of ours, as `--import` takes it from any working directory. */
const addressOf = (path) => new URL(`../${path}`, import.meta.url).href;
/** The program of an installed package. */
export const programOf = (path) => join(root, 'node_modules', ...path.split('/'));
/**
 * Arguments that make Node run TypeScript of ours. The threads of the models collect their garbage by gc
 * (compute/worker.ts).
 */
export const typescript = (path) => [
  '--expose-gc',
  '--enable-source-maps',
  '--import',
  addressOf('processes/typescript-hook.mjs'),
  join(root, path),
];

/**
 * Installs what package-lock.json lists and node_modules lacks; looks at files only when nothing is missing.
 * Returns false when npm failed, having said why.
 */
export function ensureInstalled({ development }) {
  const missing = missingPackages(development);
  if (missing === 0 && nodeProgram() !== undefined) return true;
  console.error(
    missing > 0
      ? `Installing ${missing} packages, which takes about a minute and happens once …`
      : 'Installing the Node.js that this version is built for …',
  );
  const [program, first] = npmCommand();
  // Not `ci`: it refuses a lock file without the binaries of other platforms, and some are published for one platform
  // only. The versions are the lock file's all the same, and --no-save leaves that file as it is.
  const quietly = ['--no-save', '--no-fund', '--no-audit', '--loglevel=error'];
  // Whoever runs the service and has no tools of development needs none; once they are there, they stay.
  const without = development || hasDevelopmentTools() ? [] : ['--omit=dev'];
  const steps = missing > 0 ? [['install', ...quietly, ...without]] : [];
  for (const step of [...steps, ['rebuild', 'node', '--loglevel=error']]) {
    if (step[0] === 'rebuild' && nodeProgram() !== undefined) continue;
    const { status, error } = spawnSync(program, [...first, ...step], {
      cwd: root,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    if (status !== 0) {
      console.error(
        `npm ${step[0]} failed${error === undefined ? '' : ` (${error.message})`}: run it in ${root} to see why.`,
      );
      return false;
    }
  }
  return true;
}

/** The npm that runs us, or the one on the path: a program and its first arguments. */
export function npmCommand() {
  const npm = process.env.npm_execpath;
  return npm === undefined ? ['npm', []] : [process.execPath, [npm]];
}

function missingPackages(development) {
  const wantedFile = join(root, 'package-lock.json');
  // An installed package has no lock file: whoever installed it installed its dependencies.
  if (!existsSync(wantedFile)) return 0;
  const wanted = packagesOf(wantedFile);
  const installed = packagesOf(join(root, 'node_modules', '.package-lock.json'));
  const differs = ([path, { version, optional, devOptional, dev, link }]) => {
    if (path === '' || link) return false;
    const found = installed[path];
    // Other platforms' binaries are listed but not installed; a production installation leaves development tools out.
    if (found === undefined) return !optional && !devOptional && (development || !dev);
    return found.version !== version;
  };
  return Object.entries(wanted).filter(differs).length;
}

function hasDevelopmentTools() {
  return Object.values(packagesOf(join(root, 'node_modules', '.package-lock.json'))).some(({ dev }) => dev === true);
}

function packagesOf(lockFile) {
  return existsSync(lockFile) ? JSON.parse(readFileSync(lockFile, 'utf8')).packages : {};
}

/** The Node that we pin as a dependency, or undefined when its install script has not run. */
export function nodeProgram() {
  try {
    const program = join(
      dirname(requireFromRoot.resolve('node/package.json')),
      'bin',
      process.platform === 'win32' ? 'node.exe' : 'node',
    );
    return existsSync(program) ? program : undefined;
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

const SAME_SIGNAL_MS = 400;
const PARENT_POLL_MS = 300;
const GRACE_MS = 25_000;

/**
 * Runs the pinned Node and resolves with its exit code. The child learns of our end by the IPC channel: the system
 * closes it even when we are killed (parent-watch.ts and exit-with-parent.mjs listen).
 */
export function runNode(args, { cwd = root, ownEnd = false } = {}) {
  const watch = ownEnd ? [] : ['--import', addressOf('processes/exit-with-parent.mjs')];
  // A process group of its own: Ctrl-C in a terminal reaches everyone in the foreground group, and npm forwards it as
  // well. The child gets it from us, once.
  const child = spawn(nodeProgram(), [...watch, ...args], {
    cwd,
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    detached: true,
  });
  const lastSentMs = new Map();
  const forward = (signal) => {
    const nowMs = Date.now();
    if (nowMs - (lastSentMs.get(signal) ?? 0) > SAME_SIGNAL_MS) child.kill(signal);
    lastSentMs.set(signal, nowMs);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, forward);
  const parentWatch = watchParents(() => {
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), GRACE_MS).unref();
  });
  return new Promise((resolve) => {
    child.once('error', (error) => {
      console.error(`Node.js could not be started: ${error.message}`);
      resolve(1);
    });
    child.once('exit', (code, signal) => {
      clearInterval(parentWatch);
      resolve(code ?? 128 + constants.signals[signal]);
    });
  });
}

/**
 * Under npm our parents are npm and perhaps its shell; when npm is killed we would be left behind. Started directly,
 * outliving the parent is how daemons are made, and nobody is watched.
 */
function watchParents(onGone) {
  if (process.env.npm_lifecycle_event === undefined && process.env.npm_command === undefined) return undefined;
  const before = parents();
  const timer = setInterval(() => {
    if (parents() === before) return;
    clearInterval(timer);
    onGone();
  }, PARENT_POLL_MS);
  timer.unref();
  return timer;
}

function parents() {
  const parent = process.ppid;
  if (process.platform !== 'linux') return `${parent}`;
  try {
    // The fourth field of /proc/…/stat, counted after the name, which may contain anything.
    const stat = readFileSync(`/proc/${parent}/stat`, 'utf8');
    return `${parent} ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]}`;
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return `${parent}`;
    throw error;
  }
}
