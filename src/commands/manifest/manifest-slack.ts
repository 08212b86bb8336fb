import { z } from 'zod';
import {
  createAppLink,
  type SlackConnection,
  slackManifest,
  slackManifestText,
} from '../../tools/manifest/slack-manifest.ts';
import { callSlack, type SlackResponse } from '../shared/call-slack.ts';
import {
  type Command,
  EXIT,
  Failure,
  HTTP_HELP,
  HTTP_OPTION,
  readOptions,
  slackConnection,
  UsageError,
} from '../shared/command.ts';
import { manifestFile, requireManifest } from '../shared/load-manifest.ts';

/** Prints Slack's part of the manifest and nothing else, so that it can be piped. */
export const manifestSlack: Command = {
  help: `Usage: countersign manifest slack [file] [--json] [--http URL]

Prints the app manifest for Slack: the shipped one with the changes of the section "slack", set up for Socket Mode.

  --json         print JSON instead of YAML
${HTTP_HELP}

Exit code: 0 printed, 1 the manifest has errors, 2 wrong usage.
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

Exit code: 0 printed, 1 the manifest has errors, 2 wrong usage.
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

const Problems = z.array(z.object({ message: z.string(), pointer: z.string().catch('') })).catch([]);
const Pushed = z.object({
  app_id: z.string(),
  oauth_authorize_url: z.string().optional(),
  permissions_updated: z.boolean().optional(),
});

const TOKEN_HINT =
  'create an app configuration token at https://api.slack.com/apps and set SLACK_CONFIG_TOKEN to it';

/** Creates or updates the Slack app. If Slack finds mistakes, they are printed and nothing is changed. */
export const manifestPush: Command = {
  help: `Usage: countersign manifest push [file] [--app-id ID] [--http URL] [--json]

Lets Slack check the app manifest, then creates the app, or updates the one named. SLACK_CONFIG_TOKEN must be set to an
app configuration token from https://api.slack.com/apps, which is valid for twelve hours.

  --app-id ID    update this app (A012ABCDEF); without it a new one is created
${HTTP_HELP}
  --json         print one JSON object: ok, and appId or problems

Exit code: 0 pushed, 1 rejected by Slack or failed, 2 wrong usage.
`,
  async run(args, { environment, write, writeError }) {
    const { values, positionals } = readOptions(
      args,
      { json: { type: 'boolean' }, 'app-id': { type: 'string' }, ...HTTP_OPTION },
      { positionals: 1 },
    );
    const appId = values['app-id'];
    if (appId !== undefined && !/^A[A-Z0-9]{2,}$/.test(appId))
      throw new UsageError(`--app-id needs the id of an app, such as A012ABCDEF, but got "${appId}"`);
    const connection = slackConnection(values.http);
    const { SLACK_CONFIG_TOKEN: token = '' } = environment;
    if (token === '') throw new Failure(`SLACK_CONFIG_TOKEN is not set; ${TOKEN_HINT}`);
    const { manifest } = await requireManifest(manifestFile(environment, positionals[0]), environment);
    const given = {
      manifest: JSON.stringify(slackManifest(manifest, connection)),
      ...(appId !== undefined && { app_id: appId }),
    };

    for (const method of [
      'apps.manifest.validate',
      `apps.manifest.${appId === undefined ? 'create' : 'update'}`,
    ]) {
      const response = await callSlack(method, token, given, environment);
      const problems = problemsIn(response, method);
      if (problems.length > 0) {
        if (values.json) await write(`${JSON.stringify({ ok: false, problems })}\n`);
        else for (const problem of problems) await writeError(`${problem}\n`);
        return EXIT.problem;
      }
      if (method === 'apps.manifest.validate') continue;
      const pushed = Pushed.safeParse(response.body);
      if (!pushed.success) throw new Failure(`Slack's response to ${method} names no app`);
      await write(values.json ? asJson(pushed.data) : formatPushed(pushed.data, appId));
    }
    return EXIT.ok;
  },
};

function problemsIn({ ok, error, body }: SlackResponse, method: string): string[] {
  if (ok) return [];
  const problems = Problems.parse(body.errors).map(
    ({ pointer, message }) => `slack${pointer.replaceAll('/', '.')}: ${message}`,
  );
  if (problems.length > 0) return problems;
  const hint = /auth|token/.test(error) ? `; ${TOKEN_HINT}` : '';
  return [`Slack rejects ${method}: ${error}${hint}`];
}

function asJson({
  app_id,
  oauth_authorize_url: installUrl,
  permissions_updated,
}: z.infer<typeof Pushed>): string {
  const mustInstall = permissions_updated ?? installUrl !== undefined;
  return `${JSON.stringify({ ok: true, appId: app_id, mustInstall, ...(installUrl !== undefined && { installUrl }) })}\n`;
}

function formatPushed(
  { app_id, oauth_authorize_url: installUrl, permissions_updated }: z.infer<typeof Pushed>,
  appId: string | undefined,
): string {
  const settings = `https://api.slack.com/apps/${app_id}`;
  if (appId === undefined) {
    return `created ${app_id}\ninstall it: ${installUrl ?? settings}\nits tokens: ${settings}\n`;
  }
  return `updated ${app_id}\n${permissions_updated === true ? `its scopes have changed; install it again: ${settings}/install-on-team\n` : ''}`;
}

/** Describes the way through Slack's pages, from the link that creates the app to its tokens. */
export function createSteps(link: string, { mode }: SlackConnection): string {
  const token =
    mode === 'socket'
      ? `Open "Basic Information", find "App-Level Tokens", click "Generate Token and Scopes", add the scope
     connections:write and click "Generate". The token (xapp-…) is SLACK_APP_TOKEN.`
      : `Open "Basic Information", find "App Credentials" and copy "Signing Secret". It is SLACK_SIGNING_SECRET.
     Once the bot runs, open "Event Subscriptions" and check that its request URL is verified.`;
  return `Create the app in Slack:

  1. Open this link, choose your workspace, click "Next" and then "Create":
     ${link}
  2. Open "Install App", click "Install to" your workspace and then "Allow". If it says "Request to Install", an admin of
     the workspace has to allow it first.
  3. Open "OAuth & Permissions" and copy "Bot User OAuth Token" (xoxb-…). It is SLACK_BOT_TOKEN.
  4. ${token}
  5. In Slack, invite the bot to the channels where it should work: /invite @countersign

`;
}
