import { connectRedis } from '../../../src/store/redis/connect.ts';

// Certificates of one's own are trusted through NODE_EXTRA_CA_CERTS, which Node reads only when a process begins.
const client = await connectRedis({ mode: 'single', urls: [process.argv[2] ?? ''] }, { patienceMs: 5000 });
process.stdout.write(`${await client.ping()} as ${await client.acl('WHOAMI')}\n`);
await client.quit();
