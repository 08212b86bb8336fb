import type { MenuOption } from './menu-options.ts';

/** What was chosen of several, each with a way to take it out again. */
export function Chips({
  chosen,
  onRemove,
}: {
  readonly chosen: readonly MenuOption[];
  readonly onRemove: (value: string) => void;
}) {
  if (chosen.length === 0) return null;
  return (
    <ul className="element-chips">
      {chosen.map(({ value, label }) => (
        <li key={value}>
          {label}
          <button type="button" aria-label={`Remove ${label}`} onClick={() => onRemove(value)}>
            <span aria-hidden="true">×</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
