import { defineTool } from '../../agent/define-tool.ts';
import { notDone } from '../../agent/errors.ts';
import type { JudgedCall } from '../../policy/condition.ts';
import { findPolicy, type Policy } from '../../policy/policy.ts';
import { compileApprovalRules, judgeStrictly } from '../../policy/rules.ts';
import { gate } from '../gate.ts';
import { changeKey, PolicyChange } from '../manifest/govern.ts';
import type { Manifest } from '../manifest/manifest.ts';
import { POLICY_CHANGES } from '../manifest/to-manifest.ts';
import { createPresentation, type Presentation } from '../presentation/presentation.ts';
import type { RuledEntry } from './toolbox.ts';

export const POLICY_CHANGE_TOOL = 'apply_manifest';

/** Records an approved change; `changed` if another manifest is active by now. */
export type ApproveChange = (change: PolicyChange) => Promise<'approved' | 'changed'>;

/** Names the Run in which people are asked about a change. */
export function changeName(change: PolicyChange): string {
  return `policies-${changeKey(change).slice(0, 32)}`;
}

/** Finds a policy of a manifest, the one under which policies are changed among them. */
export function policyIn({ policies, agent }: Manifest, name: string): Policy | undefined {
  return name === POLICY_CHANGES
    ? agent.policyChanges?.policy
    : findPolicy((each) => policies.get(each), name);
}

/** People, user groups and channels. */
const ID = /\b[UWSC][A-Z0-9]{6,20}\b/g;

/** Says in one list what changes, with names beside ids. The digests of the two manifests are for the record, and in the full view. */
function inWords({ present, ...others }: Presentation): Presentation {
  return {
    ...others,
    peopleIn: (input) => [...new Set(PolicyChange.safeParse(input).data?.diff.match(ID))],
    present(input, names = new Map()) {
      const presented = present(input, names);
      const { data } = PolicyChange.safeParse(input);
      if (data === undefined) return presented;
      const name = (id: string) => (names.has(id) ? `${names.get(id)} (${id})` : id);
      return {
        ...presented,
        fields: [{ label: 'Changes', text: changesInWords(data.diff).replace(ID, name) }],
      };
    },
  };
}

const LINE = /^([-+]) ((?:[\w.[\]-]|"(?:[^"\\]|\\.)*")+): (.*)$/;
const SECTIONS: ReadonlyMap<string, string> = new Map([
  ['policies', 'Policy'],
  ['tools', 'Tool'],
  ['limits', 'Limits'],
  ['agent', 'Agent'],
]);

/** Says what the lines of a change mean, in their order: a value that takes the place of another stands beside it. */
export function changesInWords(diff: string): string {
  const lines = diff.split('\n').map((text) => {
    const [, sign, path, value] = LINE.exec(text) ?? [];
    return { text, sign, path, value };
  });
  const found = (sign: string, path: string | undefined) =>
    lines.filter((line) => path !== undefined && line.sign === sign && line.path === path);
  return lines
    .flatMap(({ text, sign, path, value }) => {
      if (path === undefined) return [text];
      const [[before, ...moreBefore], [after, ...moreAfter]] = [found('-', path), found('+', path)];
      const isReplaced = before !== undefined && after !== undefined;
      if (isReplaced && moreBefore.length === 0 && moreAfter.length === 0) {
        if (sign === '+') return [];
        // The order counts for rules and tools.
        if (before.value === after.value) return [`Moved: ${pathInWords(path)}: ${value}`];
        return [`${pathInWords(path)}: ${before.value} → ${after.value}`];
      }
      return [`${sign === '+' ? 'Added' : 'Removed'}: ${pathInWords(path)}: ${value}`];
    })
    .map((line) => `• ${line}`)
    .join('\n');
}

/** Says where a value is: the section, the name that somebody gave, and the keys below it in words. */
function pathInWords(path: string): string {
  const [section = '', ...keys] = path.match(/"(?:[^"\\]|\\.)*"|\[\d+\]|[^.[\]"]+/g) ?? [];
  const isNamed = section === 'policies' || section === 'tools';
  const inner = keys.map((key, index) => {
    if (key.startsWith('[')) return String(Number(key.slice(1, -1)) + 1);
    return isNamed && index === 0 ? key : key.replaceAll('_', ' ');
  });
  const [first = '', ...rest] = isNamed ? inner : [inner.join(' ')];
  const lead = `${SECTIONS.get(section) ?? section}${isNamed ? ' ' : ', '}${first}`;
  return rest.length === 0 ? lead : `${lead}, ${rest.join(' ')}`;
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
    async (change, { idempotencyKey }) => {
      // The lines on the card are those of the two manifests; somebody may have edited them.
      if (idempotencyKey !== changeKey(change))
        throw notDone('The lines of this change were edited, so it was not applied');
      const outcome = await approve(change);
      if (outcome === 'changed')
        throw notDone('Another manifest has become active in the meantime, so this change was not applied');
      return { applied: change.to };
    },
  );
  const rules = [{ policy: POLICY_CHANGES, because: 'manifest.yml was changed on the server' }];
  const compiled = compileApprovalRules(rules);
  const policyOf = (name: string) => policyIn(manifest, name);
  const judge = (call: Omit<JudgedCall, 'tool'>) =>
    judgeStrictly(compiled, { tool: tool.name, ...call }, policyOf);
  return [
    {
      tool: gate(tool, compiled, { policyOf }),
      source: 'built-in',
      execution: { idempotent: true, maxAttempts: 3, retryForMs: 3_600_000 },
      behind: {},
      judge: (input, place) => judge({ input, ...place }).verdict,
      explain: async (call) => judge(call),
      allows: () => true,
      notAllowed: () => undefined,
      presentation: inWords(createPresentation(tool, {})),
      resolvedBy: POLICY_CHANGES,
      rules,
      isListedIn: () => true,
      limits: [],
      freezes: [],
      // A further change takes it back.
      reversible: 'yes',
      // Nobody is offered it: the bot itself makes the call.
      allow: { channels: [], people: [], groups: undefined },
    },
  ];
}
