import type { JobProcess } from '../../../protocol.ts';
import { press } from '../client/act.ts';
import { usePlayground } from '../client/store.ts';
import './terminal.css';

/** A terminal with a CI job that asks before it releases: the real command line, with its own output. */
export function TerminalPanel() {
  const { job, bot } = usePlayground();
  if (job === undefined)
    return (
      <section className="terminal" aria-label="Terminal">
        <p className="terminal-note">
          This manifest has no caller named release-job, so no job can ask here.
        </p>
      </section>
    );
  const isRunning = job.state === 'running';
  return (
    <section className="terminal" aria-label="Terminal">
      <h2 className="terminal-title">A CI job asks first</h2>
      <p className="terminal-note">
        The job wants to release. It asks in #general, waits, and runs its command only if Alice or Bruno
        approves exactly this.
      </p>
      <div className="terminal-buttons">
        <button
          type="button"
          className="tour-button tour-button-main"
          disabled={isRunning || bot.state !== 'connected'}
          onClick={() => void press('start-job')}
        >
          {job.state === 'ended' ? 'Run the job again' : 'Run the job'}
        </button>
        <button
          type="button"
          className="tour-button"
          disabled={!isRunning}
          onClick={() => void press('interrupt-job')}
        >
          Ctrl-C
        </button>
      </div>
      <pre
        className="terminal-screen"
        role="log"
        aria-label="Output of the job"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard.
        tabIndex={0}
      >
        <span className="terminal-prompt">release $ </span>
        {job.state !== 'idle' && `${job.commandLine}\n${job.output}`}
        {isRunning && <span className="terminal-cursor" aria-hidden="true" />}
      </pre>
      <p className="terminal-note" role="status">
        {describeJob(job)}
      </p>
    </section>
  );
}

function describeJob({ state, exitCode }: JobProcess): string {
  switch (state) {
    case 'idle':
      return 'The job has not run yet.';
    case 'running':
      return 'The job is running.';
    case 'ended':
      return exitCode === 0 ? 'The job succeeded.' : `The job ended with exit code ${exitCode ?? 1}.`;
  }
}
