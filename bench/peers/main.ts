import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { writeTable } from '../table.ts';
import { measurePeers } from './measure-peers.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));
// The peers are heavy and nobody else's business, so they are installed here and only when they are asked for.
if (!existsSync(`${folder}node_modules`)) execFileSync('npm', ['ci'], { cwd: folder, stdio: 'inherit' });

const rounds = Number(process.env.COUNTERSIGN_BENCH_TURN_ROUNDS ?? 40);
const warmUps = Number(process.env.COUNTERSIGN_BENCH_WARM_UPS ?? 2_000);
const tables = await measurePeers({ warmUps, rounds });

process.stdout.write(`Node ${process.version} on ${process.platform} ${process.arch}, ${rounds} rounds\n\n`);
for (const table of tables) process.stdout.write(`${writeTable(table)}\n`);
