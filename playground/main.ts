import { checkNode } from '../src/check-node.ts';

const refusal = checkNode(process.versions.node, 'The playground');
if (refusal === undefined) {
  // Only now: what an older Node cannot even load must not hide the sentence.
  const { runPlayground } = await import('./run-playground.ts');
  await runPlayground(process.argv.slice(2));
} else {
  process.stderr.write(`${refusal}\n`);
  process.exitCode = 1;
}
