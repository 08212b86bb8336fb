#!/usr/bin/env node
import { checkNode } from './check-node.ts';

const refusal = checkNode(process.versions.node);
if (refusal === undefined) await import('./command-line.ts');
else {
  process.stderr.write(`${refusal}\n`);
  process.exitCode = 1;
}
