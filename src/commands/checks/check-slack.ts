import { z } from 'zod';
import type { Manifest } from '../../tools/manifest/manifest.ts';
import { callSlack } from '../shared/call-slack.ts';
import { checkClock } from './check-clock.ts';
import { type Finding, failed, firstLineOf, notChecked, ok, warning } from './finding.ts';

const Identity = z.object({ team: z.string().catch('?'), user: z.string().catch('?') });
const Scoped = z.object({ oauth_config: z.object({ scopes: z.object({ bot: z.array(z.string()) }) }) });

/** Tries the tokens, and compares the scopes of the bot token with those of the manifest. */
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
    return [failed(check, firstLineOf(error))];
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
  const { ok: isOk, error, body, scopes, date } = await callSlack('auth.test', token, {}, environment);
  if (!isOk) {
    const advice =
      'copy the bot token again from "OAuth & Permissions" of the app, and install the app if it is not installed';
    return [
      failed(check, `Slack rejects SLACK_BOT_TOKEN (${error})`, { fix: advice }),
      notChecked('slack scopes', 'the token is rejected'),
    ];
  }
  const { team, user } = Identity.parse(body);
  return [
    ok(check, `the bot is ${user} in ${team}`),
    ...checkScopes(scopes, manifest),
    ...(date === undefined ? [] : [checkClock('Slack', date, Date.now())]),
  ];
}

function checkScopes(installed: readonly string[], manifest: Manifest | undefined): Finding[] {
  const check = 'slack scopes';
  if (manifest === undefined) return [notChecked(check, 'there is no valid manifest to compare them with')];
  const listed = Scoped.safeParse(manifest.slack).data?.oauth_config.scopes.bot ?? [];
  const missing = listed.filter((scope) => !installed.includes(scope));
  const extra = installed.filter((scope) => !listed.includes(scope));
  const advice = 'update the app (countersign manifest push --app-id ID) and install it again';
  return [
    missing.length === 0
      ? ok(check, `all ${listed.length} scopes in the manifest are granted`)
      : failed(check, `missing: ${missing.join(', ')}`, { fix: advice }),
    ...(extra.length === 0
      ? []
      : [warning(check, `granted, but not in the manifest: ${extra.join(', ')}`, { fix: advice })]),
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
    'create an app-level token with connections:write under "Basic Information" and turn Socket Mode on';
  return [failed(check, `Slack rejects SLACK_APP_TOKEN (${error})`, { fix: advice })];
}
