import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toJson } from '../../../src/agent/json.ts';
import { parseManifest } from '../../../src/tools/manifest/parse.ts';
import { formatProblem } from '../../../src/tools/manifest/problem.ts';
import { Secrets } from '../../../src/tools/secrets.ts';
import { openToolbox } from '../../../src/tools/toolbox/open-toolbox.ts';
import { countFor } from '../../support/count-for.ts';
import { allow, call, manifestFor, PEOPLE, policy, rule } from './arbitraries.ts';
import { type ReferenceCall, type ReferenceVerdict, referenceVerdict } from './reference.ts';
import { isEnough } from './reference-approvals.ts';
import { runOnce } from './support.ts';

const MEMBERS = new Map([
  ['S0APPROVE1', PEOPLE.slice(0, 3)],
  ['S0FINANCE1', PEOPLE.slice(1)],
]);
const RUNS = countFor('GATE_REFERENCE', { quick: 60, full: 800 });

test(`for ${RUNS} random manifests the gate does with a call what the plain reference says`, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(rule, { maxLength: 4 }),
      fc.tuple(policy, policy, policy),
      allow,
      fc.array(call, { minLength: 1, maxLength: 4 }),
      async (rules, [first, one, two], allowed, calls) => {
        const policies = new Map([
          ['default', first],
          ['one', one],
          ['two', two],
        ]);
        const text = manifestFor(rules, policies, allowed);
        const parsed = parseManifest(text, { file: 'manifest.yml', environment: {} });
        // A condition that can never be true is refused.
        if (!parsed.ok && parsed.problems.every(({ message }) => /can never be/.test(message))) return;
        if (!parsed.ok) throw new Error(parsed.problems.map(formatProblem).join('\n'));
        const log = { info: () => {}, warn: () => {} };
        const toolbox = await openToolbox(parsed.manifest, { folder: '.', secrets: new Secrets(), log });
        for (const given of calls) {
          const expected = referenceVerdict({ rules, allow: allowed }, given);
          const found = await gateVerdict(toolbox, given);
          if (typeof expected === 'string' || typeof found === 'string') expect(found).toEqual(expected);
          else {
            expect(expected.ask).toEqual(expect.arrayContaining([...found.ask]));
            const needed = toolbox.policy(found.ask.join(' + '));
            // Approvals that are enough for the bot are enough under each policy that a rule asks.
            for (const people of subsets(PEOPLE))
              if (isEnough(needed, given, people, MEMBERS))
                for (const name of expected.ask)
                  expect(isEnough(policies.get(name), given, people, MEMBERS)).toBe(true);
          }
        }
        await toolbox.close();
      },
    ),
    { numRuns: RUNS },
  );
});

function subsets(people: readonly string[]): readonly (readonly string[])[] {
  const [first, ...others] = people;
  if (first === undefined) return [[]];
  return subsets(others).flatMap((rest) => [rest, [first, ...rest]]);
}

type Toolbox = Awaited<ReturnType<typeof openToolbox>>;

/** Sends a call through the gate, with its function replaced so that nothing is sent. */
async function gateVerdict(toolbox: Toolbox, given: ReferenceCall): Promise<ReferenceVerdict> {
  const tool = toolbox.find(given.tool)?.tool;
  if (tool?.kind !== 'tool' || tool.admit === undefined) throw new Error('The tool has no gate');
  const { requesters, contextAuthors, channel } = given;
  const { admit } = tool;
  const harmless = {
    ...tool,
    inputSchema: { ...tool.inputSchema },
    admit: async (input: unknown, helpers: Parameters<typeof admit>[1]) => {
      await admit(input, helpers);
      return () => 'ran';
    },
  };
  const context = { requester: requesters[0], requesters, contextAuthors, channel, threadId: 'T1' };
  const part = await runOnce(harmless, toJson(given.input), { context });
  if ('interrupt' in part) {
    const approval = part.interrupt.metadata?.approval as { policy: string } | undefined;
    return { ask: (approval?.policy ?? '').split(' + ') };
  }
  return part.status === 'denied' ? 'deny' : 'run';
}
