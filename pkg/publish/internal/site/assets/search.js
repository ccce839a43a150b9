// The search of "skillpm search" for browsers, over the files in search/. It finds the same packs in the same order:
// a test compares the two. What words are, how a query is read, and what a word counts for is described in the Go
// package bm25, which also computes the impact of each word in each pack.
globalThis.skillpmSearch = (() => {
  "use strict";
  const maxQuery = 48, maxWord = 48, maxPrefixForms = 40, maxScanned = 20000, maxTypoForms = 12, shortestTypo = 4;
  const exactWeight = 256, joinedShare = 200, synonymShare = 192, prefixShare = 176, longerShare = 72, typoShare = 128;
  const exact = 0x80, keyPoints = 2 ** 27, titlePoints = 2 ** 14, maxKey = 256;

  // Words.

  const bytes = (text) => new TextEncoder().encode(text).length;
  const letter = /[\p{L}\p{Nd}]/u, mark = /\p{Mn}/u, ascii = /^[\x00-\x7f]*$/;
  const isLetter = (c) => c < "\x80" ? /[a-zA-Z0-9]/.test(c) : letter.test(c);
  const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
  const fold = (word) => [...word.normalize("NFKD")].filter((c) => !mark.test(c)).map((c) => c.toLowerCase()).join("")
    .normalize("NFC");
  const symbols = [["c", "++", "cpp"], ["c", "#", "csharp"], ["f", "#", "fsharp"]];

  // pairs cuts a folded word: letters of scripts without spaces into pairs of neighbors.
  const pairs = (word) => {
    const out = [];
    let last = "", run = 0, rest = "";
    const add = (text) => { if (text && bytes(text) <= maxWord) out.push(text); };
    for (const c of word) {
      if (!unspaced.test(c)) {
        if (run === 1) out.push(last);
        run = 0;
        rest += c;
        continue;
      }
      if (run === 0) add(rest);
      if (run > 0) out.push(last + c);
      run++;
      last = c;
      rest = "";
    }
    if (run === 1) out.push(last);
    add(rest);
    return out;
  };

  const words = (text, most = Infinity) => {
    const out = [], chars = [...text];
    for (let i = 0; i < chars.length && out.length < most;) {
      const start = i;
      while (i < chars.length && (isLetter(chars[i]) || (i > start && chars[i] >= "\x80" && mark.test(chars[i])))) i++;
      if (i === start) { i++; continue; }
      let word = chars.slice(start, i).join("");
      const ending = i;
      if (/['’]/.test(chars[i] || "") && chars[i + 1] === "s" && !isLetter(chars[i + 2] || " ")) i += 2;
      const symbol = i === ending && symbols.find(([base, sign]) =>
        base === word.toLowerCase() && chars.slice(i, i + sign.length).join("") === sign);
      if (symbol) {
        word = symbol[2];
        i += symbol[1].length;
      }
      if (!ascii.test(word)) out.push(...pairs(fold(word)));
      else if (word.length <= maxWord) out.push(word.toLowerCase());
    }
    return out.slice(0, most);
  };

  const stopWords = new Set(("a about above after again against all am an and any are as at be because been before being " +
    "below between both but by can did do does doing don down during each few for from further had has have having he her " +
    "here hers herself him himself his how i if in into is it its itself just me more most my myself no nor not now of off " +
    "on once only or other our ours ourselves out over own s same she should so some such t than that the their theirs them " +
    "themselves then there these they this those through to too under until up very was we were what when where which while " +
    "who whom why will with you your yours yourself yourselves").split(" "));

  // The English stemmer of Snowball (Porter 2).

  const special = new Map(Object.entries({
    skis: "ski", skies: "sky", dying: "die", lying: "lie", tying: "tie", idly: "idl", gently: "gentl", ugly: "ugli",
    early: "earli", only: "onli", singly: "singl", inning: "inning", innings: "inning", outing: "outing",
    outings: "outing", canning: "canning", cannings: "canning", herring: "herring", herrings: "herring",
    earring: "earring", earrings: "earring",
  }));
  for (const word of ["sky", "news", "howe", "atlas", "cosmos", "bias", "andes"]) special.set(word, word);
  for (const word of ["proceed", "exceed", "succeed"]) {
    for (const end of ["", "s", "ed", "ing"]) special.set(word + end, word);
  }
  const step2 = [["ational", "ate"], ["fulness", "ful"], ["iveness", "ive"], ["ization", "ize"], ["ousness", "ous"],
    ["biliti", "ble"], ["lessli", "less"], ["tional", "tion"], ["alism", "al"], ["aliti", "al"], ["ation", "ate"],
    ["entli", "ent"], ["fulli", "ful"], ["iviti", "ive"], ["ousli", "ous"], ["anci", "ance"], ["abli", "able"],
    ["alli", "al"], ["ator", "ate"], ["enci", "ence"], ["izer", "ize"], ["bli", "ble"], ["ogi", "og"], ["li", ""]];
  const step3 = [["ational", "ate"], ["tional", "tion"], ["alize", "al"], ["icate", "ic"], ["ative", ""], ["iciti", "ic"],
    ["ical", "ic"], ["ful", ""], ["ness", ""]];
  const step4 = ["ement", "ance", "ence", "able", "ible", "ment", "ent", "ant", "ism", "ate", "iti", "ous", "ive", "ize",
    "ion", "al", "er", "ic"];
  const isVowel = (c) => c !== undefined && "aeiouy".includes(c);

  // region returns where the part after the first consonant that follows a vowel begins.
  const region = (w, from) => {
    for (let i = from + 1; i < w.length; i++) if (isVowel(w[i - 1]) && !isVowel(w[i])) return i + 1;
    return w.length;
  };
  const endsShort = (w, i) => i === 2 ? isVowel(w[0]) && !isVowel(w[1])
    : i > 2 && !isVowel(w[i - 1]) && !"wxY".includes(w[i - 1]) && isVowel(w[i - 2]) && !isVowel(w[i - 3]);

  // american returns a word with the American forms of the commonest British endings.
  const endings = [["isation", "ization"], ["isations", "ization"], ["ising", "izing"], ["ised", "ized"],
    ["ises", "izes"], ["ise", "ize"], ["our", "or"], ["ours", "ors"]];
  const american = (word) => {
    if (word.length < 6) return word;
    for (const [british, by] of endings) {
      const rest = word.slice(0, -british.length);
      if (word.endsWith(british) && (british[0] === "o" || !"aocvw".includes(rest.at(-1)))) return rest + by;
    }
    return word;
  };
  const variants = [["ifi", "if"], ["ysi", "ys"], ["yz", "ys"]];
  const stem = (word) => {
    if (!/^[a-z]+$/.test(word)) return word;
    const key = english(american(word));
    const found = variants.find(([end]) => key.endsWith(end) && key.length > end.length + 1);
    return found ? key.slice(0, -found[0].length) + found[1] : key;
  };

  const english = (word) => {
    if (word.length <= 2) return word;
    if (special.has(word)) return special.get(word);
    let w = [...word].reduce((done, c, i) => done + (c === "y" && (i === 0 || isVowel(done[i - 1])) ? "Y" : c), "");
    const prefix = /^(gener|commun|arsen)/.exec(w);
    const r1 = prefix ? prefix[0].length : region(w, 0), r2 = region(w, r1);
    const cut = (n, by = "") => { w = w.slice(0, w.length - n) + by; };
    const ending = (list) => list.find((s) => w.endsWith(s));
    const fits = (suffix, r) => suffix.length <= w.length - Math.min(r, w.length);

    if (w.endsWith("sses")) cut(2);
    else if (w.endsWith("ied") || w.endsWith("ies")) cut(3, w.length > 4 ? "i" : "ie");
    else if (w.endsWith("s") && !w.endsWith("us") && !w.endsWith("ss") && [...w.slice(0, -2)].some(isVowel)) cut(1);

    let end = ending(["eedly", "ingly", "edly", "ing", "eed", "ed"]);
    let short = false;
    if (end === "eed" || end === "eedly") {
      if (fits(end, r1)) cut(end.length, "ee");
    } else if (end && [...w.slice(0, -end.length)].some(isVowel)) {
      cut(end.length);
      if (/(at|bl|iz)$/.test(w)) w += "e";
      else if (/(bb|dd|ff|gg|mm|nn|pp|rr|tt)$/.test(w)) cut(1);
      else if (r1 >= w.length && endsShort(w, w.length)) { w += "e"; short = true; } // its regions are empty from here on
    }
    const r1End = () => short ? Infinity : r1, r2End = () => short ? Infinity : r2;

    if (w.length > 2 && /[yY]$/.test(w) && !isVowel(w[w.length - 2])) cut(1, "i");

    let rule = step2.find(([s]) => w.endsWith(s));
    if (rule && fits(rule[0], r1End())) {
      if (rule[0] === "li") { if (w.length >= 3 && "cdeghkmnrt".includes(w[w.length - 3])) cut(2); }
      else if (rule[0] === "ogi") { if (w.length >= 4 && w[w.length - 4] === "l") cut(3, "og"); }
      else cut(rule[0].length, rule[1]);
    }
    rule = step3.find(([s]) => w.endsWith(s));
    if (rule && fits(rule[0], r1End()) && (rule[0] !== "ative" || fits("ative", r2End()))) cut(rule[0].length, rule[1]);
    end = ending(step4);
    if (end && fits(end, r2End()) && (end !== "ion" || "st".includes(w[w.length - 4] || "-"))) cut(end.length);

    const last = w.length - 1;
    if (w[last] === "e" && r1End() <= last) {
      if (r2End() <= last || !endsShort(w, last)) cut(1);
    } else if (w.endsWith("ll") && r2End() <= last) cut(1);
    return w.replaceAll("Y", "y");
  };

  // Ranking.

  const log2 = (n) => {
    let exponent = 0;
    while (2 ** (exponent + 1) <= n) exponent++;
    return exponent * 256 + Math.floor(n / 2 ** (exponent - 8)) % 256;
  };
  const rarity = (have, all) => log2(Math.floor(all * 65536 / Math.max(have, 1)) + 65536) - 16 * 256;

  const plain = /^[a-z0-9]/;
  const keyOf = (word) => {
    if (!plain.test(word)) return "u-" + word.codePointAt(0).toString(16);
    return plain.test(word.slice(1)) ? word.slice(0, 2) : word[0];
  };

  // edits returns the results of leaving a letter out, swapping two neighbors, and changing or adding a letter.
  const edits = (word) => {
    const out = [], letters = "abcdefghijklmnopqrstuvwxyz0123456789";
    for (let i = 0; i < word.length; i++) {
      out.push(word.slice(0, i) + word.slice(i + 1));
      if (i > 0 && word[i] !== word[i - 1]) out.push(word.slice(0, i - 1) + word[i] + word[i - 1] + word.slice(i + 1));
    }
    for (let i = 0; i <= word.length; i++) {
      for (const c of letters) {
        out.push(word.slice(0, i) + c + word.slice(i));
        if (i < word.length && c !== word[i]) out.push(word.slice(0, i) + c + word.slice(i + 1));
      }
    }
    return out;
  };

  // create returns a search. load(path) promises the parsed content of search/path.json.
  const create = (load) => {
    const files = new Map();
    const dictionary = (key, index) => {
      if (!index.keys.includes(key)) return Promise.resolve(new Map());
      if (!files.has(key)) {
        const file = load("terms/" + key).then((terms) => new Map(Object.entries(terms)));
        file.catch(() => files.delete(key));
        files.set(key, file);
      }
      return files.get(key);
    };
    // entry returns what the index has of a stem: how many packs, and which; undefined for none.
    const entry = async (word, index) => {
      if (!word) return undefined;
      const found = (await dictionary(keyOf(word), index)).get(word);
      return Array.isArray(found) ? found : undefined;
    };
    const count = async (word, index) => (await entry(word, index))?.[0] || 0;

    const mostCommon = (counts, limit, form) => {
      const keys = [...counts.keys()].filter((key) => counts.get(key) > 0);
      keys.sort((a, b) => counts.get(b) - counts.get(a) || (a < b ? -1 : 1));
      const forms = keys.slice(0, limit).map((key) => ({ ...form, key }));
      return { forms, most: forms.length ? counts.get(forms[0].key) : 0 };
    };

    const prefixForms = async (word, exists, index) => {
      const counts = new Map();
      const list = [...(await dictionary(keyOf(word), index)).entries()].filter(([text]) => text.startsWith(word));
      for (const [text, value] of list.slice(0, maxScanned)) {
        const key = Array.isArray(value) ? text : value;
        if (!counts.has(key)) counts.set(key, Array.isArray(value) ? value[0] : await count(key, index));
      }
      if (exists) counts.delete(stem(word));
      return mostCommon(counts, maxPrefixForms, { part: exists ? longerShare : prefixShare });
    };

    const typos = async (word) => {
      if (word.length < shortestTypo || !ascii.test(word)) return { forms: [], most: 0 };
      const all = await load("typos"), has = (text) => Object.hasOwn(all, text);
      const counts = new Map(), first = new Set();
      for (const candidate of edits(word)) {
        if (!has(candidate)) continue;
        for (const key of [candidate, stem(candidate)]) {
          counts.set(key, has(key) ? all[key] : 0);
          if (candidate[0] === word[0]) first.add(key);
        }
      }
      const found = mostCommon(counts, maxTypoForms, { part: typoShare });
      for (const form of found.forms) if (!first.has(form.key)) form.part >>= 1;
      return found;
    };

    const approximate = async (word, exists, last, index) => {
      if (bytes(word) >= 2 && (last || !exists)) {
        const found = await prefixForms(word, exists, index);
        if (exists) return { forms: found.forms, most: 0 };
        if (found.forms.length) return found;
      }
      return exists ? { forms: [], most: 0 } : typos(word);
    };

    // read returns the words of a query and the forms in which they are searched for.
    const read = async (query, index) => {
      const all = words(query, maxQuery), requests = new Set(index.requests);
      const telling = all.filter((w) => !stopWords.has(w) && !requests.has(w));
      const list = telling.length ? telling : all;
      const terms = [], positions = new Map();
      for (const word of list) {
        if (positions.has(stem(word))) continue;
        positions.set(stem(word), terms.length);
        terms.push({ word, forms: [], have: 0 });
      }
      const add = (term, form) => { if (!term.forms.some((f) => f.key === form.key)) term.forms.push(form); };
      for (const term of terms) {
        const key = stem(term.word), have = await count(key, index);
        if (have) add(term, { key, part: exactWeight, all: terms.length === 1 });
        term.have = have;
        let least = 0;
        for (const other of Object.hasOwn(index.synonyms, key) ? index.synonyms[key] : []) {
          const found = await count(stem(other), index);
          if (!found) continue;
          add(term, { key: stem(other), part: synonymShare, value: rarity(Math.max(found, have), index.packs) });
          if (!least || found < least) least = found;
        }
        if (!have) term.have = least;
      }
      const join = async (parts) => {
        const key = stem(parts.join("")), have = await count(key, index);
        if (!have) return;
        for (const part of parts) {
          const term = terms[positions.get(stem(part))];
          add(term, { key, part: joinedShare, all: parts.length === list.length });
          term.have = Math.max(term.have, have);
        }
      };
      for (let i = 0; i + 1 < list.length; i++) await join(list.slice(i, i + 2));
      if (list.length > 2) await join(list);
      for (const [n, term] of terms.entries()) {
        const last = n === terms.length - 1 && !query.endsWith(" ");
        const found = await approximate(term.word, term.have > 0, last, index);
        for (const form of found.forms) add(term, form);
        if (found.forms.length) term.have = Math.max(term.have, found.most);
        term.value = rarity(term.have, index.packs);
      }
      return terms;
    };

    // postings calls yield with each pack that has a word, and the impact of the word there.
    const postings = (packed, yieldPack) => {
      const list = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
      let pack = 0;
      for (let i = 0; i < list.length;) {
        let step = 0;
        for (let shift = 1; ; shift *= 128) {
          step += (list[i] & 0x7f) * shift;
          if (list[i++] < 0x80) break;
        }
        pack += step;
        yieldPack(pack, list[i++]);
      }
    };

    // numberOf returns the pack with a name.
    const numberOf = async (name, index) => {
      const names = await load("names"), chunk = names.findLastIndex((first) => first <= name);
      if (chunk < 0) return undefined;
      const i = (await load("packs/" + chunk)).findIndex((pack) => pack.name === name);
      return i < 0 ? undefined : chunk * index.chunk + i;
    };

    // find returns the packs that match a query, the best first. Copies of a pack are listed with it.
    const find = async (query) => {
      const index = await load("index");
      const terms = await read(query, index), scores = new Map();
      for (const term of terms) {
        const best = new Map();
        for (const form of term.forms) {
          const found = await entry(form.key, index);
          if (!found) continue;
          const value = form.value ? Math.min(form.value, term.value) : term.value;
          postings(found[1], (pack, impact) => {
            let points = Math.floor((impact & ~exact) * form.part * value / 2 ** 14);
            if (impact & exact && form.all && form.part >= joinedShare) points += titlePoints;
            best.set(pack, Math.max(best.get(pack) || 0, Math.min(points, 65535)));
          });
        }
        for (const [pack, points] of best) {
          const score = scores.get(pack) || { pack, points: 0, has: 0 };
          score.points += points;
          score.has++;
          scores.set(pack, score);
        }
      }
      const name = query.trim().toLowerCase();
      let named;
      if (name.split("/").length === 2 && bytes(name) <= maxKey) named = await numberOf(name, index);
      if (named !== undefined) {
        const score = scores.get(named) || { pack: named, points: 0 };
        scores.set(named, { pack: named, points: score.points + keyPoints, has: terms.length });
      }
      const all = [...scores.values()], most = all.reduce((m, s) => Math.max(m, s.has), 0);
      const hits = all.filter((s) => s.has && 2 * s.has >= most);
      for (const hit of hits) hit.points = Math.floor(hit.points * hit.has / most);
      hits.sort((a, b) => b.points - a.points || a.pack - b.pack);
      return { hits: folded(hits, named, index.copies), whole: most === terms.length };
    };
    return { find };
  };

  // folded moves copies of a pack to the original, if both were found. A pack that was searched by its name stays.
  const folded = (hits, named, copies) => {
    const found = new Set(hits.map((hit) => hit.pack)), out = new Map();
    for (const hit of hits) {
      const of = hit.pack === named ? undefined : copies[hit.pack];
      const original = of !== undefined && found.has(of) ? of : hit.pack;
      if (!out.has(original)) out.set(original, { pack: original, copies: [] });
      if (original !== hit.pack) out.get(original).copies.push(hit.pack);
    }
    return [...out.values()];
  };

  return { create, words, stem };
})();
