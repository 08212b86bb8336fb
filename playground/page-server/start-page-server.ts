import { createServer, type Server } from 'node:http';
import type { PlaygroundEntity } from '../protocol.ts';
import type { LocalSlack } from '../slack/start-local-slack.ts';
import { Clients } from './clients.ts';
import { entitiesFor } from './entities/entities-for.ts';
import type { PersonNotes } from './entities/people.ts';
import { answerRequest, type RequestContext } from './http/answer-request.ts';
import { ReadPositions, type SavedReadPositions } from './read-positions.ts';

/** Sources of what the page shows and serves; the parts that are not Slack are passed in. */
export interface PageServerOptions extends Pick<RequestContext, 'files' | 'record'> {
  slack: LocalSlack;
  /** 0 takes a free one. */
  port: number;
  /** One line on each person, by user id. */
  about: PersonNotes;
  playground: RequestContext['playground'] & {
    entity(): PlaygroundEntity;
    onChange(listener: () => void): void;
  };
  /** The read positions of everyone when the playground was last stopped. */
  reads?: SavedReadPositions;
}

/** The running server of the page, which only this machine can reach. */
export interface PageServer {
  url: string;
  reads(): SavedReadPositions;
  onRead(listener: () => void): void;
  stop(): Promise<void>;
}

/** Serves the page and every person's client; each client sees what that person would see in Slack, and acts as them. */
export async function startPageServer(options: PageServerOptions): Promise<PageServer> {
  const { workspace } = options.slack;
  const { state } = workspace;
  const readPositions = new ReadPositions(options.reads);
  for (const { id, is_bot } of [...state.users.values()]) if (!is_bot) state.openDirectMessage(id);

  const clients = new Clients((userId) =>
    entitiesFor(state, userId, {
      readPositions: readPositions.all,
      playground: options.playground.entity(),
      about: options.about,
    }),
  );
  const refresh = () => clients.refresh();
  state.events.on('change', refresh);
  options.playground.onChange(refresh);
  readPositions.onRead(refresh);

  let port = options.port;
  const server = createServer((request, response) => {
    void answerRequest(request, response, { ...options, port, workspace, readPositions, clients });
  });
  port = await listen(server, options.port);

  return {
    url: `http://localhost:${port}`,
    reads: () => structuredClone(readPositions.all),
    onRead: (listener) => readPositions.onRead(listener),
    stop: async () => {
      state.events.off('change', refresh);
      clients.stop();
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
    },
  };
}

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(explain(error, port)));
    server.listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The page server got no TCP port.');
  return address.port;
}

function explain(error: NodeJS.ErrnoException, port: number): Error {
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: `Port ${port} is taken by another program; choose another one with --port.`,
    EACCES: `Port ${port} may not be used by this account; choose another one, above 1023, with --port.`,
  };
  const reason = reasons[error.code ?? ''];
  return reason === undefined ? error : new Error(reason, { cause: error });
}
