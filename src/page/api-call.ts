import type { JsonValue } from '../agent/json.ts';
import type { SigningKey } from '../audit/signing-key.ts';
import type { MessageLinks } from '../bot/slack/thread.ts';
import type { Manifest } from '../tools/manifest/manifest.ts';
import type { Toolbox } from '../tools/toolbox/toolbox.ts';
import type { PasskeyCall, PasskeyContext } from './passkeys.ts';
import type { RequestIndex } from './request-index.ts';

/** A call to be explained. */
export interface ExplainedCall {
  readonly tool: string;
  readonly input: JsonValue;
  readonly requesters: readonly string[];
  readonly contextAuthors: readonly string[];
  readonly channel: string;
}

export interface ApiContext extends PasskeyContext {
  readonly links: MessageLinks;
  readonly toolbox: Pick<Toolbox, 'tools'>;
  /** The manifest that is active. */
  readonly manifest: () => Pick<Manifest, 'source' | 'policies' | 'agent' | 'callers'>;
  readonly index: RequestIndex;
  /** The key that signs the log, if there is one; only its public part leaves the bot. */
  readonly auditKey: Pick<SigningKey, 'publicKeys'> | undefined;
  /** Says in lines what the rules would do with a call now. */
  readonly explain: (call: ExplainedCall) => Promise<readonly string[]>;
  /** Removes secrets from a text. */
  readonly redact: (text: string) => string;
}

export interface ApiCall extends PasskeyCall {
  readonly context: ApiContext;
  readonly query: URLSearchParams;
}
