import { bringUpRedis } from '../../../playground/redis/bring-up-redis.ts';

const redis = await bringUpRedis({});
process.stdout.write(`${redis.url}\n`);
const ending = process.argv[2];
if (ending === 'throw') {
  setTimeout(() => {
    throw new Error('thrown on purpose');
  });
} else if (ending === 'wait') {
  process.stdin.resume();
}
