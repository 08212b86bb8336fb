import { createAppLink, slackManifestText } from '../../tools/manifest/slack-manifest.ts';
import { type Command, EXIT } from '../shared/command.ts';
import { manifestFile, requireManifest } from '../shared/load-manifest.ts';
import { HTTP_HELP, HTTP_OPTION, readOptions, slackConnection } from '../shared/options.ts';
import { createSteps } from '../shared/slack-steps.ts';

/** Prints Slack's part of the manifest and nothing else, so that it can be piped. */
export const manifestSlack: Command = {
  help: `Usage: countersign manifest slack [file] [--json] [--http URL]

Prints the app manifest for Slack: the section "slack", set up for Socket Mode.

  --json         print JSON instead of YAML
${HTTP_HELP}
`,
  async run(args, { environment, write }) {
    const { values, positionals } = readOptions(
      args,
      { json: { type: 'boolean' }, ...HTTP_OPTION },
      { positionals: 1 },
    );
    const connection = slackConnection(values.http);
    const { manifest } = await requireManifest(manifestFile(environment, positionals[0]), environment);
    await write(slackManifestText(manifest, connection, values.json ? 'json' : 'yaml'));
    return EXIT.ok;
  },
};

/** Prints the link with which a person creates the app in a browser. */
export const manifestLink: Command = {
  help: `Usage: countersign manifest link [file] [--http URL]

Prints a link that opens Slack's "create app" page with everything filled in, and at a terminal the steps that follow it.

${HTTP_HELP}
`,
  async run(args, { environment, write, input }) {
    const { values, positionals } = readOptions(args, HTTP_OPTION, { positionals: 1 });
    const connection = slackConnection(values.http);
    const { manifest } = await requireManifest(manifestFile(environment, positionals[0]), environment);
    const link = createAppLink(manifest, connection);
    // A script gets the link alone.
    await write(input === undefined ? `${link}\n` : createSteps(link, connection));
    return EXIT.ok;
  },
};
