// Compiles JavaScript and TypeScript without executing it; see interpreter.go.
"use strict";
const vm = require("vm");
const { stripTypeScriptTypes } = require("module");

// decorate adds the position to the error of a module, where this version of Node.js can.
let decorate = () => {};
try {
  decorate = require("internal/util").decorateErrorStack || decorate;
} catch {}

// problem returns why a text cannot be compiled, or undefined.
function problem(compile) {
  try {
    compile();
  } catch (e) {
    if (e.name !== "SyntaxError") return; // too deep for the interpreter
    decorate(e);
    const at = /^script:(\d+)\n(.*)\n( *)\^/m.exec(e.stack || "") || [];
    return { line: Number(at[1] || 1), column: at[3] === undefined ? 0 : at[3].length + 1, message: e.message };
  }
}

// A host may add a function around a script, and compile JSX and types.
const completed = /Illegal return statement|Unexpected token '<'/;
const module_ = /import statement outside a module|Unexpected token 'export'|import\.meta|await is only valid/;

function check(extension, text) {
  if (/^\.[cm]?ts$/.test(extension)) {
    if (typeof stripTypeScriptTypes !== "function") return;
    return problem(() => stripTypeScriptTypes(text, { mode: "transform" }));
  }
  text = text.replace(/^#!.*/, "");
  const options = { filename: "script" };
  const asModule = () => problem(() => new vm.SourceTextModule(text, { identifier: "script" }));
  const asScript = () => problem(() => vm.compileFunction(text, ["exports", "require", "module"], options));
  let found = extension === ".mjs" ? asModule() : asScript();
  if (found && extension === ".js" && module_.test(found.message)) found = asModule();
  if (found && !completed.test(found.message)) return found;
}

let rest = "";
process.stdin.setEncoding("utf8").on("data", (data) => {
  const lines = (rest + data).split("\n");
  rest = lines.pop();
  for (const line of lines) {
    const { extension, text } = JSON.parse(line);
    const out = check(extension, Buffer.from(text, "base64").toString().replace(/^\ufeff/, ""));
    process.stdout.write(JSON.stringify(out || {}) + "\n");
  }
});
