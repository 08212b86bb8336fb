import { useEffect, useState } from 'react';
import type { BotProcess } from '../../../protocol.ts';
import { press } from '../client/act.ts';
import { usePlayground } from '../client/store.ts';

/** Kills the bot's process, enabled only while it is connected, and counts down to its return. */
export function KillButton() {
  const { bot } = usePlayground();
  const [isKilling, setKilling] = useState(false);
  const seconds = useSecondsUntil(bot.restartsAt);
  const kill = async () => {
    setKilling(true);
    await press('kill');
    setKilling(false);
  };
  return (
    <div className="tour-kill">
      <button
        type="button"
        className="tour-button tour-button-kill"
        disabled={isKilling || bot.state !== 'connected'}
        onClick={() => void kill()}
      >
        Kill the bot now
      </button>
      <p role="status">{describeBot(bot, seconds)}</p>
      {bot.state === 'failed' && bot.lastOutput !== undefined && (
        <pre className="tour-last-output">{bot.lastOutput}</pre>
      )}
    </div>
  );
}

/** Returns the seconds until a time, counted down. */
function useSecondsUntil(at: number | undefined): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (at === undefined) return;
    setNow(Date.now());
    const timer = window.setInterval(() => setNow(Date.now()), 250);
    return () => window.clearInterval(timer);
  }, [at]);
  return at === undefined ? 0 : Math.max(0, Math.ceil((at - now) / 1_000));
}

function describeBot({ state, pid, kills }: BotProcess, seconds: number): string {
  switch (state) {
    case 'starting':
      return kills === 0 ? 'The bot is starting.' : 'A new process starts, and reads the record.';
    case 'connected':
      return `The bot is connected${pid === undefined ? '' : `, as process ${pid}`}.${kills === 0 ? '' : ` Killed so far: ${kills}.`}`;
    case 'down':
      return `The bot is dead (SIGKILL). It starts again in ${seconds} s.`;
    case 'failed':
      return 'The bot could not start. Its last output:';
  }
}
