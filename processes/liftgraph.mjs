#!/usr/bin/env node
// npx liftgraph …: the command line. Files it is given are looked up from where it was called.
import { ensureInstalled, runNode, typescript } from './bootstrap.mjs';

process.exitCode = ensureInstalled({ development: false })
  ? await runNode([...typescript('processes/cli.ts'), ...process.argv.slice(2)], { cwd: process.cwd() })
  : 1;
