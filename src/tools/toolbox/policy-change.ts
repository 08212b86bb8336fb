import { hash } from 'node:crypto';
import { z } from 'zod';
import { defineTool } from '../../agent/define-tool.ts';
import { canonicalJson } from '../../agent/json.ts';
import { findPolicy, type Policy } from '../../policy/policy.ts';
import { compileApprovalRules, judgeStrictly } from '../../policy/rules.ts';
import { gate } from '../gate.ts';
import type { Manifest } from '../manifest/manifest.ts';
import { POLICY_CHANGES } from '../manifest/to-manifest.ts';
import { createPresentation, type Presentation } from '../presentation/presentation.ts';
import type { RuledEntry } from './toolbox.ts';

export const POLICY_CHANGE_TOOL = 'apply_manifest';

export const PolicyChange = z.object({
  /** The digests of the manifest that is active and of the changed one. */
  from: z.string(),
  to: z.string(),
  /** The lines of the governed part that differ. */
  diff: z.string().min(1),
});
/** A changed manifest that waits for approval. */
export type PolicyChange = Readonly<z.infer<typeof PolicyChange>>;

/** Records an approved change; `changed` if another manifest is active by now. */
export type ApproveChange = (change: PolicyChange) => Promise<'approved' | 'changed'>;

/** Computes the key of a change. It covers the lines, so that an approval of other lines is no approval. */
export function changeKey({ from, to, diff }: PolicyChange): string {
  return hash('sha256', canonicalJson({ from, to, diff }));
}

/** Names the conversation in which people are asked about a change. */
export function changeName(change: PolicyChange): string {
  return `policies-${changeKey(change).slice(0, 32)}`;
}

/** Finds a policy of a manifest, the one under which policies are changed among them. */
export function policyIn({ policies, agent }: Manifest, name: string): Policy | undefined {
  return name === POLICY_CHANGES
    ? agent.policyChanges?.policy
    : findPolicy((each) => policies.get(each), name);
}

const PERSON = /\b[UW][A-Z0-9]{6,20}\b/g;

/** Adds names to the ids of people. */
function namingPeople({ present, ...others }: Presentation): Presentation {
  return {
    ...others,
    peopleIn: (input) => [...new Set(PolicyChange.safeParse(input).data?.diff.match(PERSON))],
    present(input, names = new Map()) {
      const presented = present(input, names);
      const name = (id: string) => (names.has(id) ? `${names.get(id)} (${id})` : id);
      const fields = presented.fields.map(({ text, ...field }) => ({
        ...field,
        text: text.replace(PERSON, name),
      }));
      return { ...presented, fields };
    },
  };
}

/** Builds the entry of the tool that applies a changed manifest. No model is offered it; every call of it needs approval. */
export function changeEntries(manifest: Manifest, approve: ApproveChange | undefined): RuledEntry[] {
  if (manifest.agent.policyChanges === undefined || approve === undefined) return [];
  const tool = defineTool(
    {
      name: POLICY_CHANGE_TOOL,
      description: 'Applies a manifest.yml whose governed part has changed.',
      inputSchema: PolicyChange,
      effect: 'idempotent',
      title: () => 'Change the rules in manifest.yml',
      done: () => 'Changed the rules in manifest.yml',
      fields: ({ diff, from, to }) => ({ Changes: diff, 'Active manifest': from, 'Changed manifest': to }),
    },
    async (change, { context }) => {
      // The lines on the card are those of the two manifests; somebody may have edited them.
      if (!String(context.threadId).endsWith(changeName(change)))
        throw new Error('The lines of this change were edited, so it was not applied');
      const outcome = await approve(change);
      if (outcome === 'changed')
        throw new Error('Another manifest has become active in the meantime, so this change was not applied');
      return { applied: change.to };
    },
  );
  const rules = [{ policy: POLICY_CHANGES }];
  const compiled = compileApprovalRules(rules);
  const policyOf = (name: string) => policyIn(manifest, name);
  const judge: RuledEntry['explain'] = (input, place, now) =>
    judgeStrictly(compiled, { tool: tool.name, input, now, ...place }, policyOf);
  return [
    {
      tool: gate(tool, compiled, { policyOf }),
      source: 'built-in',
      execution: { idempotent: true, maxAttempts: 3, retryForMs: 3_600_000 },
      behind: {},
      judge: (input, place) => judge(input, place).verdict,
      explain: judge,
      allows: () => true,
      presentation: namingPeople(createPresentation(tool, {})),
      answerableBy: 'anyone',
      resolvedBy: POLICY_CHANGES,
      rules,
      isListedIn: () => true,
      limits: [],
      changeFreezes: [],
      // Nobody is offered it: the bot itself makes the call.
      allow: { channels: [], people: [], groups: undefined },
    },
  ];
}
