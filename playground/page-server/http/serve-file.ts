import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { extname, join, resolve, sep } from 'node:path';
import { HttpError } from './read-request.ts';

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
};

/** Sends a file of the built page; a path without an extension is a route of the page and gets index.html. */
export async function serveFile(response: ServerResponse, folder: string, path: string): Promise<void> {
  const extension = extensionOf(path);
  const name = extension === undefined ? 'index.html' : path;
  const content = await contentOf(folder, name);
  // The names under assets change with their content.
  const cacheControl = name.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-store';
  response.writeHead(200, {
    'content-type': CONTENT_TYPES[extension ?? '.html'] ?? 'application/octet-stream',
    'content-length': content.length,
    'cache-control': cacheControl,
  });
  response.end(content);
}

/** The extension of a path; the digits of a message's ts, as in the path of a thread, are none. */
function extensionOf(path: string): string | undefined {
  const extension = extname(path).toLowerCase();
  return /^\.[a-z]/.test(extension) ? extension : undefined;
}

async function contentOf(folder: string, name: string): Promise<Buffer> {
  const root = resolve(folder);
  const file = join(root, name);
  if (!file.startsWith(root + sep) || file.includes('\0')) throw new HttpError(404, 'There is no such file.');
  try {
    return await readFile(file);
  } catch (error) {
    if (name === 'index.html') {
      throw new Error('The page is not built. Run `npm run build:page`.', { cause: error });
    }
    throw new HttpError(404, 'There is no such file.');
  }
}
