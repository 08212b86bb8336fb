import { builtIns } from '../built-ins.ts';
import type { BuiltInName, Manifest } from '../manifest/manifest.ts';
import { holdsSecret, rememberTool } from '../memory.ts';
import { createPresentation } from '../presentation/presentation.ts';
import type { Secrets } from '../secrets.ts';
import type { RuledEntry } from './ruled-entry.ts';

const EVERYWHERE = { channels: undefined, people: undefined };
const NO_RULES = { outcome: 'run', rule: 'no rule applies' } as const;
/** The judgement of tools that need no approval. */
export const UNGATED = {
  judge: () => NO_RULES,
  explain: () => ({ verdict: NO_RULES, requester: '', steps: [] }),
};
/** The attempts of a built-in with an effect, which is idempotent. */
const RETRIED = { idempotent: true, maxAttempts: 3, retryForMs: 3_600_000 };
export const ONE_ATTEMPT = { idempotent: false, maxAttempts: 1, retryForMs: 0 };

/** Builds the entries of the built-ins that the manifest has not switched off. */
export function builtInEntries({ agent }: Manifest, secrets: Secrets): RuledEntry[] {
  const uses: ReadonlyMap<string, string> = new Map(
    Object.entries(agent.builtIns) satisfies [string | BuiltInName, string][],
  );
  const memory = agent.memory === 'channel' ? [rememberTool((text) => holdsSecret(text, secrets))] : [];
  return [...builtIns, ...memory]
    .filter(({ name }) => uses.get(name) !== 'off')
    .map((tool) => ({
      tool,
      source: 'built-in',
      execution: tool.kind === 'tool' ? RETRIED : ONE_ATTEMPT,
      behind: {},
      limits: [],
      ...UNGATED,
      allows: () => true,
      presentation: createPresentation(tool, {}),
      answerableBy: uses.get(tool.name) === 'requester' ? 'requester' : 'anyone',
      rules: [],
      isListedIn: () => true,
      allow: EVERYWHERE,
    }));
}
