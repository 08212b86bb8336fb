import { setTimeout as sleep } from 'node:timers/promises';
import { defineTool } from 'countersign';
import { z } from 'zod';

const STEPS = ['building', 'testing', 'rolling out to 10 %', 'rolling out to 100 %', 'watching'];
const STEP_MS = 1_500;

/** Pretends to deploy a service: a long action that reports progress. A real tool would call your pipeline here. */
export const deployService = defineTool(
  {
    name: 'deploy_service',
    description: 'Deploys a version of a service to an environment.',
    inputSchema: z.object({
      service: z.string().min(1),
      version: z.string().min(1),
      environment: z.enum(['staging', 'production']).default('staging'),
    }),
    outputSchema: z.object({ deployed: z.string(), environment: z.string() }),
  },
  async ({ service, version, environment }, { progress, signal }) => {
    for (const [index, step] of STEPS.entries()) {
      progress(step, index / STEPS.length);
      await sleep(STEP_MS, undefined, { signal });
    }
    return { deployed: `${service}@${version}`, environment };
  },
);
