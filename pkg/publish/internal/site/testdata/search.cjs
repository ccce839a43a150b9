// Runs the search of a website in Node.js. Usage: node search.cjs DIR < QUESTIONS, where questions are JSON with the
// queries and the words to stem. It prints the names of the best ten packs of each query, and the stems.
"use strict";
const fs = require("node:fs"), vm = require("node:vm"), dir = process.argv[2];
vm.runInThisContext(fs.readFileSync(dir + "/assets/search.js", "utf8"));
const files = new Map();
const load = async (path) => {
  if (!files.has(path)) files.set(path, JSON.parse(fs.readFileSync(dir + "/search/" + path + ".json", "utf8")));
  return files.get(path);
};
const main = async () => {
  const { queries, words } = JSON.parse(fs.readFileSync(0, "utf8"));
  const engine = skillpmSearch.create(load), { chunk } = await load("index"), answers = [];
  const nameOf = async (pack) => (await load("packs/" + Math.floor(pack / chunk)))[pack % chunk].name;
  for (const query of queries) {
    const { hits } = await engine.find(query), best = hits.slice(0, 10);
    answers.push({
      packs: await Promise.all(best.map((hit) => nameOf(hit.pack))), total: hits.length,
      copies: await Promise.all(best.flatMap((hit) => hit.copies).map(nameOf)),
    });
  }
  process.stdout.write(JSON.stringify({ answers, stems: words.map((word) => skillpmSearch.stem(word)) }));
};
main();
