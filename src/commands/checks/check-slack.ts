import { z } from 'zod';
import type { Manifest } from '../../tools/manifest/manifest.ts';
import { callSlack } from '../shared/call-slack.ts';
import { type Finding, failed, notChecked, ok, sentenceOf, warning } from './finding.ts';

const Identity = z.object({ team: z.string().catch('?'), user: z.string().catch('?') });
const Scoped = z.object({ oauth_config: z.object({ scopes: z.object({ bot: z.array(z.string()) }) }) });

/** Tries the tokens, and holds the scopes that were granted against those that the manifest lists. */
export async function checkSlack(
  environment: NodeJS.ProcessEnv,
  manifest: Manifest | undefined,
): Promise<Finding[]> {
  return [
    ...(await findings('slack bot token', () => checkBotToken(environment, manifest))),
    ...(await findings('slack app token', () => checkAppToken(environment))),
  ];
}

async function findings(check: string, look: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await look();
  } catch (error) {
    return [failed(check, sentenceOf(error))];
  }
}

async function checkBotToken(
  environment: NodeJS.ProcessEnv,
  manifest: Manifest | undefined,
): Promise<Finding[]> {
  const check = 'slack bot token';
  const { SLACK_BOT_TOKEN: token = '' } = environment;
  if (token === '')
    return [notChecked(check, 'SLACK_BOT_TOKEN is not set'), notChecked('slack scopes', 'there is no token')];
  const { ok: isOk, error, body, scopes } = await callSlack('auth.test', token, {}, environment);
  if (!isOk) {
    const advice =
      'copy the bot token anew from "OAuth & Permissions" of the app, and install the app if it is not';
    return [
      failed(check, `Slack refuses SLACK_BOT_TOKEN (${error}); ${advice}`),
      notChecked('slack scopes', 'the token is refused'),
    ];
  }
  const { team, user } = Identity.parse(body);
  return [ok(check, `it is ${user} in ${team}`), ...checkScopes(scopes, manifest)];
}

function checkScopes(granted: readonly string[], manifest: Manifest | undefined): Finding[] {
  const check = 'slack scopes';
  if (manifest === undefined) return [notChecked(check, 'there is no manifest to hold them against')];
  const listed = Scoped.safeParse(manifest.slack).data?.oauth_config.scopes.bot ?? [];
  const missing = listed.filter((scope) => !granted.includes(scope));
  const extra = granted.filter((scope) => !listed.includes(scope));
  const advice = 'update the app (countersign manifest push --app-id ID) and install it again';
  return [
    missing.length === 0
      ? ok(check, `all ${listed.length} of the manifest are granted`)
      : failed(check, `not granted: ${missing.join(', ')}; ${advice}`),
    ...(extra.length === 0
      ? []
      : [warning(check, `granted, but not in the manifest: ${extra.join(', ')}; ${advice}`)]),
  ];
}

async function checkAppToken(environment: NodeJS.ProcessEnv): Promise<Finding[]> {
  const check = 'slack app token';
  const { SLACK_APP_TOKEN: token = '', SLACK_SIGNING_SECRET: signing = '' } = environment;
  if (token === '') {
    const isHttp = signing !== '';
    return [
      isHttp
        ? ok(check, 'not needed: Slack calls over HTTP')
        : notChecked(check, 'SLACK_APP_TOKEN is not set'),
    ];
  }
  const { ok: isOk, error } = await callSlack('apps.connections.open', token, {}, environment);
  if (isOk) return [ok(check, 'Socket Mode can be opened')];
  const advice =
    'make an app-level token with connections:write under "Basic Information" and switch Socket Mode on';
  return [failed(check, `Slack refuses SLACK_APP_TOKEN (${error}); ${advice}`)];
}
