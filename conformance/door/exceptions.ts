import type { DoorScenario } from './scenarios.ts';

/** Checks that cannot hold, and why. */
interface Exception {
  readonly reason: string;
  /** The ids of the checks that fail: all of these and no others. */
  readonly failing: readonly string[];
}

const RESOURCES = 'the door has no resources';
const PROMPTS = 'the door has no prompts';
const INPUT = 'people answer in Slack; the door asks its clients for no input';
const TEXT = 'results of the door are text';

const CLIENT =
  'no tool of the door needs something of its client; `tasks/get` answers so: `test/stories/door-mcp.test.ts`';

/** Builds the exception of a scenario with one check of the same name. */
const same = (scenario: string, reason: string): [string, Exception] => [
  scenario,
  { reason, failing: [scenario] },
];
const input = (scenario: string, ...checks: readonly string[]): [string, Exception] => [
  `input-required-result-${scenario}`,
  { reason: INPUT, failing: checks.map((check) => `sep-2322-${check}`) },
];

const EXCEPTIONS: ReadonlyMap<string, Exception> = new Map([
  [
    'server-stateless',
    {
      reason: CLIENT,
      failing: ['sep-2575-server-rejects-undeclared-capability', 'sep-2575-missing-capability-http-400'],
    },
  ],
  same('completion-complete', 'the door has no completion'),
  ...['image', 'audio', 'embedded-resource', 'mixed-content'].map((kind) => same(`tools-call-${kind}`, TEXT)),
  ...['list', 'read-text', 'read-binary', 'templates-read'].map((kind) =>
    same(`resources-${kind}`, RESOURCES),
  ),
  ...['list', 'get-simple', 'get-with-args', 'get-embedded-resource', 'get-with-image'].map((kind) =>
    same(`prompts-${kind}`, PROMPTS),
  ),
  [
    'caching',
    {
      reason: `${RESOURCES}, and no prompts`,
      failing: ['prompts-list', 'resources-list', 'resources-templates-list'].map(
        (list) => `sep-2549-${list}-caching-hints`,
      ),
    },
  ],
  input('basic-elicitation', 'elicitation-incomplete'),
  input('basic-sampling', 'sampling-incomplete'),
  input('basic-list-roots', 'list-roots-incomplete'),
  input('request-state', 'request-state-incomplete'),
  input('multiple-input-requests', 'multiple-inputs-incomplete'),
  input('multi-round', 'multi-round-r1'),
  input('non-tool-request', 'non-tool-incomplete'),
  input('result-type', 'result-type-included'),
  input('tampered-state', 'reject-tampered-state'),
  input('capability-check', 'respect-client-capabilities'),
  [
    'tasks-lifecycle',
    {
      reason: 'a call that fails has failed as a tool: its task has completed, with an error in the result',
      failing: ['sep-2663-tasks-get-status-failed'],
    },
  ],
  [
    'tasks-mrtr-input',
    {
      reason: INPUT,
      failing: [
        'sep-2663-tasks-get-status-input-required',
        'tasks-mrtr-tasks-update-resumes',
        'tasks-mrtr-partial-fulfillment',
      ],
    },
  ],
  [
    'tasks-dispatch-and-envelope',
    {
      reason:
        'only the check that lets a task ask for input first fails; `tasks/update` is acknowledged: `test/stories/door-mcp.test.ts`',
      failing: ['tasks-result-type-complete-on-non-task-responses'],
    },
  ],
  // The suite has no checks in it yet.
  same('tasks-status-notifications', 'the suite skips it'),
  [
    'tasks-required-task-error',
    {
      reason: 'no tool requires tasks: a client without them waits',
      failing: ['sep-2663-server-returns-missing-capability-when-required'],
    },
  ],
  ['tasks-mrtr-composition', { reason: INPUT, failing: ['sep-2663-mrtr-synchronous-before-task-creation'] }],
]);

/** Returns why a scenario does not pass; empty for one that has to. */
export function reasonFor(scenario: string): string {
  return EXCEPTIONS.get(scenario)?.reason ?? '';
}

/** Describes how a result differs from the list: what fails without a reason, and what passes though it is listed. */
export function differencesOf({ scenario, failed }: DoorScenario): readonly string[] {
  const listed = EXCEPTIONS.get(scenario)?.failing ?? [];
  return [
    ...failed.filter((id) => !listed.includes(id)).map((id) => `fails: ${scenario}: ${id}`),
    ...listed
      .filter((id) => !failed.includes(id))
      .map((id) => `passes, but is an exception: ${scenario}: ${id}`),
  ];
}
