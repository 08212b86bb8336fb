import { randomUUID } from 'node:crypto';
import { isPerson } from '../../store/record/keys.ts';
import { findPerson } from '../../store/redis/verbs/find-person.ts';
import { type Command, EXIT } from '../shared/command.ts';
import { UsageError } from '../shared/errors.ts';
import { withRecord } from '../shared/open-record.ts';
import { readOptions } from '../shared/options.ts';

/** Stands for every erased person in the counts of tokens. */
const ERASED = 'erased';

/** Removes a person's words and names from threads and requests, and records that it was done. */
export const erase: Command = {
  help: `Usage: countersign erase PERSON [--reason TEXT] [--dry-run] [--json]

Removes from Redis, at once, the idle threads in which the person wrote, and the ended requests that they made, decided
or are named in. Their tokens are counted under "erased". What is still open is left and named: run the command again
when it has ended. The audit log stays as it is, so that it can be verified: it keeps Slack's ids and what was decided
until audit.retention removes it. The erasure is a row of it. Messages in Slack are Slack's.

  PERSON         the id of the person, such as U012ABCDEF
  --reason TEXT  is recorded in the audit log
  --dry-run      only say what would be removed
  --json         print one JSON object: threads, requests, left

Exit code: 0 all was removed, 1 something is still open, 2 wrong usage.
`,
  async run(args, context) {
    const { values, positionals } = readOptions(
      args,
      { json: { type: 'boolean' }, 'dry-run': { type: 'boolean' }, reason: { type: 'string' } },
      { positionals: 1 },
    );
    const [person] = positionals;
    if (person === undefined || !isPerson(person))
      throw new UsageError('give the id of a person, such as U012ABCDEF');
    return withRecord(context, async ({ store, client, prefix }) => {
      const found = await findPerson(client, prefix, person);
      const left: string[] = [];
      let [threads, requests] = [found.threads.length, found.requests.length];
      if (values['dry-run'] !== true) {
        [threads, requests] = [0, 0];
        // Threads go first: a request is removed only after its thread has read its end, or is gone.
        for (const threadId of found.threads) {
          const { outcome } = await store.retire(threadId, { early: true });
          if (outcome === 'retired') threads += 1;
          else left.push(threadId);
        }
        for (const requestId of found.requests) {
          const { outcome } = await store.purge(requestId, { early: true });
          if (outcome === 'purged') requests += 1;
          else if (outcome !== 'unknown') left.push(requestId);
        }
        await store.renameUsage(person, ERASED);
        const { reason = '' } = values;
        await store.note(randomUUID(), 'erased', person, { threads, requests, left: left.length, reason });
      }
      if (values.json) await context.write(`${JSON.stringify({ person, threads, requests, left })}\n`);
      else {
        const done = values['dry-run'] === true ? 'would remove' : 'removed';
        await context.write(`${done} (threads: ${threads}, requests: ${requests})\n`);
        for (const id of left) await context.write(`still open: ${id}\n`);
      }
      return left.length === 0 ? EXIT.ok : EXIT.problem;
    });
  },
};
