import { useState } from 'react';
import type { BotProcess } from '../../../protocol.ts';
import { killBot } from '../client/act.ts';
import { usePlayground } from '../client/store.ts';

/** Kills the bot's process; enabled only while it is connected. */
export function KillButton() {
  const { bot } = usePlayground();
  const [isKilling, setKilling] = useState(false);
  const kill = async () => {
    setKilling(true);
    await killBot();
    setKilling(false);
  };
  return (
    <div className="tour-kill">
      <p>
        Kills the bot's process immediately (SIGKILL), whatever it is doing. A new process starts by itself,
        reads the record and continues.
      </p>
      <button
        type="button"
        className="tour-button tour-button-kill"
        disabled={isKilling || bot.state !== 'connected'}
        onClick={() => void kill()}
      >
        Kill the bot now
      </button>
      <p role="status">{describeBot(bot)}</p>
      {bot.state === 'failed' && bot.lastOutput !== undefined && (
        <pre className="tour-last-output">{bot.lastOutput}</pre>
      )}
    </div>
  );
}

function describeBot({ state, pid, kills }: BotProcess): string {
  const killed = kills === 0 ? '' : ` Killed so far: ${kills}.`;
  switch (state) {
    case 'starting':
      return `The bot is starting.${killed}`;
    case 'connected':
      return `The bot is connected${pid === undefined ? '' : `, as process ${pid}`}.${killed}`;
    case 'down':
      return `The bot is down and restarts in a moment.${killed}`;
    case 'failed':
      return 'The bot could not start. Its last output:';
  }
}
