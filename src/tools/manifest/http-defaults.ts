import { isJsonObject, type JsonObject, type JsonValue } from '../../agent/json.ts';

/** Tells whether an HTTP tool is at the default address: its url is a path. */
export function isPath(url: unknown): url is string {
  return typeof url === 'string' && url.startsWith('/');
}

/**
 * Fills `http_defaults` into the HTTP tools whose url is a path. A tool with an address of its own gets none of it: the headers are for one server.
 * The tool's own keys go first.
 */
export function withHttpDefaults(manifest: JsonObject): JsonObject {
  const { http_defaults: defaults, tools } = manifest;
  if (!isJsonObject(defaults) || typeof defaults.base_url !== 'string' || !isJsonObject(tools))
    return manifest;
  const base = defaults.base_url.replace(/\/$/, '');
  const filled = Object.entries(tools).map(([name, tool]): [string, JsonValue] => {
    if (!isJsonObject(tool) || !isJsonObject(tool.http) || !isPath(tool.http.url)) return [name, tool];
    return [name, { ...tool, http: fill(tool.http, tool.http.url, defaults, base) }];
  });
  return { ...manifest, tools: Object.fromEntries(filled) };
}

function fill(http: JsonObject, url: string, defaults: JsonObject, base: string): JsonObject {
  const { base_url: _base, headers: shared, auth, ...others } = defaults;
  const own = isJsonObject(http.headers) ? http.headers : {};
  const ownNames = new Set(Object.keys(own).map((name) => name.toLowerCase()));
  const isOwnAuth = http.auth !== undefined;
  const added = Object.entries(isJsonObject(shared) ? shared : {}).filter(([name]) => {
    const lower = name.toLowerCase();
    return !ownNames.has(lower) && !(isOwnAuth && lower === 'authorization');
  });
  const headers = { ...Object.fromEntries(added), ...own };
  const poll =
    isJsonObject(http.poll) && isPath(http.poll.url)
      ? { ...http.poll, url: base + http.poll.url }
      : http.poll;
  return {
    ...others,
    ...(auth !== undefined && !ownNames.has('authorization') && { auth }),
    ...http,
    url: base + url,
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(poll !== undefined && { poll }),
  };
}
