import type { BotContext } from '../bot/context.ts';
import { signingFor } from '../bot/inbox/decisions/signing.ts';
import { prepareDelegation, takeSignedDelegation } from '../bot/inbox/sign-delegation.ts';
import type { HttpPart } from '../http/http-part.ts';
import type { PageOptions } from '../page/page.ts';
import type { Signing } from '../page/passkeys.ts';
import { proxiedFetch } from '../tools/http/proxy.ts';
import { explainCall } from '../tools/judge-call.ts';
import type { OpenToolbox } from '../tools/toolbox/open-toolbox.ts';
import type { BotProcess } from './installation.ts';
import type { WorkspaceSlack } from './open-slack.ts';

/** The page beside Slack, which is loaded when somebody opens it. */
export function pagePart(
  { settings, secrets, auditKey, logger }: BotProcess,
  { issuer: slackIssuer }: WorkspaceSlack,
  context: BotContext,
  toolbox: OpenToolbox,
): HttpPart {
  const { store, directory, links } = context;
  const options = (): PageOptions => ({
    store,
    directory,
    links,
    toolbox,
    auditKey,
    publicUrl: settings.publicUrl,
    secret: settings.callbackSecret,
    page: () => toolbox.manifest.page,
    manifest: () => toolbox.manifest,
    admins: () => toolbox.manifest.agent.admins,
    explain: async (call) => {
      await toolbox.refreshPeople([...call.requesters, ...call.contextAuthors]);
      return explainCall(toolbox, { ...call, readTotals: (limits) => store.readTotals(limits) });
    },
    redact: (text) => secrets.redact(text),
    signing: signingOf(context),
    fetch: proxiedFetch(settings.proxy),
    slackIssuer,
    logger: logger.child({ part: 'page' }),
  });
  const open = async () => (await import('../page/page.ts')).openPage(options());
  return {
    paths: ['/', '/page', '/page/*'],
    open: () => (toolbox.manifest.page === undefined ? undefined : open()),
  };
}

/** Lets people sign on the page by one-time links: approvals, and delegations of theirs. */
function signingOf(context: BotContext): Signing {
  const approvals = signingFor(context);
  return {
    prepare: async (who, nonce) =>
      (await prepareDelegation(context, who, nonce)) ?? (await approvals.prepare(who, nonce)),
    approve: async (who, assertion) =>
      (await takeSignedDelegation(context, who, assertion)) ?? (await approvals.approve(who, assertion)),
  };
}
