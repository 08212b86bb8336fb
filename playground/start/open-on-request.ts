import { spawn } from 'node:child_process';

/** The terminal, as far as it matters here. */
export type Terminal = Pick<NodeJS.ReadableStream, 'setEncoding' | 'on'> & { readonly isTTY?: boolean };

/** Opens an address, and says so if that is not possible. */
export type OpenAddress = (url: string) => void;

/** Opens the page in a browser whenever `o` is entered at the terminal; without a terminal nothing is read. */
export function openOnRequest(url: string, terminal: Terminal, open: OpenAddress): void {
  if (terminal.isTTY !== true) return;
  terminal.setEncoding('utf8');
  terminal.on('data', (line: unknown) => {
    if (String(line).trim().toLowerCase() === 'o') open(url);
  });
}

const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

/** Opens an address in the browser of the system. */
export function openInBrowser(url: string, print: (line: string) => void): void {
  const [command = '', ...before] = OPENERS[process.platform] ?? ['xdg-open'];
  spawn(command, [...before, url], { stdio: 'ignore', detached: true })
    .on('error', () => print(`No browser could be opened. Open ${url} yourself.`))
    .unref();
}
