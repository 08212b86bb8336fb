import { ConnectFlow, type ConnectFlowOptions } from './connect-flow.ts';
import { PersonConnections, type PersonConnectionsOptions } from './person-connections.ts';

/** The accounts of people, and the way in which they are connected. */
export interface Accounts {
  readonly connections: PersonConnections;
  readonly flow: ConnectFlow;
}

/** Opens the accounts on the record. */
export function openAccounts(
  options: PersonConnectionsOptions & Pick<ConnectFlowOptions, 'findServer'>,
): Accounts {
  const connections = new PersonConnections(options);
  return { connections, flow: new ConnectFlow({ ...options, connections }) };
}
