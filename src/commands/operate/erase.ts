import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { erasedRanges, eraseInExport } from '../../audit/erase-export.ts';
import { isFirstOf } from '../../policy/first-times.ts';
import { isLimitOf } from '../../policy/limits.ts';
import { accountsIn } from '../../store/documents/accounts.ts';
import { delegationsIn, readDelegations } from '../../store/documents/delegations.ts';
import { feedbackIn } from '../../store/documents/feedback.ts';
import { isPerson, Keys } from '../../store/port/keys.ts';
import type { Store } from '../../store/port/store.ts';
import { findPerson, namesPerson, removeCounters } from '../../store/redis/verbs/find-person.ts';
import { type Command, EXIT, Failure, readOptions, UsageError } from '../shared/command.ts';
import { withRecord } from '../shared/open-record.ts';

/** Stands for every erased person in the counts of tokens. */
const ERASED = 'erased';
/** Tokens are counted for so many days. */
const MOST_USAGE_DAYS = 190;
const SLACK_PERSON = /^[UW][A-Z0-9]{6,20}$/;
/** A shorter name would be found in too many places. */
const SHORTEST_NAME = 3;

/** Removes a person's words and names from threads, requests and exported files, and records that it was done. */
export const erase: Command = {
  help: `Usage: countersign erase PERSON [--name NAME]... [--export FILE]... [--reason TEXT] [--force]
                       [--dry-run] [--json]

Removes from Redis, at once, the idle threads in which the person wrote or is named, the ended requests that they made,
decided or are named in, the pre-approvals that they gave or got, their feedback, their delegations, the counts of their
first times and of limits, and the accounts that they connected (run "countersign disconnect" first to revoke their tokens as well).
Their model usage is counted under "erased". What is still open or waits to be sent is kept and listed: run the command
again when it has ended. The audit log in Redis stays as it is, so that it can be verified: it keeps Slack's ids and what was decided
until audit.retention removes it. The erasure is a row of it. Messages in Slack are not touched.

  PERSON         the id of the person, such as U012ABCDEF
  --name NAME    also find the person by a name that people call them; try it with --dry-run first
  --export FILE  also remove the contents of the rows that name the person from an exported audit file; the file can
                 still be verified. It must begin with the first row: join rotated files in their order first
  --reason TEXT  is recorded in the audit log
  --force        take any name as an id, and record the erasure also if nothing of the person is found
  --dry-run      only say what would be removed
  --json         print one JSON object: person, threads, requests, grants, accounts, rows, feedback, left

Exit code: 0 all was removed, also if nothing was found, 1 something is still open, 2 wrong usage.
`,
  async run(args, context) {
    const { values, positionals } = readOptions(
      args,
      {
        json: { type: 'boolean' },
        'dry-run': { type: 'boolean' },
        force: { type: 'boolean' },
        reason: { type: 'string' },
        name: { type: 'string', multiple: true },
        export: { type: 'string', multiple: true },
      },
      { positionals: 1 },
    );
    const [person] = positionals;
    if (person === undefined || !isPerson(person))
      throw new UsageError('give the id of a person, such as U012ABCDEF');
    // A name is no id: nothing would be found, and the log would say that it was removed.
    if (!SLACK_PERSON.test(person) && values.force !== true)
      throw new UsageError(
        `"${person}" is not the id of a person, such as U012ABCDEF; in Slack it is under "Copy member ID" of the profile (--force takes it as it is)`,
      );
    const { name: names = [], export: files = [], reason = '', 'dry-run': dryRun = false } = values;
    if (names.some((name) => name.trim().length < SHORTEST_NAME))
      throw new UsageError(`a name must have at least ${SHORTEST_NAME} characters`);
    const isNamed = namesPerson(person, names);
    // A file that cannot be read is found before anything is removed.
    for (const file of files) await eraseFile(file, isNamed);
    return withRecord(context, async ({ store, client, prefix }) => {
      const isCounter = (name: string) => isFirstOf(name, person) || isLimitOf(name, person);
      const found = await findPerson(client, { prefix, keys: new Keys(prefix), person, isNamed, isCounter });
      const left: string[] = [...found.messages];
      let [threads, requests, feedback] = [found.threads.length, found.requests.length, 0];
      const connections = accountsIn(store);
      const servers = await connections.serversOf(person);
      const [accounts, grants] = [servers.length, found.grants.length];
      // Delegations that ended, counts of first times, and counts of tokens that have another name now.
      let others = 0;
      if (!dryRun) {
        for (const server of servers) await connections.removeConnection(server, person);
        others += await endDelegations(store, person);
        await removeCounters(client, found);
        others += found.counters.length;
        const eraser = { who: ERASED, eligible: true, evidence: { erased: person }, erases: true };
        for (const id of found.grants) await store.revokeGrant(id, eraser);
        const usage = await store.listUsage(MOST_USAGE_DAYS);
        others += usage.filter((row) => row.person === person).length;
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
        await store.keepHomes([person], 0);
        feedback = await feedbackIn(store).erase(person);
      }
      const removed = threads + requests + grants + accounts + feedback + others + left.length;
      const named = await Promise.all(files.map((file) => eraseFile(file, isNamed)));
      const rows = named.reduce((sum, { length }) => sum + length, 0);
      const isFound = removed + rows > 0 || values.force === true;
      if (!dryRun && isFound)
        await store.note(randomUUID(), 'erased', person, {
          threads,
          requests,
          grants,
          accounts,
          rows,
          // Verification takes an erased row for what it is only if a signed row names it.
          ...(rows > 0 && { erased_rows: erasedRanges(named.flat()) }),
          feedback,
          left: left.length,
          reason,
        });
      if (!dryRun)
        for (const [index, file] of files.entries()) await eraseFile(file, isNamed, new Set(named[index]));
      if (values.json) {
        const counts = { threads, requests, grants, accounts, rows, feedback };
        await context.write(`${JSON.stringify({ person, ...counts, left })}\n`);
      } else if (!isFound) await context.write(`nothing of ${person} is on record, so nothing was removed\n`);
      else {
        const done = dryRun ? 'would remove' : 'removed';
        const granted = grants === 0 ? '' : `, grants: ${grants}`;
        const connected = accounts === 0 ? '' : `, accounts: ${accounts}`;
        const exported = files.length === 0 ? '' : `, exported rows: ${rows}`;
        await context.write(
          `${done} (threads: ${threads}, requests: ${requests}${granted}${connected}${exported})\n`,
        );
        for (const id of left) await context.write(`still open: ${id}\n`);
      }
      return left.length === 0 ? EXIT.ok : EXIT.problem;
    });
  },
};

/** Ends what the person has delegated, and what was delegated to them. */
async function endDelegations(store: Store, person: string): Promise<number> {
  const own = (await readDelegations(store)).filter(({ from, to }) => from === person || to === person);
  for (const { id: shown, from } of own)
    await delegationsIn(store).end({
      from,
      shown,
      id: `erase ${shown}`,
      who: person,
      isAdmin: true,
      evidence: { erased: person },
    });
  return own.length;
}

/** Erases rows of a file, or finds those that would be erased. */
async function eraseFile(
  file: string,
  isNamed: (text: string) => boolean,
  only?: ReadonlySet<number>,
): Promise<readonly number[]> {
  if (!existsSync(file)) throw new Failure(`there is no ${file}`);
  const result = await eraseInExport(file, isNamed, only && { only });
  if (result.outcome === 'erased') return result.rows;
  throw new Failure(
    result.outcome === 'unreadable'
      ? `${file}, line ${result.line} is neither a row nor a checkpoint`
      : `${file}, line ${result.line}: the rows before it are not in the file; join rotated files in their order first`,
  );
}
