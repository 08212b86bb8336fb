import { Redis } from 'ioredis';
import { migrate } from '../../../src/store/redis/record-version.ts';
import { renamesProgress } from './renamed-field.ts';

// Migrates the record, and tells after each batch how many keys it has changed.
const [url = '', prefix = ''] = process.argv.slice(2);
const client = new Redis(url);
const onBatch = (done: number) => process.stdout.write(`${done}\n`);
for await (const step of migrate(client, prefix, { onBatch }, [renamesProgress]))
  process.stdout.write(`${JSON.stringify(step)}\n`);
await client.quit();
