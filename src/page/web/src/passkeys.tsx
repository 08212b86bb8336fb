import { startRegistration } from '@simplewebauthn/browser';
import { type FormEvent, useState } from 'react';
import type { PasskeyItem, Passkeys } from '../../protocol.ts';
import { ask } from './api.ts';
import { Answer, Box, Pill, useLoaded } from './parts.tsx';
import { Ago, Moment } from './times.tsx';

/** The person's own passkeys: list, add, rename, remove. */
export function PasskeysPage() {
  const [changes, setChanges] = useState(0);
  const loaded = useLoaded<Passkeys>(`passkeys?after=${changes}`, { isLive: true });
  return (
    <>
      <h1>Your passkeys</h1>
      <p>Some requests are approved with a passkey: your own device signs exactly what will run.</p>
      <Answer loaded={loaded}>
        {({ keys, isFresh }) => (
          <>
            <Box title="On record">
              {keys.length === 0 && <p className="inset">You have none yet.</p>}
              {keys.length > 0 && (
                <ul className="requests" aria-label="Your passkeys">
                  {keys.map((key) => (
                    <Key key={key.credential} item={key} onChange={() => setChanges(changes + 1)} />
                  ))}
                </ul>
              )}
            </Box>
            {isFresh ? (
              <Add onAdded={() => setChanges(changes + 1)} />
            ) : (
              <p>
                <a className="button" href="sign-in?to=passkeys">
                  Sign in again to add or remove a passkey
                </a>
              </p>
            )}
          </>
        )}
      </Answer>
    </>
  );
}

function Key({ item, onChange }: { item: PasskeyItem; onChange: () => void }) {
  const { credential, name, code, addedAt, isConfirmed, counts, countsFrom } = item;
  const [error, setError] = useState<string>();
  const change = async (path: string, body: object) => {
    const answer = await ask<PasskeyItem>(path, { credential, ...body });
    if (answer.state === 'failed') setError(answer.error);
    else onChange();
  };
  const rename = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    void change('passkey-rename', { name: String(new FormData(event.currentTarget).get('name')) });
  };
  return (
    <li>
      <div className="row-head">
        <h3 className="untrusted">{name}</h3>
        <Pill tone={isConfirmed ? 'good' : 'open'}>
          {counts}
          {countsFrom !== undefined && (
            <>
              {' '}
              <Moment at={countsFrom} />
            </>
          )}
        </Pill>
      </div>
      <p className="soft">
        Code <code>{code}</code> · added <Ago at={addedAt} />
      </p>
      {error !== undefined && <p role="alert">{error}</p>}
      <form className="inline" onSubmit={rename}>
        <label>
          Name <input name="name" defaultValue={name} maxLength={60} required />
        </label>{' '}
        <button type="submit" className="quiet">
          Rename
        </button>{' '}
        <button type="button" className="danger" onClick={() => void change('passkey-remove', {})}>
          Remove {name}
        </button>
      </form>
    </li>
  );
}

function Add({ onAdded }: { onAdded: () => void }) {
  const [error, setError] = useState<string>();
  const add = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get('name'));
    const problem = await addKey(name);
    setError(problem);
    if (problem === undefined) onAdded();
  };
  return (
    <Box title="Add a passkey">
      <p className="inset">
        You and the admins are told. It does not count at once: it says here when it does, or that an admin
        has to confirm it.
      </p>
      {error !== undefined && (
        <p role="alert" className="inset">
          {error}
        </p>
      )}
      <form className="inline inset" onSubmit={(event) => void add(event)}>
        <label>
          Name of the new passkey <input name="name" maxLength={60} required placeholder="Laptop" />
        </label>{' '}
        <button type="submit">Add a passkey</button>
      </form>
    </Box>
  );
}

type Options = Parameters<typeof startRegistration>[0]['optionsJSON'];

/** Makes a key on the person's device and sends its public part; returns a sentence if that failed. */
async function addKey(name: string): Promise<string | undefined> {
  const options = await ask<Options>('passkey-options', {});
  if (options.state !== 'loaded') return options.state === 'failed' ? options.error : '';
  try {
    const response = await startRegistration({ optionsJSON: options.value });
    const added = await ask<PasskeyItem>('passkey-add', { name, response });
    return added.state === 'failed' ? added.error : undefined;
  } catch {
    return "Your device didn't make a passkey. Try again.";
  }
}
