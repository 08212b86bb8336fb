import { createAppLink } from '../tools/manifest/slack-manifest.ts';
import { type Command, EXIT } from './shared/command.ts';
import { manifestFile, requireManifest } from './shared/load-manifest.ts';
import { HTTP_HELP, HTTP_OPTION, readOptions, slackConnection } from './shared/options.ts';
import { createSteps } from './shared/slack-steps.ts';

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
