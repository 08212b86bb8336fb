// Starts the worker from what an earlier one has compiled: hundreds are started in a run, and most of their start is compiling.
const { existsSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const { dirname, join } = require('node:path');
const { Script } = require('node:vm');

const file = join(__dirname, 'worker.cjs');
const cache = join(__dirname, 'compiled');
const text = `(function (exports, require, module, __filename, __dirname, importHere) {${readFileSync(file, 'latin1')}\n})`;
const hasCache = existsSync(cache);
const script = new Script(text, {
  filename: file,
  ...(hasCache && { cachedData: readFileSync(cache) }),
});
// Code that was compiled before cannot import, so this file does it for it.
script.runInThisContext()(exports, require, module, file, dirname(file), (url) => import(url));

if (!hasCache) {
  // By then it has done everything once, and what it used is compiled.
  setTimeout(() => {
    if (existsSync(cache)) return;
    const own = `${cache}-${process.pid}`;
    writeFileSync(own, script.createCachedData());
    renameSync(own, cache);
  }, 3_000).unref();
}
