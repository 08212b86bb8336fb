/** The path to which an authorization server sends people back. */
export const CALLBACK_PATH = '/connect/return';
/** The path of the client metadata document. */
export const CLIENT_PATH = '/connect/client.json';
/** The beginning of the path of a link to connect; the token follows. */
export const LINK_PATH = '/connect/start/';
