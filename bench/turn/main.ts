import { writeTable } from '../table.ts';
import { measureTurns } from './measure-turns.ts';

for (const table of await measureTurns()) process.stdout.write(`${writeTable(table)}\n`);
