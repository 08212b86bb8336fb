import type { ApprovalRule } from '../gate/approval-rules.ts';
import type { ToolDeclaration } from '../manifest/manifest.ts';
import type { ToolEntry } from './toolbox.ts';

/** An entry with its approval rules and the places where it may be used. */
export interface RuledEntry extends ToolEntry {
  readonly rules: readonly ApprovalRule[];
  /** Tells whether the manifest lets the tool be used in a channel. */
  isListedIn(channel: string): boolean;
  readonly allow: ToolDeclaration['allow'];
}
