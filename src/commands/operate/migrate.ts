import { migrate as migrateRecord, readVersion, versionProblem } from '../../store/redis/record-version.ts';
import { type Command, EXIT, Failure, readOptions } from '../shared/command.ts';
import { withRecord } from '../shared/open-record.ts';

/** Brings the record up to date, or says what there is to do. */
export const migrate: Command = {
  help: `Usage: countersign migrate [--dry-run] [--json]

Brings the record of an older release up to date, in steps of far less than a second. Processes of the release before may go on
meanwhile. It can be stopped and run again at any time. A bot of this release starts when it is done.

  --dry-run  only say what would be changed, and how long reading it took
  --json     print one JSON object a step: does, to, keys, old, ms

Exit code: 0 it is up to date, or would be, 1 it is of a later release, or the command was stopped, 2 wrong usage.
`,
  async run(args, context) {
    const { values } = readOptions(args, { 'dry-run': { type: 'boolean' }, json: { type: 'boolean' } });
    const dryRun = values['dry-run'] === true;
    return withRecord(context, async ({ client, prefix }) => {
      const version = await readVersion(client, prefix);
      if (version === undefined) {
        await context.writeError('there is no record yet, so there is nothing to do\n');
        return EXIT.ok;
      }
      try {
        for await (const step of migrateRecord(client, prefix, { dryRun, signal: context.signal }))
          await context.write(
            values.json === true
              ? `${JSON.stringify(step)}\n`
              : `to version ${step.to}: ${step.does}: ${step.old} of ${step.keys} ${dryRun ? 'would be changed' : 'changed'}, ${step.ms} ms\n`,
          );
      } catch (error) {
        if (context.signal?.aborted === true) throw new Failure('it was stopped; run it again to go on');
        throw error;
      }
      const problem = await versionProblem(client, prefix);
      if (problem === undefined)
        await context.writeError(`the record is of version ${version}, which is up to date\n`);
      return EXIT.ok;
    });
  },
};
