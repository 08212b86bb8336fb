const OLDEST = [20, 19] as const;

/** Returns the sentence with which a Node that is too old is refused. It is loaded before everything else, so it must run on that one. */
export function checkNode(version: string, program = 'Countersign'): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return undefined;
  return `${program} needs Node ${OLDEST.join('.')} or newer, and this is Node ${version}; install a newer one.`;
}
