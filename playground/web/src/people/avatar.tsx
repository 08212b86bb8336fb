import { usePerson } from '../client/store.ts';
import './people.css';

const COLOURS = ['#1264a3', '#7a2d82', '#0b6b50', '#a3421b', '#3d5a80', '#8a1c4a', '#4a5d23', '#5b4b8a'];

const BOT_COLOUR = '#1d3557';

/** A person's avatar: initials on a colour. Decorative, because the name is always beside it. */
export function Avatar({ userId, size = 36 }: { userId: string; size?: number }) {
  const person = usePerson(userId);
  const name = person?.realName ?? userId;
  const style = {
    width: size,
    height: size,
    fontSize: size * 0.38,
    background: person?.isBot === true ? BOT_COLOUR : colourOf(userId),
  };
  return (
    <span className="avatar" style={style} aria-hidden="true">
      {person?.isBot === true ? <BotMark /> : initialsOf(name)}
    </span>
  );
}

function BotMark() {
  return (
    <svg width="62%" height="62%" viewBox="0 0 20 20" fill="none" aria-hidden="true" focusable="false">
      <path d="M3 16.5h14" stroke="currentColor" strokeWidth="1.8" strokeLinecap="round" />
      <path
        d="m3.5 11.5 3.5 2L16 3.5"
        stroke="currentColor"
        strokeWidth="2.4"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}

function initialsOf(name: string): string {
  const words = name.split(/\s+/).filter((word) => word !== '');
  return words
    .slice(0, 2)
    .map((word) => word.charAt(0).toUpperCase())
    .join('');
}

function colourOf(userId: string): string {
  const sum = [...userId].reduce((total, letter) => (total * 19 + letter.charCodeAt(0)) % 9973, 0);
  return COLOURS[sum % COLOURS.length] ?? '#1264a3';
}
