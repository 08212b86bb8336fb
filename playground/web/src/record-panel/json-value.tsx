/** Shows a value as complete JSON in a scrollable box. */
export function JsonValue({ value, label }: { readonly value: unknown; readonly label: string }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for inputs, and a section would be one landmark of many.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard.
    <div className="record-json" role="group" aria-label={label} tabIndex={0}>
      <pre>{JSON.stringify(value, null, 2) ?? 'nothing'}</pre>
    </div>
  );
}
