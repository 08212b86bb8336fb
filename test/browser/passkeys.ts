import type { Page } from 'playwright-core';

/** Gives a page a virtual authenticator, which makes real P-256 signatures. */
export async function addAuthenticator(page: Page, { isUserVerified = true } = {}) {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true },
      ...{ hasUserVerification: true, isUserVerified, automaticPresenceSimulation: true },
    },
  });
  return { devtools, authenticatorId };
}
