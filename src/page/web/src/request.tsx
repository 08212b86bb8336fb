import type { ReactNode } from 'react';
import { showLine, showText } from '../../../bot/views/texts/show-text.ts';
import type { Fact, Me, RequestView } from '../../protocol.ts';
import {
  Answer,
  Avatar,
  Box,
  Facts,
  isLong,
  nameIn,
  People,
  Pill,
  State,
  Updated,
  useLoaded,
  Whole,
} from './parts.tsx';
import { Rows } from './rows.tsx';
import { Ago, Clock, TIME_ZONE } from './times.tsx';

/** One request, whole: what it would do, who decided, why people were asked, and its rows in the log. */
export function RequestPage({ id, me }: { id: string; me: Me }) {
  const loaded = useLoaded<RequestView>(`requests/${encodeURIComponent(id)}`, { isLive: true });
  return (
    <Answer loaded={loaded}>
      {(request) => (
        <article>
          <div className="box">
            <Head request={request} />
            {!request.isKept && (
              <p className="inset">This request was removed after its time. The log alone tells of it.</p>
            )}
            <Summary request={request} />
          </div>
          <Happened request={request} me={me} beside={<Updated loaded={loaded} />} />
          <RawData request={request} />
        </article>
      )}
    </Answer>
  );
}

/** The title of a request, with its state, who asked and until when. */
export function Head({ request }: { request: RequestView }) {
  const { title, state, word, isHighRisk, requesters, channel, askedAt, expiresAt, names, slackLink } =
    request;
  const [first = ''] = requesters;
  return (
    <div className="head">
      <h1 className="untrusted">{title}</h1>
      <p className="soft">
        <span className="pills">
          <State state={state} word={word} />
          {isHighRisk && <Pill tone="bad">High risk</Pill>}
        </span>{' '}
        {first !== '' && <Avatar id={first} names={names} />} asked by{' '}
        <People ids={requesters} names={names} />
        {channel !== undefined && ` in ${nameIn(names, channel)}`} <Ago at={askedAt} />
        {expiresAt !== undefined && (
          <>
            {' · expires '}
            <Ago at={expiresAt} />
          </>
        )}
        {slackLink !== undefined && (
          <>
            {' · '}
            <a href={slackLink} rel="noreferrer">
              Open in Slack
            </a>
          </>
        )}
      </p>
    </div>
  );
}

/** The call in the words of its card, and what people decide by. */
export function Summary({ request: { fields, texts, terms, names } }: { request: RequestView }) {
  return (
    <>
      <Facts facts={fields} className="fields" />
      <Facts facts={texts.filter(({ text }) => !isLong(text))} />
      <Texts texts={texts.filter(({ text }) => isLong(text))} />
      <Facts facts={terms} names={names} className="terms" />
    </>
  );
}

function Texts({ texts }: { texts: readonly Fact[] }) {
  return texts.map(({ label, text }) => (
    <section key={label} className="text">
      <h2>{label}</h2>
      <Whole label={label} text={text} />
    </section>
  ));
}

/** The exact texts behind the words; open where the words do not tell everything. */
export function RawData({ request, more = [] }: { request: RequestView; more?: readonly Fact[] }) {
  const { raw, facts, rules, names, isComplete, isKept } = request;
  return (
    <details className="box raw" open={isKept && !isComplete}>
      <summary>Details and raw data</summary>
      <Texts texts={raw} />
      {rules.length > 0 && (
        <section className="text">
          <h2>What the rules say now</h2>
          <Whole label="What the rules say now" text={showText(rules.join('\n'))} names={names} />
        </section>
      )}
      <Facts facts={[...facts, ...more]} names={names} />
    </details>
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

interface HappenedOptions {
  readonly request: RequestView;
  readonly me: Me;
  readonly beside: ReactNode;
}

/** The rows of a request in the log; the votes alone, once the rows were removed. */
function Happened({ request: { rows, votes, names }, me, beside }: HappenedOptions) {
  return (
    <Box title="What happened" beside={beside}>
      {rows.length === 0 ? (
        <>
          <p className="inset">Its rows were removed from Redis; the export has them.</p>
          <ul className="votes">
            {votes.map(({ who, decision, at, standsFor, reason }) => (
              <li key={`${who} ${at}`}>
                <People ids={[who]} names={names} />
                {standsFor !== undefined && (
                  <>
                    {' (for '}
                    <People ids={[standsFor]} names={names} />)
                  </>
                )}{' '}
                {DECISIONS[decision] ?? showLine(decision)} <Clock at={at} />
                {reason !== undefined && <span className="untrusted">: {showText(reason)}</span>}
              </li>
            ))}
          </ul>
        </>
      ) : (
        <Rows rows={rows} names={names} hasLinks={me.seesAll} />
      )}
      <p className="soft inset">All times in {TIME_ZONE}.</p>
    </Box>
  );
}
