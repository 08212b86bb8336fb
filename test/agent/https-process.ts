import { text } from 'node:stream/consumers';
import { textPoster } from '../../src/agent/post-text.ts';

/* Asks the address that it is given and says the answer: whom a process trusts is settled when it starts. */
const posted = await textPoster(process.argv[2] ?? '', new Headers())('', { silenceMs: 10_000 });
if (posted.outcome === 'answered') process.stdout.write(await text(posted.body));
process.exit();
