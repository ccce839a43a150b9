// What pages do beyond being read: search on the first page, buttons that copy, and a key that leads to the search field.
// It loads nothing but search/*.json of this index, and writes text only, never markup.
(() => {
  "use strict";
  const root = document.currentScript.dataset.root;
  const $ = (id) => document.getElementById(id);
  const field = $("q");

  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || !field) return;
    const at = document.activeElement;
    if (at && (at.isContentEditable || /^(input|textarea|select)$/i.test(at.tagName))) return;
    event.preventDefault();
    field.focus();
    field.select();
  });

  // Copying.

  const say = (text) => {
    const said = $("said");
    said.textContent = "";
    setTimeout(() => { said.textContent = text; }, 50);
  };

  const copy = async (text) => {
    if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
    const area = document.createElement("textarea"); // plain HTTP and files have no clipboard of their own
    area.value = text;
    area.className = "unseen";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (!done) throw new Error("not copied");
  };

  document.addEventListener("click", async (event) => {
    const button = event.target.closest(".copy");
    if (!button) return;
    const label = button.firstElementChild;
    try {
      await copy(button.dataset.copy);
      label.textContent = "Copied";
      say("Copied to the clipboard");
    } catch {
      label.textContent = "Failed";
      say("The browser did not allow the copy");
    }
    button.focus();
    setTimeout(() => { label.textContent = "Copy"; }, 2000);
  });

  // A link to a skill or a heading in one that is folded.

  const unfold = () => {
    const at = location.hash.length > 1 && $(decodeURIComponent(location.hash.slice(1)));
    for (let e = at; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
    if (at) at.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  unfold();

  // Searching.

  const list = $("results");
  if (!list) return;
  const most = 20, found = $("found"), browse = $("browse"), status = $("status");
  const files = new Map();
  let version = 0, shown = 0, ranked = [];

  const load = (path) => {
    if (!files.has(path)) {
      const got = fetch(root + "search/" + path + ".json").then((r) => {
        if (!r.ok) throw new Error(r.status);
        return r.json();
      });
      got.catch(() => files.delete(path)); // so that it is tried again
      files.set(path, got);
    }
    return files.get(path);
  };

  // As the words of packs were cut when the index was generated.
  const dense = /[\u2e80-\uabff\uf900-\ufaff]|[\u{20000}-\u{10ffff}]/u;
  const words = (text, stop) => {
    const out = [];
    for (const run of text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().match(/[\p{L}\p{N}]+/gu) || []) {
      let word = "";
      for (const c of run) {
        if (!dense.test(c)) { word += c; continue; }
        if (word) out.push(word);
        out.push(c);
        word = "";
      }
      if (word) out.push(word);
    }
    const telling = out.filter((w, i) => !stop.includes(w) || (i === out.length - 1 && out.length === 1));
    return [...new Set(telling)].slice(0, 12);
  };
  const plain = /^[a-z0-9]/;
  const keyOf = (word) => {
    if (!plain.test(word)) return "u-" + word.codePointAt(0).toString(16);
    return plain.test(word.slice(1)) ? word.slice(0, 2) : word[0];
  };

  // match returns what a word tells of which pack. A whole word tells more than the beginning of one.
  const match = async (word, index) => {
    const key = keyOf(word);
    const keys = index.keys.filter((k) => k === key || (word.length === 1 && k.length === 2 && k[0] === word));
    const scores = new Map();
    for (const terms of await Promise.all(keys.map((k) => load("terms/" + k)))) {
      for (const term of Object.keys(terms)) {
        if (!term.startsWith(word)) continue;
        const whole = term === word ? 2 : 1;
        for (const n of terms[term]) {
          const pack = Math.floor(n / 8), score = (n % 8) * whole;
          if (score > (scores.get(pack) || 0)) scores.set(pack, score);
        }
      }
    }
    return scores;
  };

  // rank returns the packs that have all words, best first; where none has, those that have most of them.
  const rank = async (query) => {
    const index = await load("index");
    const wanted = words(query, index.stop);
    const all = new Map();
    for (const scores of await Promise.all(wanted.map((w) => match(w, index)))) {
      for (const [pack, score] of scores) {
        const sum = all.get(pack) || { pack, score: 0, words: 0 };
        sum.score += score;
        sum.words++;
        all.set(pack, sum);
      }
    }
    const packs = [...all.values()];
    const have = packs.reduce((m, p) => Math.max(m, p.words), 0);
    const hits = packs.filter((p) => p.words === have).sort((a, b) => b.score - a.score || a.pack - b.pack);
    return { hits, whole: have === wanted.length, chunk: index.chunk };
  };

  const element = (name, cls, text) => {
    const e = document.createElement(name);
    if (cls) e.className = cls;
    if (text !== undefined) e.textContent = text;
    return e;
  };

  const row = (pack) => {
    const item = element("li"), line = element("div", "line"), link = element("a", "name");
    const [owner, name] = pack.name.split("/");
    link.href = root + "packs/" + owner + "/" + name + ".html";
    link.append(element("span", "owner", owner + "/"), name);
    line.append(link, " ", element("span", "version", pack.version));
    if (pack.deprecated) line.append(" ", element("span", "badge warn", "deprecated"));
    const meta = element("div", "meta");
    meta.append(element("span", "", pack.skills + (pack.skills === 1 ? " skill" : " skills")));
    const tags = element("span", "tagset");
    for (const tag of pack.tags || []) {
      const at = element(/^[a-z0-9]+(-[a-z0-9]+)*$/.test(tag) ? "a" : "span", "tag", tag); // others have a digest for a file name
      if (at.tagName === "A") at.href = root + "tags/" + tag + ".html";
      tags.append(at);
    }
    meta.append(tags);
    item.append(line, element("p", "", pack.description || ""), meta);
    return item;
  };

  const rows = (hits, chunk) => Promise.all(hits.map(async (hit) => {
    const packs = await load("packs/" + Math.floor(hit.pack / chunk));
    return row(packs[hit.pack % chunk]);
  }));

  const more = element("button", "more", "Show more");
  more.type = "button";

  const extend = async (result) => {
    const at = version, next = await rows(ranked.slice(shown, shown + most), result.chunk);
    if (at !== version) return;
    list.append(...next);
    shown += next.length;
    next[0].querySelector("a").focus();
    more.hidden = shown >= ranked.length;
  };

  const search = async () => {
    const query = field.value.trim(), now = ++version;
    const address = new URL(location.href);
    if (query) address.searchParams.set("q", query); else address.searchParams.delete("q");
    try { history.replaceState(null, "", address); } catch { /* files may not */ }
    if (!query) {
      found.hidden = true;
      browse.hidden = false;
      status.textContent = "";
      return;
    }
    try {
      const result = await rank(query);
      if (now !== version) return;
      const first = await rows(result.hits.slice(0, most), result.chunk);
      if (now !== version) return;
      ranked = result.hits;
      shown = first.length;
      list.replaceChildren(...first);
      more.remove();
      if (shown < ranked.length) {
        more.hidden = false;
        more.onclick = () => extend(result);
        found.append(more);
      }
      const n = ranked.length.toLocaleString("en");
      status.textContent = !ranked.length ? `Nothing fits “${query}”.`
        : (ranked.length === 1 ? "1 pack" : n + " packs") + (result.whole ? " for" : " with some of the words of") + ` “${query}”`;
      found.hidden = !ranked.length;
      browse.hidden = true;
    } catch {
      if (now !== version) return;
      status.textContent = location.protocol === "file:" ? "Search requires a web server. The list below contains all packs." : "Search is unavailable. The list below contains all packs.";
      found.hidden = true;
      browse.hidden = false;
    }
  };

  let timer;
  field.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(search, 80); });
  field.form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(timer);
    search().then(() => { const link = list.querySelector("a"); if (!found.hidden && link) link.focus(); });
  });

  // Up and down lead through the field and what was found.
  document.addEventListener("keydown", (event) => {
    if (found.hidden || event.ctrlKey || event.metaKey || event.altKey) return;
    const stops = [field, ...list.querySelectorAll("a.name")];
    const at = stops.indexOf(document.activeElement);
    if (event.key === "Escape" && at >= 0) {
      field.value = "";
      field.focus();
      search();
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && at >= 0) {
      const next = stops[at + (event.key === "ArrowDown" ? 1 : -1)];
      if (next) { event.preventDefault(); next.focus(); }
    }
  });

  const asked = new URLSearchParams(location.search).get("q");
  if (asked) { field.value = asked; search(); }
  else if (field.value) search(); // kept by the browser
})();
