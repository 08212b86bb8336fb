import { matchesGlob } from '../policy/rules.ts';

/** The way a caller proves who it is. Of a key only the hash is kept. */
export type CallerIdentity =
  | { readonly kind: 'key'; readonly sha256: string }
  | {
      readonly kind: 'oidc';
      readonly issuer: string;
      readonly audience: string;
      /** The claims that a token must have, with these values. */
      readonly claims: Readonly<Record<string, string>>;
    };

/** The address that is told when a request of a caller changes. */
export interface CallerWebhook {
  readonly url: string;
  /** `whsec_` and the key that signs the messages, in Base64. */
  readonly secret: string;
  readonly allowPrivate: readonly string[];
}

/** An agent, a CI job or a script that may ask through the door. */
export interface CallerDeclaration {
  readonly name: string;
  /** The person who answers for it: a requester of everything it asks for, so that they cannot approve it. */
  readonly owner: string;
  readonly identity: CallerIdentity;
  /** The channel of its cards. */
  readonly channel: string;
  /** Patterns of the tools that it may call. */
  readonly tools: readonly string[];
  /** The policies under which it may ask about something that it runs itself. */
  readonly ask: readonly string[];
  readonly limits: {
    /** The most requests that wait for people at a time. */
    readonly pending: number;
    readonly perHour: number;
  };
  /** The hosts of the links that its cards may show. */
  readonly links: readonly string[];
  /** The tokens by which it asks for a person; without it, it asks for nobody but its owner. */
  readonly onBehalfOf?: { readonly issuer: string; readonly audience: string };
  readonly webhook?: CallerWebhook;
}

/** No id of Slack has a colon. */
const PREFIX = 'caller:';

/** Returns the id of a caller among the requesters of a call. */
export function callerId(name: string): string {
  return `${PREFIX}${name}`;
}

/** Returns the name of the caller that an id stands for; `undefined` for a person. */
export function callerNamed(id: string): string | undefined {
  return id.startsWith(PREFIX) ? id.slice(PREFIX.length) : undefined;
}

/** Returns the requesters and the channel of a call: of a caller, its owner asks too, and its cards have a channel of their own. */
export function placeFor(
  callers: ReadonlyMap<string, CallerDeclaration>,
  ids: readonly string[],
  channel: string | undefined,
): { readonly requesters: readonly string[]; readonly channel: string } {
  const asking = ids.flatMap((id) => callers.get(callerNamed(id) ?? '') ?? []);
  const requesters = [...new Set([...asking.map(({ owner }) => owner), ...ids])];
  return { requesters, channel: channel ?? asking[0]?.channel ?? '' };
}

/** Tells whether a caller may call a tool; one that is not in the manifest may call none. */
export function mayCall(caller: CallerDeclaration | undefined, tool: string): boolean {
  return caller?.tools.some((pattern) => matchesGlob(pattern, tool)) ?? false;
}
