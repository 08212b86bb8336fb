import { createRequire } from 'node:module';
import type { Manifest } from '../../tools/manifest/manifest.ts';
import { type Finding, ok, warning } from './finding.ts';

const CHECK = 'images';
/** It brings native code, so it is installed only where images are wanted. */
const DECODER = 'sharp';

/** Tells whether images that people attach can be read. */
export function checkFiles(manifest: Manifest | undefined, hasDecoder = isInstalled()): Finding[] {
  if (manifest?.agent.files?.types.includes('image') !== true) return [];
  if (hasDecoder) return [ok(CHECK, 'images that people attach are read')];
  return [
    warning(CHECK, `images are not read, because the package "${DECODER}" is not installed`, {
      fix: `npm install ${DECODER}, or leave image out of agent.files.types`,
    }),
  ];
}

function isInstalled(): boolean {
  try {
    createRequire(import.meta.url).resolve(DECODER);
    return true;
  } catch {
    return false;
  }
}
