import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** `npm test` plays the quick form, `npm run test:full` the full one; together they play every test file. */
export type Form = 'quick' | 'full';

/** Holds what takes long and has a shorter relative in the quick form: only the full form plays it. A folder ends with a slash. */
const ONLY_FULL = [
  'test/agent/declarations/',
  'test/audit/forgeries.test.ts',
  'test/audit/independent-verifier.test.ts',
  'test/bench/',
  'test/bot/views/cards/long-values.test.ts',
  'test/browser/',
  'test/commands/command-line.test.ts',
  'test/commands/doctor-live.test.ts',
  'test/commands/environment.test.ts',
  'test/commands/manifest-replay-long.test.ts',
  'test/deploy/helm.test.ts',
  'test/deploy/image-steps.test.ts',
  'test/deploy/promtool.test.ts',
  'test/deploy/started.test.ts',
  'test/docs/contributing.test.ts',
  'test/docs/door.test.ts',
  'test/faults/checkers.test.ts',
  'test/faults/matrix-processes.test.ts',
  'test/faults/matrix-services.test.ts',
  'test/hostile/table.test.ts',
  'test/main.test.ts',
  'test/observe/traces.test.ts',
  'test/package/contents.test.ts',
  'test/package/first-start.test.ts',
  'test/package/release.test.ts',
  'test/page/passkey-pairs.test.ts',
  'test/page/passkeys-kill.test.ts',
  'test/page/passkeys.test.ts',
  'test/page/proofs.test.ts',
  'test/page/sign-in.test.ts',
  'test/playground/redis/start-server.test.ts',
  'test/playground/redis/watchdog.test.ts',
  'test/playground/scripted-model/rules.test.ts',
  'test/playground/start/own-manifest.test.ts',
  'test/playground/start/playground.test.ts',
  'test/playground/start/start-troubles.test.ts',
  'test/playground/start/supervise-bot.test.ts',
  'test/store/cluster.test.ts',
  'test/store/queue/queue-processes.test.ts',
  'test/store/races/policy-processes.test.ts',
  'test/store/redis/check-server.test.ts',
  'test/store/redis/connect-topologies.test.ts',
  'test/store/redis/connect.test.ts',
  'test/stories/accounts/kill.test.ts',
  'test/stories/accounts/lifecycle.test.ts',
  'test/stories/accounts/operators.test.ts',
  'test/stories/accounts/talkative.test.ts',
  'test/stories/answers.test.ts',
  'test/stories/backup.test.ts',
  'test/stories/channel-injections.test.ts',
  'test/stories/cluster.test.ts',
  'test/stories/companies.test.ts',
  'test/stories/context-injections.test.ts',
  'test/stories/crowded.test.ts',
  'test/stories/deadly-threads.test.ts',
  'test/stories/delegation-kill.test.ts',
  'test/stories/door-hook.test.ts',
  'test/stories/door-inspector.test.ts',
  'test/stories/door-kill.test.ts',
  'test/stories/door-mcp.test.ts',
  'test/stories/door-plans-kill.test.ts',
  'test/stories/door-shell.test.ts',
  'test/stories/door-webhooks.test.ts',
  'test/stories/effects-kill.test.ts',
  'test/stories/elicitation-kill.test.ts',
  'test/stories/elicitation.test.ts',
  'test/stories/files-hostile.test.ts',
  'test/stories/files-injections.test.ts',
  'test/stories/files-kill.test.ts',
  'test/stories/first-times.test.ts',
  'test/stories/five-seconds-more.test.ts',
  'test/stories/five-seconds.test.ts',
  'test/stories/grants-paused.test.ts',
  'test/stories/models-kill.test.ts',
  'test/stories/outages.test.ts',
  'test/stories/pairs/plan.test.ts',
  'test/stories/paused-actions.test.ts',
  'test/stories/places-kill.test.ts',
  'test/stories/quiet-hours-kill.test.ts',
  'test/stories/record-away.test.ts',
  'test/stories/restore.test.ts',
  'test/stories/revisions-kill.test.ts',
  'test/stories/slack-calls.test.ts',
  'test/stories/slow-slack.test.ts',
  'test/stories/summary-kill.test.ts',
  'test/stories/tasks-kill.test.ts',
  'test/stories/thread-context-limits.test.ts',
  'test/stories/time.test.ts',
  'test/tools/manifest/shape-agrees.test.ts',
  'test/tools/mcp/elicitation.test.ts',
  'test/tools/mcp/everything.test.ts',
  'test/tools/mcp/older-servers.test.ts',
  'test/tools/mcp/restarts.test.ts',
  'test/upgrade/',
];

