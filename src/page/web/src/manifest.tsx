import { type FormEvent, useState } from 'react';
import { showText } from '../../../bot/views/texts/show-text.ts';
import type { Explained, ManifestView } from '../../protocol.ts';
import { ask, type Loaded } from './api.ts';
import { Answer, nameIn, PageLink, useLoaded, Whole } from './parts.tsx';

/** The manifest that is active, and a form that asks what it would do. */
export function ManifestPage() {
  const loaded = useLoaded<ManifestView>('manifest');
  return (
    <>
      <h1>Manifest</h1>
      <Answer loaded={loaded}>{(manifest) => <Manifest manifest={manifest} />}</Answer>
    </>
  );
}

function Manifest({ manifest }: { manifest: ManifestView }) {
  const { digest, text, isGoverned, approval, tools, names } = manifest;
  return (
    <>
      <p>
        Digest <code>{digest === '' ? 'not on record' : digest}</code>
      </p>
      <p>
        {isGoverned ? 'Changes of who approves what need an approval.' : 'Changes need no approval.'}{' '}
        {approval !== undefined && (
          <>
            Last change:{' '}
            <PageLink to={`requests/${encodeURIComponent(approval.id)}`}>{approval.title}</PageLink>, approved
            by {approval.by.map((id) => nameIn(names, id)).join(', ')}.
          </>
        )}
      </p>
      <WhatIf tools={tools} />
      <section>
        <h2>Text</h2>
        <Whole label="Text of the manifest" text={showText(text)} />
      </section>
    </>
  );
}

function WhatIf({ tools }: { tools: readonly string[] }) {
  const [answer, setAnswer] = useState<Loaded<Explained>>();
  const explain = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const data = Object.fromEntries(new FormData(event.currentTarget));
    setAnswer({ state: 'loading' });
    void ask<Explained>('explain', data).then(setAnswer);
  };
  return (
    <section>
      <h2>What would happen if…</h2>
      <form onSubmit={explain} className="stacked">
        <label>
          this person (such as U012ABCDEF)
          <input name="as" required />
        </label>
        <label>
          called this tool
          <select name="tool">
            {tools.map((tool) => (
              <option key={tool}>{tool}</option>
            ))}
          </select>
        </label>
        <label>
          with these arguments (JSON)
          <textarea name="arguments" rows={4} defaultValue="{}" required />
        </label>
        <label>
          in this channel (optional)
          <input name="channel" />
        </label>
        <button type="submit">Ask</button>
      </form>
      <div role="status">
        {answer !== undefined && (
          <Answer loaded={answer}>
            {({ lines }) => <Whole label="What would happen" text={showText(lines.join('\n'))} />}
          </Answer>
        )}
      </div>
    </section>
  );
}
