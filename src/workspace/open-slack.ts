import { type Connection, createConnection } from '../bot/slack/create-connection.ts';
import { Directory } from '../bot/slack/directory.ts';
import { MessageLinks } from '../bot/slack/thread.ts';
import { SLACK_ISSUER } from '../page/claims.ts';
import { onceIn } from '../store/redis/short-lived.ts';
import type { BotProcess, Installation } from './installation.ts';

/** The connection to one Slack workspace, not yet open, and what is looked up there. */
export interface WorkspaceSlack {
  readonly connection: Connection;
  readonly directory: Directory;
  readonly links: MessageLinks;
  /** The issuer of the tokens that Slack signs its people in with. */
  readonly issuer: string;
}

/** Prepares the connection to Slack; nothing is received before it starts. */
export function openSlack(
  { slack, prefix }: Installation,
  { settings: { proxy }, redis, metrics, logger }: BotProcess,
): WorkspaceSlack {
  const connection = createConnection(slack, { logger, once: onceIn(redis, prefix), proxy, metrics });
  const { client } = connection.app;
  return {
    connection,
    directory: new Directory(client),
    links: new MessageLinks(client),
    // Another Slack than slack.com signs its own people in.
    issuer: slack.apiUrl === undefined ? SLACK_ISSUER : new URL(slack.apiUrl).origin,
  };
}
