import { useEntity, useWorkspace } from '../client/store.ts';

/** The app's status line in a thread; nothing when it is empty. */
export function StatusLine({ channel, threadTs }: { channel: string; threadTs: string }) {
  const status = useEntity(`status:${channel}:${threadTs}`);
  const { app } = useWorkspace();
  if (status === undefined || status.text === '') return null;
  return (
    <p className="status-line">
      <span className="status-line-dots" aria-hidden="true">
        <i />
        <i />
        <i />
      </span>
      {app.name} {status.text}
    </p>
  );
}
