import { checkNode } from './check-node.ts';

const refusal = checkNode(process.versions.node);
if (refusal === undefined) await import('./run-process.ts');
else {
  process.stderr.write(`${refusal}\n`);
  process.exitCode = 1;
}
