import { createHash } from 'node:crypto';
import { mkdir, realpath, rm } from 'node:fs/promises';
import { createConnection, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A data folder that belongs to this process until it is released or the process ends. */
export interface LockedFolder {
  readonly path: string;
  release(): Promise<void>;
}

/** Locks a data folder for one playground and creates it if needed; a folder in use is an error, never shared. */
export async function lockFolder(folder: string): Promise<LockedFolder> {
  const path = await makeFolder(folder);
  // A socket, because the system closes it however its process ends; a number in a file could be that of another process by now.
  const socketPath = socketPathOf(path);
  for (let triesLeft = 3; triesLeft > 0; triesLeft -= 1) {
    const server = await listenOn(socketPath);
    if (server !== undefined) {
      server.unref();
      return { path, release: () => new Promise((resolve) => server.close(() => resolve())) };
    }
    if (await isAnswered(socketPath)) break;
    await rm(socketPath, { force: true });
  }
  throw new Error(
    `The data folder ${folder} is in use by another playground; stop that one, or choose another folder with --data.`,
  );
}

async function makeFolder(folder: string): Promise<string> {
  try {
    await mkdir(folder, { recursive: true });
    return await realpath(folder);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error;
    throw new Error(
      `The data folder ${folder} cannot be made (${String(code)}); choose another one with --data.`,
    );
  }
}

// In the temporary folder, because the path of a socket may only be about a hundred characters long.
function socketPathOf(path: string): string {
  const name = `countersign-${createHash('sha256').update(path).digest('hex').slice(0, 20)}`;
  return process.platform === 'win32' ? `\\\\.\\pipe\\${name}` : join(tmpdir(), `${name}.sock`);
}

function listenOn(socketPath: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error) => {
      if ('code' in error && error.code === 'EADDRINUSE') resolve(undefined);
      else reject(error);
    });
    server.listen(socketPath, () => resolve(server));
  });
}

function isAnswered(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(socketPath);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
