import { useId, useRef, useState } from 'react';
import type { PersonEntity } from '../../../protocol.ts';
import { usePeople, usePerson, useWorkspace } from '../client/store.ts';
import { Icon } from '../icon.tsx';
import { hrefOf, navigate, useRoute } from '../navigation/routes.ts';
import { useDismiss } from '../use-dismiss.ts';
import { Avatar } from './avatar.tsx';
import { RoleBadge } from './role-badge.tsx';
import './people.css';

/** Shows the current person and switches to another one on the same screen. */
export function PeopleSwitch() {
  const { me } = useWorkspace();
  const [isOpen, setOpen] = useState(false);
  const listId = useId();
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const close = (): void => {
    setOpen(false);
    button.current?.focus();
  };
  useDismiss(box, isOpen, (how) => (how === 'escape' ? close() : setOpen(false)));
  return (
    <div className="people-switch" ref={box}>
      <button
        type="button"
        ref={button}
        className="people-switch-button"
        aria-expanded={isOpen}
        aria-controls={listId}
        onClick={() => setOpen(!isOpen)}
      >
        <Me userId={me} />
        <Icon name="down" />
      </button>
      {isOpen && <PeopleList id={listId} onChosen={close} />}
    </div>
  );
}

function Me({ userId }: { userId: string }) {
  const person = usePerson(userId);
  return (
    <>
      <Avatar userId={userId} size={34} />
      <span className="people-switch-me">
        <span className="people-switch-label">You are</span>
        <span className="people-switch-name">
          {person?.realName ?? userId} {person !== undefined && <RoleBadge person={person} />}
        </span>
      </span>
    </>
  );
}

function PeopleList({ id, onChosen }: { id: string; onChosen: () => void }) {
  const people = usePeople();
  return (
    <div className="people-list" id={id}>
      <p className="people-list-hint">
        Switch to another person to see what they see and what they can approve.
      </p>
      <ul>
        {people.map((person) => (
          <li key={person.id}>
            <PersonChoice person={person} onChosen={onChosen} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function PersonChoice({ person, onChosen }: { person: PersonEntity; onChosen: () => void }) {
  const route = useRoute();
  const isMe = person.id === route.as;
  const elsewhere = `Open as ${person.realName} in a new window`;
  return (
    <>
      <button
        type="button"
        className="people-list-person"
        aria-current={isMe ? 'true' : undefined}
        onClick={() => {
          navigate({ as: person.id });
          onChosen();
        }}
      >
        <Avatar userId={person.id} size={32} />
        <span className="people-list-text">
          <span className="people-list-name">
            {person.realName} <RoleBadge person={person} />
          </span>
          <span className="people-list-about">{person.about}</span>
        </span>
        {isMe && <Icon name="check" />}
      </button>
      <a
        className="people-list-window"
        href={hrefOf({ as: person.id })}
        target="_blank"
        rel="noopener"
        aria-label={elsewhere}
        title={elsewhere}
      >
        <Icon name="window" />
      </a>
    </>
  );
}
