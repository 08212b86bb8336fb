import { startAuthentication } from '@simplewebauthn/browser';
import { useState } from 'react';
import type { Approval, Approved } from '../../protocol.ts';
import { ask } from './api.ts';
import { Answer, Facts, PageLink, useLoaded } from './parts.tsx';
import { Head, RawData, Summary } from './request.tsx';

/** The view of a one-time link: the request from the stored bytes, what the approval or the delegation covers, and the button that asks the passkey. */
export function ApprovePage({ nonce }: { nonce: string }) {
  const loaded = useLoaded<Approval>(`approval/${nonce}`);
  if (loaded.state === 'failed')
    return (
      <>
        <h1>Not signed</h1>
        <p role="alert">{loaded.error}</p>
      </>
    );
  return <Answer loaded={loaded}>{(approval) => <Sign nonce={nonce} approval={approval} />}</Answer>;
}

type Step =
  | { readonly at: 'reading' | 'signing' }
  | { readonly at: 'done' | 'failed'; readonly text: string };

function Sign({ nonce, approval }: { nonce: string; approval: Approval }) {
  const { request, covers, digest } = approval;
  const [step, setStep] = useState<Step>({ at: 'reading' });
  const approve = async () => {
    setStep({ at: 'signing' });
    setStep(await sign(nonce, approval));
  };
  const title =
    request === undefined ? (
      <h1>Let somebody decide for you</h1>
    ) : (
      <h1 className="untrusted">{request.title}</h1>
    );
  if (step.at === 'done')
    return (
      <article className="box">
        <div className="head">
          {title}
          <p role="status">{step.text}</p>
          {request !== undefined && (
            <p>
              <PageLink to={`requests/${encodeURIComponent(request.id)}`}>See the request</PageLink>
            </p>
          )}
        </div>
      </article>
    );
  return (
    <article>
      <div className="box">
        {request === undefined ? (
          <div className="head">
            {title}
            <p>
              Read who may decide for you. Then sign it with your passkey. If you didn't delegate anything,
              tell an admin, and type /countersign delegate stop in Slack.
            </p>
          </div>
        ) : (
          <>
            <Head request={request} />
            <Summary request={request} />
          </>
        )}
        <Facts facts={covers} />
      </div>
      {request !== undefined && <RawData request={request} more={digest === undefined ? [] : [digest]} />}
      <div className="foot">
        {step.at === 'failed' && <p role="alert">{step.text}</p>}
        <button
          type="button"
          className={request?.isHighRisk === true ? 'button danger' : 'button go'}
          disabled={step.at === 'signing'}
          onClick={() => void approve()}
        >
          {step.at === 'signing'
            ? 'Waiting for your passkey…'
            : request === undefined
              ? 'Sign with passkey'
              : 'Approve with passkey'}
        </button>
        <span className="soft">
          Your device signs exactly this.{request !== undefined && ' To reject, use Reject in Slack.'}
        </span>
      </div>
    </article>
  );
}

async function sign(nonce: string, { challenge, rpId, keys, terms }: Approval): Promise<Step> {
  try {
    const { id, response } = await startAuthentication({
      optionsJSON: {
        challenge,
        rpId,
        userVerification: 'required',
        allowCredentials: keys.map((key) => ({ id: key.id, type: 'public-key' })),
      },
    });
    const { authenticatorData, clientDataJSON, signature } = response;
    const assertion = { terms, credential: id, authenticatorData, clientDataJSON, signature };
    const answer = await ask<Approved>(`approve/${nonce}`, assertion);
    if (answer.state === 'loaded') return { at: 'done', text: answer.value.text };
    return { at: 'failed', text: answer.state === 'failed' ? answer.error : '' };
  } catch {
    // The person closed the dialog, or the device has none of the keys.
    return { at: 'failed', text: 'Your passkey did not answer. Nothing was signed. Try again.' };
  }
}
