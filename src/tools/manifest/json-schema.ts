import { z } from 'zod';
import { isJsonObject, type JsonObject, toJson } from '../../agent/json.ts';
import { ManifestFile } from './schema/manifest-file.ts';
import slackSchema from './slack-manifest.schema.json' with { type: 'json' };

/** Builds the JSON Schema of a manifest, for editors and for the check; its section `slack` is Slack's own schema. */
export function manifestJsonSchema(): JsonObject {
  const written = toJson(z.toJSONSchema(ManifestFile, { io: 'input', target: 'draft-7' }));
  const { definitions, $schema: _dialect, ...slack } = slackSchema;
  if (!isJsonObject(written) || !isJsonObject(written.properties))
    throw new TypeError('a schema is an object');
  return {
    ...written,
    title: 'The manifest of Countersign',
    properties: { ...written.properties, slack: toJson(slack) },
    definitions: toJson(definitions),
  };
}
