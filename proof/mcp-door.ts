import { differencesOf, reasonFor } from '../conformance/door/exceptions.ts';
import { runDoorScenarios } from '../conformance/door/scenarios.ts';
import { fail, newTally, type Suite } from './suite.ts';

/** The scenarios that the revision requires of a server, and those of the tasks extension; docs/evidence/conformance.md has one line for each. */
export const mcpDoor: Suite = {
  name: 'MCP conformance, server (the door), 2026-07-28 with tasks',
  source: '`@modelcontextprotocol/conformance` 0.2.0-alpha.12',
  hole: 'any `Host` and `Origin` is served',
  async run({ isLoosened }) {
    const tally = newTally();
    const only = isLoosened ? ['dns-rebinding'] : [];
    for await (const result of runDoorScenarios({ only, isLoosened })) {
      const [difference] = differencesOf(result);
      if (difference !== undefined) fail(tally, difference, undefined);
      else if (result.failed.length > 0) fail(tally, result.scenario, reasonFor(result.scenario));
      else tally.passed += 1;
    }
    return tally;
  },
};
