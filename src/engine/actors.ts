/** Names a tool that has looked up what became of its action. */
export function toolActor(tool: string): string {
  return `tool:${tool}`;
}

/** Names a call-back address, so that what it ended is found under it. */
export function callbackActor(addressId: string): string {
  return `callback:${addressId}`;
}

/** Tells who ended a request: a tool, another system, or anybody else. */
export function actorKind(who: string): 'tool' | 'callback' | 'other' {
  return who.startsWith('tool:') ? 'tool' : who.startsWith('callback:') ? 'callback' : 'other';
}
