import { connectTestRedis } from '../support/redis.ts';
import { describeStore } from './suite/suite.ts';

describeStore('the store on a single Redis', async () => connectTestRedis());
