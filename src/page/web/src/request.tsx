import { showLine, showText } from '../../../bot/views/texts/show-text.ts';
import type { Me, RequestView } from '../../protocol.ts';
import { Answer, Facts, Moment, Named, State, useLoaded, Whole } from './parts.tsx';
import { Rows } from './rows.tsx';

/** One request, whole: what it would do, who decided, why people were asked, and its rows in the log. */
export function RequestPage({ id, me }: { id: string; me: Me }) {
  const loaded = useLoaded<RequestView>(`requests/${encodeURIComponent(id)}`);
  return <Answer loaded={loaded}>{(request) => <Request request={request} me={me} />}</Answer>;
}

function Request({ request, me }: { request: RequestView; me: Me }) {
  const { title, state, word, facts, rows, names, slackLink, isKept } = request;
  return (
    <article>
      <h1 className="untrusted">{title}</h1>
      <p>
        <State state={state} word={word} />
        {slackLink !== undefined && (
          <>
            {' · '}
            <a href={slackLink} rel="noreferrer">
              Open in Slack
            </a>
          </>
        )}
      </p>
      {!isKept && <p>This request was removed after its time. The log alone tells of it.</p>}
      <Call request={request} />
      <Votes request={request} />
      <Why request={request} />
      <section>
        <h2>Facts</h2>
        <Facts facts={facts} names={names} />
      </section>
      <section>
        <h2>In the log</h2>
        {rows.length === 0 ? (
          <p>Its rows were removed from Redis; the export has them.</p>
        ) : (
          <Rows rows={rows} names={names} hasLinks={me.seesAll} />
        )}
      </section>
    </article>
  );
}

/** The call itself: what its card says, and the exact texts. */
export function Call({ request: { fields, texts } }: { request: RequestView }) {
  return (
    <>
      {fields.length > 0 && <Facts facts={fields} />}
      {texts.map(({ label, text }) => (
        <section key={label}>
          <h2>{label}</h2>
          <Whole label={label} text={text} />
        </section>
      ))}
    </>
  );
}

const DECISIONS: Readonly<Record<string, string>> = {
  approve: 'approved',
  reject: 'rejected',
  answer: 'answered',
  ran: 'confirmed that it ran',
  'did-not-run': "confirmed that it didn't run",
  'run-again': 'had it run again',
};

function Votes({ request: { votes, names } }: { request: RequestView }) {
  return (
    <section>
      <h2>Votes</h2>
      {votes.length === 0 && <p>Nobody has voted.</p>}
      <ul>
        {votes.map(({ who, decision, at, standsFor }) => (
          <li key={`${who} ${at}`}>
            <Named text={showLine(who)} names={names} />
            {standsFor !== undefined && (
              <>
                {' (for '}
                <Named text={showLine(standsFor)} names={names} />)
              </>
            )}{' '}
            {DECISIONS[decision] ?? showLine(decision)} <Moment at={at} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Why({ request: { because, rules, names } }: { request: RequestView }) {
  if (because === undefined && rules.length === 0) return null;
  return (
    <section>
      <h2>Why approval was needed</h2>
      {because !== undefined && (
        <p className="untrusted">
          <Named text={showText(because)} names={names} />
        </p>
      )}
      {rules.length > 0 && (
        <>
          <h3>What the rules say now</h3>
          <Whole label="What the rules say now" text={showText(rules.join('\n'))} names={names} />
        </>
      )}
    </section>
  );
}
