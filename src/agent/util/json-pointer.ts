/** Appends one segment to a JSON pointer. */
export function pointerTo(parent: string, segment: string | number): string {
  return `${parent}/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** The segments of a JSON pointer; the root has none. */
export function segmentsOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The pointer of what contains this one; the root contains itself. */
export function parentOf(pointer: string): string {
  return pointer.slice(0, Math.max(0, pointer.lastIndexOf('/')));
}
