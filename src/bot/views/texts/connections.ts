/** Every sentence about connecting accounts: on cards, in modals, in Home and on the pages of the browser. */
export const connectionTexts = {
  cardHeading: 'Connect your account',
  cardPurpose: (server: string, host: string) => `Connect your account at ${server} (${host})`,
  cardText: (title: string) => `Needs an account: ${title}`,
  cardOnly: 'Only for ',
  cardExplanation: 'This runs in your name, so the agent needs access to your account.',
  connect: 'Connect',
  onlyThem: (person: string) => `Only <@${person}> can connect this account.`,
  notPossible: "Accounts can't be connected yet: an admin has to set CONNECTIONS_KEY.",
  noServer: 'This server is no longer in use.',
  runsAs: (server: string) => `Runs with the ${server} account of `,

  modalTitle: 'Connect your account',
  modalIntro: (server: string, host: string) =>
    `1. Open the page of ${server} (${host}), log in, and allow access.\n2. Enter the code shown on that page.\nThe link is only for you and works once. Never enter a code that someone sent you.`,
  openPage: 'Open the page',
  codeLabel: 'Code from the page',
  confirm: 'Confirm',
  wrongCode: "This isn't the code on the page. Nothing was connected.",
  notYet: 'Please open the page and allow access first.',
  over: 'This attempt has ended. Nothing was connected. Click Connect to start again.',
  connected: (server: string) => `Your account at ${server} is connected.`,

  homeTitle: 'Connected accounts',
  homeConnected: (server: string, host: string) => `${server} (${host}): connected`,
  homeNotConnected: (server: string, host: string) => `${server} (${host}): not connected`,
  disconnect: 'Disconnect',

  cardConnected: 'Account connected',
  connectedBy: 'Connected by ',
  pageTitle: 'Connect your account',
  pageCode: (server: string) => `Almost done. Enter this code in Slack to connect your account at ${server}:`,
  pageWarning:
    "Enter it only in a window that you opened in Slack yourself, and don't share it with anyone. If someone sent you the link to this page, close it: nothing is connected.",
  pageUsed:
    'This link has been used or is too old. Nothing was connected. Go back to Slack and choose Connect again.',
  pageFailed:
    "The login page can't be opened right now. Go back to Slack and choose Connect again, or tell an admin.",
  pageRefused: 'Access was denied. Nothing was connected. Go back to Slack to try again.',
  pageOtherBrowser:
    'This was started in another browser. Nothing was connected. Go back to Slack and open the link in the browser you sign in with.',
} as const;
