import { type FormEvent, useEffect, useState } from 'react';
import { showLine, showText } from '../../../bot/views/texts/show-text.ts';
import type { Explained, ManifestView } from '../../protocol.ts';
import { ask, type Loaded } from './api.ts';
import { Answer, Box, Named, PageLink, People, PersonField, useLoaded, Whole } from './parts.tsx';
import { goTo, useFormOf } from './use-route.ts';

/** The manifest that is active, and a form that asks what it would do. */
export function ManifestPage({ query }: { query: URLSearchParams }) {
  const loaded = useLoaded<ManifestView>('manifest');
  return (
    <>
      <h1>Manifest</h1>
      <Answer loaded={loaded}>{(manifest) => <Manifest manifest={manifest} query={query} />}</Answer>
    </>
  );
}

function Manifest({ manifest, query }: { manifest: ManifestView; query: URLSearchParams }) {
  const { digest, text, isGoverned, approval, tools, names } = manifest;
  return (
    <>
      <p>
        {isGoverned ? 'Changes of who approves what need an approval.' : 'Changes need no approval.'}{' '}
        {approval !== undefined && (
          <>
            Last change:{' '}
            <PageLink to={`requests/${encodeURIComponent(approval.id)}`}>{approval.title}</PageLink>, approved
            by <Named text={showLine(approval.by.join(', '))} names={names} />.
          </>
        )}
      </p>
      <WhatIf tools={tools} query={query} />
      <Box
        title="Text"
        beside={
          digest !== '' && (
            <span className="soft">
              digest <code title={digest}>{digest.slice(0, DIGEST_SHOWN)}…</code>
            </span>
          )
        }
      >
        <Whole label="Text of the manifest" text={showText(text)} />
      </Box>
    </>
  );
}

/** So much of a digest is shown; who points at it sees the whole. */
const DIGEST_SHOWN = 12;

const ASKED = ['as', 'tool', 'arguments', 'channel'] as const;
/** A longer question is asked, but has no address. */
const LONGEST_ADDRESS = 2_000;

/** Asks what the rules would do with a call; the question is in the address, so that it can be sent to somebody. */
function WhatIf({ tools, query }: { tools: readonly string[]; query: URLSearchParams }) {
  const [answer, setAnswer] = useState<Loaded<Explained>>();
  const address = query.toString();
  const explain = (question: URLSearchParams) => {
    setAnswer({ state: 'loading' });
    void ask<Explained>('explain', Object.fromEntries(question)).then(setAnswer);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address is the question.
  useEffect(() => {
    if (query.has('as') && query.has('tool')) explain(query);
  }, [address]);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const question = new URLSearchParams(
      ASKED.flatMap((name) => {
        const value = data.get(name);
        return typeof value === 'string' && value !== '' ? [[name, value]] : [];
      }),
    );
    const next = question.toString();
    if (next === address || next.length > LONGEST_ADDRESS) explain(question);
    else goTo(`manifest?${next}`);
  };
  return (
    <Box title="What would happen if…">
      <form onSubmit={submit} className="stacked" ref={useFormOf(query, ASKED)}>
        <PersonField label="this person or caller" name="as" isRequired={true} />
        <label>
          called this tool
          <select name="tool" required>
            <option value="">Choose a tool</option>
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
            {({ as, lines, names }) => (
              <>
                <p className="inset">
                  If <People ids={[as]} names={names} /> called it now:
                </p>
                <Whole label="What would happen" text={showText(lines.join('\n'))} names={names} />
              </>
            )}
          </Answer>
        )}
      </div>
    </Box>
  );
}
