import type { JsonObject } from '../../../../slack/state/types.ts';
import { isObject, objects, stringOf } from '../json.ts';
import { PageLink } from '../text/page-link.tsx';
import { Prose } from '../text/prose.tsx';
import { readRichText } from '../text/read-rich-text.ts';

const STATES: Readonly<Record<string, { icon: string; label: string }>> = {
  pending: { icon: '○', label: 'not started' },
  in_progress: { icon: '◐', label: 'in progress' },
  complete: { icon: '✓', label: 'done' },
  error: { icon: '✕', label: 'failed' },
};

/** One task of an agent: its state, details and output. */
export function TaskCard({ task }: { readonly task: JsonObject }) {
  const status = stringOf(task.status);
  const state = STATES[status] ?? { icon: '○', label: status };
  const sources = objects(task.sources);
  return (
    <div className={`block-task block-task-${status}`}>
      <span className="block-task-state" role="img" aria-label={state.label}>
        {state.icon}
      </span>
      <div className="block-task-body">
        <div className="block-task-title">{stringOf(task.title)}</div>
        {isObject(task.details) ? <Prose passages={readRichText(task.details)} /> : null}
        {isObject(task.output) ? <Prose passages={readRichText(task.output)} /> : null}
        {sources.length === 0 ? null : (
          <ul className="block-task-sources">
            {sources.map((source) => (
              <li key={stringOf(source.url)}>
                <PageLink url={stringOf(source.url)}>{stringOf(source.text)}</PageLink>
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  );
}

/** An agent's plan with its tasks. */
export function PlanBlock({ block }: { readonly block: JsonObject }) {
  return (
    <div className="block-plan">
      <div className="block-plan-title">{stringOf(block.title)}</div>
      {objects(block.tasks).map((task) => (
        <TaskCard key={stringOf(task.task_id)} task={task} />
      ))}
    </div>
  );
}
