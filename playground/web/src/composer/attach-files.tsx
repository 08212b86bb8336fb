import { useId } from 'react';
import { Icon } from '../icon.tsx';

/** A button that picks files for the message. */
export function AttachButton({ onPick }: { onPick: (files: readonly File[]) => void }) {
  const id = useId();
  return (
    <>
      <label className="icon-button composer-attach" htmlFor={id} title="Attach files">
        <Icon name="attach" />
      </label>
      <input
        id={id}
        className="visually-hidden"
        type="file"
        multiple
        aria-label="Attach files"
        onChange={({ target }) => {
          onPick([...(target.files ?? [])]);
          // The same file can be picked again after it was taken out.
          target.value = '';
        }}
      />
    </>
  );
}

/** The files that the message will have, each with a button that takes it out. */
export function AttachedFiles({
  files,
  onChange,
}: {
  files: readonly File[];
  onChange: (files: readonly File[]) => void;
}) {
  if (files.length === 0) return null;
  return (
    <ul className="composer-files" aria-label="Files to send">
      {files.map((file, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two files may have the same name
        <li key={`${index}-${file.name}`}>
          {file.name}
          <button
            type="button"
            className="icon-button"
            aria-label={`Remove ${file.name}`}
            onClick={() => onChange(files.filter((other) => other !== file))}
          >
            <Icon name="close" size={14} />
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Reads a file as the server takes it. */
export async function encodeFile(file: File): Promise<{ readonly name: string; readonly data: string }> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return { name: file.name, data: window.btoa(binary) };
}
