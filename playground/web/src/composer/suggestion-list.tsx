import { Avatar } from '../people/avatar.tsx';
import type { Suggestion } from './suggestions.ts';

interface SuggestionListProps {
  /** The id of the field that the names are for. */
  composer: string;
  suggestions: readonly Suggestion[];
  chosen: number;
  onPick: (suggestion: Suggestion) => void;
}

/** The id of one suggestion of a field. */
export function suggestionId(composer: string, index: number): string {
  return `${composer}-suggestion-${index}`;
}

/** The suggestion list; the focus stays in the field, which moves the selection. */
export function SuggestionList({ composer, suggestions, chosen, onPick }: SuggestionListProps) {
  const count = suggestions.length;
  return (
    <>
      <div className="visually-hidden" role="status">
        {count > 0 &&
          `${count} ${count === 1 ? 'suggestion' : 'suggestions'}, use arrow keys to choose and Enter to insert`}
      </div>
      {count > 0 && (
        <div
          className="suggestion-list"
          role="listbox"
          aria-label="Suggestions"
          id={`${composer}-suggestions`}
        >
          {suggestions.map((suggestion, index) => (
            <div
              key={suggestion.key}
              id={suggestionId(composer, index)}
              className="suggestion"
              role="option"
              tabIndex={-1}
              aria-selected={index === chosen}
              onPointerDown={(event) => {
                event.preventDefault();
                onPick(suggestion);
              }}
            >
              {suggestion.userId !== undefined && <Avatar userId={suggestion.userId} size={22} />}
              <span className="suggestion-name">{suggestion.text}</span>
              <span className="suggestion-detail">{suggestion.detail}</span>
            </div>
          ))}
        </div>
      )}
    </>
  );
}
