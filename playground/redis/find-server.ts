import { findExecutable } from '../install/find-executable.ts';

/** Finds a server that speaks Redis on the PATH of the given environment, Redis itself before Valkey. */
export function findServer(env: NodeJS.ProcessEnv): string | undefined {
  return findExecutable('redis-server', env) ?? findExecutable('valkey-server', env);
}
