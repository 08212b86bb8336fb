import { text } from 'node:stream/consumers';
import { httpFetch } from '../../src/agent/http-fetch.ts';

/* Asks the address that it is given and says the answer: whom a process trusts is settled when it starts. */
const { fetch, bodyOf } = httpFetch();
process.stdout.write(await text(bodyOf(await fetch(process.argv[2] ?? ''))));
process.exit();
