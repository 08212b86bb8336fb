import type { SlackConnection } from '../../tools/manifest/slack-manifest.ts';

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
