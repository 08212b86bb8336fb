/** A manifest with a mistake, and every problem that it must give: `line:column: path: message`. */
export interface BrokenManifest {
  readonly says: string;
  readonly text: string;
  /** Text after the mistake, so that nothing else is wrong. */
  readonly rest: 'nothing' | 'slack' | 'slack and default policy';
  readonly problems: readonly string[];
}
