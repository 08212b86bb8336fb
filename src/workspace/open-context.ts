import { type BotContext, timingFor } from '../bot/context.ts';
import { CallbackUrls } from '../bot/slack/callback-urls.ts';
import { FileHost } from '../bot/slack/file-host.ts';
import { ThreadReader } from '../bot/slack/thread-reader.ts';
import { UPDATE_WINDOW_MS, UpdateBudget } from '../bot/slack/update-budget.ts';
import { ThreadStatus } from '../bot/thread-status.ts';
import { PendingLimiter } from '../engine/pending-limiter.ts';
import { RunningTurns } from '../engine/running-turns.ts';
import { observedModel } from '../observe/observed-model.ts';
import { openModels } from '../open-model.ts';
import { pageLinks } from '../page/links.ts';
import { updateCounterIn } from '../store/redis/short-lived.ts';
import { proxiedFetch } from '../tools/http/proxy.ts';
import { contentReader } from './content-reader.ts';
import type { BotProcess, Installation } from './installation.ts';
import type { WorkspaceRecord } from './open-record.ts';
import type { WorkspaceSlack } from './open-slack.ts';
import type { WorkspaceTools } from './open-tools.ts';

/** Gathers the dependencies of all handlers of a workspace. */
export function openContext(
  { slack, prefix, model }: Installation,
  process: BotProcess,
  { store }: WorkspaceRecord,
  { connection, directory, links }: WorkspaceSlack,
  { toolbox, accounts }: WorkspaceTools,
): BotContext {
  const { settings, redis, metrics, logger } = process;
  const { client } = connection.app;
  const fetch = proxiedFetch(settings.proxy);
  const content = contentReader(process);
  const { linkTo, passkeyLink } = pageLinks(settings.publicUrl, () => toolbox.manifest.page);
  return {
    ...openModels(
      {
        ...settings.model,
        fetch,
        onRetry: (name) => metrics.count('countersign_model_retries_total', { model: name }),
      },
      {
        agent: () => toolbox.manifest.agent,
        observe: (opened) => observedModel(opened, { metrics, content }),
        logger,
        given: model,
      },
    ),
    toolbox,
    store,
    client,
    directory,
    links,
    pageLink: linkTo,
    passkeyLink,
    threads: new ThreadReader(client),
    fileHost: new FileHost({ client, botToken: slack.botToken, apiUrl: slack.apiUrl, fetch, logger }),
    limiter: new PendingLimiter(store),
    callbacks: new CallbackUrls(settings.publicUrl, settings.callbackSecret),
    accounts,
    turns: new RunningTurns(),
    status: new ThreadStatus(client, logger),
    updates: new UpdateBudget(updateCounterIn(redis, UPDATE_WINDOW_MS, prefix), logger),
    timing: { ...timingFor(settings.crashNoticeSeconds), ...process.timing },
    metrics,
    logger,
  };
}
