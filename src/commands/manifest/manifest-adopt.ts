import { manifestIn, type RecordedManifest } from '../../store/documents/manifest.ts';
import type { Environment } from '../../tools/manifest/environment.ts';
import { parseRecorded, recordOf, UnreadableManifestError, versionOf } from '../../tools/manifest/govern.ts';
import { formatProblem } from '../../tools/manifest/problem.ts';
import { readLockText } from '../../tools/manifest/tool-lock.ts';
import { OPERATOR_HELP, OPERATOR_OPTIONS, readOperator } from '../operate/operator.ts';
import { type Command, EXIT, Failure, readOptions } from '../shared/command.ts';
import { manifestFile, requireManifest } from '../shared/load-manifest.ts';
import { withRecord } from '../shared/open-record.ts';

/** Records the manifest of the file in place of one on record that this version cannot read. */
export const manifestAdopt: Command = {
  help: `Usage: countersign manifest adopt [file] --reason TEXT [--as NAME] [--json]

A manifest with "agent.policy_changes" is on record, so that a change of its rules needs approval. After an upgrade it may be that
this version cannot read it: then nobody can tell what would change, and the bot does not start. This command records the manifest of the file (default: MANIFEST or manifest.yml) in its place, without the approval of those people. It is refused while
the one on record can be read, and where only the environment is at fault. The audit log has a row "manifest-adopted".

${OPERATOR_HELP}

Exit code: 0 adopted, 1 refused, 2 wrong usage.
`,
  async run(args, context) {
    const { values, positionals } = readOptions(args, OPERATOR_OPTIONS, { positionals: 1 });
    const { environment } = context;
    const file = manifestFile(environment, positionals[0]);
    const parsed = await requireManifest(file, environment);
    const { folder, placeholders } = parsed;
    if (placeholders.length > 0)
      throw new Failure(`the manifest has placeholders\n${placeholders.map(formatProblem).join('\n')}`);
    const next = recordOf(versionOf(parsed, await readLockText(folder)));
    const decision = await readOperator(values, context);
    return withRecord(context, async ({ store }) => {
      const record = manifestIn(store);
      const recorded = await record.readManifest();
      const refusal = refusalOf(recorded, next.digest, environment);
      if (recorded === undefined || refusal !== undefined) throw new Failure(refusal ?? NOTHING);
      const outcome = await record.adoptManifest(recorded.digest, next, decision);
      if (outcome === 'changed') throw new Failure('another process has recorded another manifest meanwhile');
      await context.write(
        values.json
          ? `${JSON.stringify({ ok: true, outcome, former: recorded.digest, digest: next.digest })}\n`
          : `${file} is on record now (${next.digest.slice(0, 12)}). Start the bot.\n`,
      );
      return EXIT.ok;
    });
  },
};

const NOTHING = 'there is no manifest on record that could stand in the way; start the bot';

/** Says why a manifest may not be adopted; `undefined` if it may. */
function refusalOf(
  recorded: RecordedManifest | undefined,
  digest: string,
  environment: Environment,
): string | undefined {
  if (recorded === undefined || !recorded.isGoverned) return NOTHING;
  if (recorded.digest === digest) return 'this manifest is on record already; start the bot';
  try {
    parseRecorded(recorded, environment);
    return 'the manifest on record can be read, so a change of its rules needs the approval of the people it names; start the bot, and they are asked';
  } catch (error) {
    if (!(error instanceof UnreadableManifestError)) throw error;
    return error.variables.length > 0 ? error.message : undefined;
  }
}
