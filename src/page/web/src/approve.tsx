import { startAuthentication } from '@simplewebauthn/browser';
import { useState } from 'react';
import type { Approval, Approved } from '../../protocol.ts';
import { ask } from './api.ts';
import { Answer, Facts, PageLink, useLoaded } from './parts.tsx';
import { Call } from './request.tsx';

/** The view of a one-time link: the request from the stored bytes, what the approval covers, and the button that asks the passkey. */
export function ApprovePage({ nonce }: { nonce: string }) {
  const loaded = useLoaded<Approval>(`approval/${nonce}`);
  if (loaded.state === 'failed')
    return (
      <>
        <h1>Not approved</h1>
        <p role="alert">{loaded.error}</p>
      </>
    );
  return <Answer loaded={loaded}>{(approval) => <Sign nonce={nonce} approval={approval} />}</Answer>;
}

type Step =
  | { readonly at: 'reading' | 'signing' }
  | { readonly at: 'done' | 'failed'; readonly text: string };

function Sign({ nonce, approval }: { nonce: string; approval: Approval }) {
  const { request, covers } = approval;
  const [step, setStep] = useState<Step>({ at: 'reading' });
  const approve = async () => {
    setStep({ at: 'signing' });
    setStep(await sign(nonce, approval));
  };
  if (step.at === 'done')
    return (
      <article>
        <h1 className="untrusted">{request.title}</h1>
        <p role="status">{step.text}</p>
        <p>
          <PageLink to={`requests/${encodeURIComponent(request.id)}`}>See the request</PageLink>
        </p>
      </article>
    );
  return (
    <article>
      <h1 className="untrusted">{request.title}</h1>
      <p>
        Read what will run. Then approve it with your passkey. To reject it, use Reject in Slack: that needs
        no passkey.
      </p>
      <Call request={request} />
      <section>
        <h2>Facts</h2>
        <Facts facts={request.facts} names={request.names} />
      </section>
      <section className="signing">
        <h2>Your approval</h2>
        <Facts facts={covers} />
        {step.at === 'failed' && <p role="alert">{step.text}</p>}
        <p>
          <button
            type="button"
            className="button"
            disabled={step.at === 'signing'}
            onClick={() => void approve()}
          >
            {step.at === 'signing' ? 'Waiting for your passkey…' : 'Approve with passkey'}
          </button>
        </p>
      </section>
    </article>
  );
}

async function sign(nonce: string, { challenge, rpId, keys, terms }: Approval): Promise<Step> {
  try {
    const { id, response } = await startAuthentication({
      optionsJSON: {
        ...{ challenge, rpId, userVerification: 'required' },
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
    return { at: 'failed', text: 'Your passkey did not answer. Nothing was approved. Try again.' };
  }
}
