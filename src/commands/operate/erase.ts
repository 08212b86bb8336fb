import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { eraseInExport } from '../../audit/erase-export.ts';
import type { Store } from '../../store/port/store.ts';
import { isPerson, Keys } from '../../store/record/keys.ts';
import { connectedServers, findPerson, namesPerson } from '../../store/redis/verbs/find-person.ts';
import { type Command, EXIT, Failure, UsageError } from '../shared/command.ts';
import { withRecord } from '../shared/open-record.ts';
import { readOptions } from '../shared/options.ts';

/** Stands for every erased person in the counts of tokens. */
const ERASED = 'erased';
/** A shorter name would be found in too many places. */
const SHORTEST_NAME = 3;

/** Removes a person's words and names from threads, requests and exported files, and records that it was done. */
export const erase: Command = {
  help: `Usage: countersign erase PERSON [--name NAME]... [--export FILE]... [--reason TEXT] [--dry-run] [--json]

Removes from Redis, at once, the idle threads in which the person wrote or is named, the ended requests that they made,
decided or are named in, their feedback, their delegations, the notes about channels that were written for them or name
them, and the accounts that they connected (run "countersign disconnect" first to revoke their tokens as well). Their model
usage is counted under "erased". What is still open or waits to be sent is kept and listed: run the command again when it
has ended. The audit log in Redis stays as it is, so that it can be verified: it keeps Slack's ids and what was decided
until audit.retention removes it. The erasure is a row of it. Messages in Slack are not touched.

  PERSON         the id of the person, such as U012ABCDEF
  --name NAME    also find the person by a name that people call them; try it with --dry-run first
  --export FILE  also remove the contents of the rows that name the person from an exported audit file; the file can
                 still be verified. It must begin with the first row: join rotated files in their order first
  --reason TEXT  is recorded in the audit log
  --dry-run      only say what would be removed
  --json         print one JSON object: person, threads, requests, accounts, rows, feedback, notes, left

Exit code: 0 all was removed, 1 something is still open, 2 wrong usage.
`,
  async run(args, context) {
    const { values, positionals } = readOptions(
      args,
      {
        json: { type: 'boolean' },
        'dry-run': { type: 'boolean' },
        reason: { type: 'string' },
        name: { type: 'string', multiple: true },
        export: { type: 'string', multiple: true },
      },
      { positionals: 1 },
    );
    const [person] = positionals;
    if (person === undefined || !isPerson(person))
      throw new UsageError('give the id of a person, such as U012ABCDEF');
    const { name: names = [], export: files = [], reason = '', 'dry-run': dryRun = false } = values;
    if (names.some((name) => name.trim().length < SHORTEST_NAME))
      throw new UsageError(`a name must have at least ${SHORTEST_NAME} characters`);
    const isNamed = namesPerson(person, names);
    // A file that cannot be read is found before anything is removed.
    for (const file of files) await eraseFile(file, isNamed, true);
    return withRecord(context, async ({ store, client, prefix }) => {
      const found = await findPerson(client, { prefix, keys: new Keys(prefix), person, isNamed });
      const left: string[] = [...found.messages];
      let [threads, requests, feedback] = [found.threads.length, found.requests.length, 0];
      const servers = await connectedServers(client, prefix, person);
      const accounts = servers.length;
      if (!dryRun) {
        for (const server of servers) await store.removeConnection(server, person);
        await endDelegations(store, person);
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
        feedback = await store.eraseFeedback(person);
      }
      const notes = (await store.listNotes()).filter(
        ({ text, people }) => people.includes(person) || isNamed(text),
      );
      if (!dryRun) for (const { channel, id } of notes) await store.forget(channel, [id]);
      let rows = 0;
      for (const file of files) rows += await eraseFile(file, isNamed, dryRun);
      if (!dryRun)
        await store.note(randomUUID(), 'erased', person, {
          threads,
          requests,
          accounts,
          rows,
          feedback,
          notes: notes.length,
          left: left.length,
          reason,
        });
      if (values.json) {
        const removed = { person, threads, requests, accounts, rows, feedback, notes: notes.length, left };
        await context.write(`${JSON.stringify(removed)}\n`);
      } else {
        const done = dryRun ? 'would remove' : 'removed';
        const noted = notes.length === 0 ? '' : `, notes: ${notes.length}`;
        const connected = accounts === 0 ? '' : `, accounts: ${accounts}`;
        const exported = files.length === 0 ? '' : `, exported rows: ${rows}`;
        await context.write(
          `${done} (threads: ${threads}, requests: ${requests}${noted}${connected}${exported})\n`,
        );
        for (const id of left) await context.write(`still open: ${id}\n`);
      }
      return left.length === 0 ? EXIT.ok : EXIT.problem;
    });
  },
};

/** Ends what the person has delegated, and what was delegated to them. */
async function endDelegations(store: Store, person: string): Promise<void> {
  const { delegations } = await store.readDelegations();
  for (const { id: shown, from, to } of delegations)
    if (from === person || to === person)
      await store.endDelegation({
        ...{ from, shown, id: `erase ${shown}`, who: person, isAdmin: true, evidence: { erased: person } },
      });
  await store.spreadDelegations();
}

async function eraseFile(file: string, isNamed: (text: string) => boolean, dryRun: boolean): Promise<number> {
  if (!existsSync(file)) throw new Failure(`there is no ${file}`);
  const result = await eraseInExport(file, isNamed, { dryRun });
  if (result.outcome === 'erased') return result.rows;
  throw new Failure(
    result.outcome === 'unreadable'
      ? `${file}, line ${result.line} is neither a row nor a checkpoint`
      : `${file}, line ${result.line}: the rows before it are not in the file; join rotated files in their order first`,
  );
}
