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
  const most = 20, mostCopies = 3, found = $("found"), browse = $("browse"), status = $("status");
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

  const engine = skillpmSearch.create(load);

  const element = (name, cls, text) => {
    const e = document.createElement(name);
    if (cls) e.className = cls;
    if (text !== undefined) e.textContent = text;
    return e;
  };

  const pageOf = (pack) => root + "packs/" + pack.name + ".html";

  const row = (pack, copies, copyCount) => {
    const item = element("li"), line = element("div", "line"), link = element("a", "name");
    const [owner, name] = pack.name.split("/");
    link.href = pageOf(pack);
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
    if (copyCount) {
      const also = element("div", "meta copies", "Copies: ");
      for (const copy of copies) {
        const to = element("a", "", copy.name);
        to.href = pageOf(copy);
        also.append(to, " ");
      }
      if (copyCount > copies.length) also.append("and " + (copyCount - copies.length) + " more");
      item.append(also);
    }
    return item;
  };

  const packOf = async (number) => {
    const { chunk } = await load("index");
    return (await load("packs/" + Math.floor(number / chunk)))[number % chunk];
  };
  const rows = (hits) => Promise.all(hits.map(async (hit) =>
    row(await packOf(hit.pack), await Promise.all(hit.copies.slice(0, mostCopies).map(packOf)), hit.copies.length)));

  const more = element("button", "more", "Show more");
  more.type = "button";

  const extend = async () => {
    const at = version, next = await rows(ranked.slice(shown, shown + most));
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
      const result = await engine.find(query);
      if (now !== version) return;
      const first = await rows(result.hits.slice(0, most));
      if (now !== version) return;
      ranked = result.hits;
      shown = first.length;
      list.replaceChildren(...first);
      more.remove();
      if (shown < ranked.length) {
        more.hidden = false;
        more.onclick = extend;
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
