import type { BotProcess } from '../../../protocol.ts';
import { usePlayground, useWorkspace } from '../client/store.ts';

const LABELS: Record<BotProcess['state'], string> = {
  starting: 'starting',
  connected: 'connected',
  down: 'down, restarting soon',
  failed: 'failed to start',
};

/** The state of the bot's process and the model's name. */
export function BotState() {
  const { app } = useWorkspace();
  const { bot, model } = usePlayground();
  return (
    <div className="bot-state">
      <p role="status">
        <span className={`bot-state-dot bot-state-${bot.state}`} aria-hidden="true" />
        {app.name}: {LABELS[bot.state]}
      </p>
      {bot.state === 'failed' && bot.lastOutput !== undefined && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard.
        <pre className="bot-state-output" tabIndex={0}>
          {bot.lastOutput}
        </pre>
      )}
      <p className="bot-state-model">
        {model.isScripted ? 'Scripted model: fixed rules, no AI' : `Model: ${model.name}`}
      </p>
    </div>
  );
}
