import { exceptionFor } from '../conformance/exceptions.ts';
import { runScenarios } from '../conformance/scenarios.ts';
import { fail, newTally, type Suite } from './suite.ts';

/** The scenarios that each revision requires of a client; docs/evidence/conformance.md has one line for each. */
export const mcp: Suite = {
  name: 'MCP conformance, client, 2025-11-25 and 2026-07-28',
  source: '`@modelcontextprotocol/conformance` 0.2.0-alpha.12',
  hole: 'an authorization may be answered by any issuer',
  async run({ isLoosened }) {
    const tally = newTally();
    const only = isLoosened ? ['auth/iss'] : [];
    for await (const { scenario, revision, passed, unexpected } of runScenarios({ only, isLoosened })) {
      const [check] = unexpected;
      if (passed) tally.passed += 1;
      else
        fail(
          tally,
          `${revision} ${scenario}${check === undefined ? '' : `: ${check}`}`,
          check === undefined ? exceptionFor(scenario)?.reason : undefined,
        );
    }
    return tally;
  },
};