/** Holds what the quick form plays in part and the full form whole; each of these asks `countFor` or `isFull`. */
const SCALED = [
  'test/agent/openai/request-schemas.test.ts',
  'test/agent/property.test.ts',
  'test/bot/outbox/answers.test.ts',
  'test/bot/views/cards/cards-differ.test.ts',
  'test/bot/views/cards/rendering-is-total.test.ts',
  'test/bot/views/cards/titles-are-total.test.ts',
  'test/bot/views/modals/forms.test.ts',
  'test/bot/views/one-state.test.ts',
  'test/bot/views/sanitize-markdown.test.ts',
  'test/bot/views/streamed-prefixes.test.ts',
  'test/commands/explain-agrees.test.ts',
  'test/commands/planted-mistakes.test.ts',
  'test/faults/matrix.test.ts',
  'test/oracle/oracle.test.ts',
  'test/store/comparison/comparison.test.ts',
  'test/store/lost-replies/lost-replies.test.ts',
  'test/store/races/plans.test.ts',
  'test/store/races/policy-races.test.ts',
  'test/store/races/races.test.ts',
  'test/stories/home.test.ts',
  'test/stories/one-turn.test.ts',
  'test/stories/plans-property.test.ts',
  'test/tools/gate/fuzz.test.ts',
  'test/tools/gate/reference.test.ts',
  'test/tools/manifest/parse.test.ts',
  'test/tools/presentation/formats.test.ts',
  'test/tools/presentation/table.test.ts',
];

/** Lists files that need a process of their own: they change its environment or settings, listen to all that it meets, or try what may break it. */
const ISOLATED = [
  'test/agent/openai/model-aborts.test.ts',
  // In a process that other files have used it takes ten times as long; the cause is not known.
  'test/bot/views/cards/titles-are-total.test.ts',
  'test/faults/',
  'test/hostile/',
  'test/playground/start/playground.test.ts',
  'test/store/queue/queue.test.ts',
  'test/tools/mcp/everything.test.ts',
];

/** Every test file, from the root. */
export const TEST_FILES: readonly string[] = readdirSync(fileURLToPath(new URL('..', import.meta.url)), {
  recursive: true,
  encoding: 'utf8',
})
  .map((path) => `test/${path.replaceAll('\\', '/')}`)
  .filter((path) => path.endsWith('.test.ts'))
  .sort();

/** The lists above, for the test that holds them against the files. */
export const LISTED = { ONLY_FULL, SCALED, ISOLATED } as const;

/** True for a file that a form plays. */
export function isPlayed(form: Form, file: string): boolean {
  const isLong = isIn(ONLY_FULL, file);
  return form === 'quick' ? !isLong : isLong || isIn(SCALED, file);
}

export type ProjectName = 'isolated' | 'shared' | 'browser' | 'last';

/** The project that runs a file; each file has one. */
export function projectOf(file: string): ProjectName {
  if (file.startsWith('test/browser/')) return 'browser';
  if (file.startsWith('test/last/')) return 'last';
  return isIn(ISOLATED, file) ? 'isolated' : 'shared';
}

/** True if a path is in one of the places; a place that ends with a slash is a folder. */
export function isIn(places: readonly string[], path: string): boolean {
  return places.some((place) => (place.endsWith('/') ? path.startsWith(place) : path === place));
}
