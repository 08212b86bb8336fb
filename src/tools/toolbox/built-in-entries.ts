import { builtIns, proposePlan } from '../built-ins.ts';
import type { BuiltInName, Manifest } from '../manifest/manifest.ts';
import { withAsking } from '../pause.ts';
import { createPresentation } from '../presentation/presentation.ts';
import { ONE_ATTEMPT, RETRIED, UNGATED } from './build-entry.ts';
import type { RuledEntry } from './toolbox.ts';

const EVERYWHERE = { channels: undefined, people: undefined, groups: undefined };

/** Builds the entries of the built-ins that the manifest has not switched off. */
export function builtInEntries({ agent }: Manifest): RuledEntry[] {
  const uses: ReadonlyMap<string, string> = new Map(
    Object.entries(agent.builtIns) satisfies [string | BuiltInName, string][],
  );
  const plans = agent.plans === undefined ? [] : [proposePlan];
  return [...builtIns, ...plans]
    .filter(({ name }) => uses.get(name) !== 'off')
    .map((tool) => ({
      tool:
        tool.kind === 'interrupt'
          ? withAsking(tool, () => (uses.get(tool.name) === 'requester' ? 'requester' : 'anyone'))
          : tool,
      source: 'built-in',
      execution: tool.kind === 'tool' ? RETRIED : ONE_ATTEMPT,
      behind: {},
      limits: [],
      freezes: [],
      reversible: 'yes',
      ...UNGATED,
      allows: () => true,
      notAllowed: () => undefined,
      presentation: createPresentation(tool, {}),
      rules: [],
      isListedIn: () => true,
      allow: EVERYWHERE,
    }));
}
