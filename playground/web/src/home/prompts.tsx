import { act } from '../client/act.ts';
import { useEntity } from '../client/store.ts';
import './home.css';

/** The app's suggested prompts; a click sends one. */
export function Prompts({ channel }: { channel: string }) {
  const suggested = useEntity(`prompts:${channel}`);
  if (suggested === undefined || suggested.prompts.length === 0) return null;
  return (
    <section className="prompts" aria-label="Suggested prompts">
      {suggested.title !== undefined && <p>{suggested.title}</p>}
      <ul>
        {suggested.prompts.map(({ title, message }) => (
          <li key={title}>
            <button
              type="button"
              title={message}
              onClick={() => void act('send', { channel, text: message })}
            >
              {title}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
