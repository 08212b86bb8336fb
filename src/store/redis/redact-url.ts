const NEXT_URL = /,(?=\s*[a-z][a-z0-9+.-]*:\/\/)/i;
const USER_INFO = /^(\s*[a-z][a-z0-9+.-]*:\/\/)\S*@/i;

/** Removes the user, the password and the query from a URL, or from each of a comma-separated list. */
export function redactUrl(urls: string): string {
  return urls
    .split(NEXT_URL)
    .map((url) =>
      url
        .replace(USER_INFO, '$1')
        .replace(/[?#].*$/s, '')
        .trim(),
    )
    .join(', ');
}
