package lint

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/pack/index"
)

// packTree reads files, each after a line "-- path".
func packTree(text string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for part := range strings.SplitSeq("\n"+text, "\n-- ") {
		if name, data, ok := strings.Cut(part, "\n"); ok && name != "" {
			fsys[name] = &fstest.MapFile{Data: []byte(data + "\n"), Mode: 0o644}
		}
	}
	return fsys
}

// runPacks checks all pack files of a tree. words are what the skills of every pack mention; none for packs without
// skills.
func runPacks(t testing.TB, fsys fs.FS, words ...string) string {
	t.Helper()
	shared, err := New(Options{Parallel: 2})
	if err != nil {
		t.Fatal(err)
	}
	l := &lintRun{Linter: shared, fsys: fsys}
	var files []packFile
	err = fs.WalkDir(fsys, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		entries, err := fs.ReadDir(fsys, name)
		files = append(files, l.packFilesIn(name, entries)...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return showPacks(l.packDocs(files, func(string) func(string) bool {
		if words == nil {
			return nil
		}
		return func(word string) bool { return slices.Contains(words, word) }
	}))
}

// showPacks writes findings, one a line.
func showPacks(docs []*packDoc) string {
	var out []string
	for _, d := range docs {
		for _, f := range d.findings {
			out = append(out, fmt.Sprintf("%s:%d:%d-%d %s %s: %s\n", f.Path, f.Line, f.Column, f.EndColumn, f.Rule, f.Severity, f.Message))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "")
}

func mustID(t testing.TB, s string) pack.ID {
	t.Helper()
	id, err := pack.ParseID(s)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

var treeSum = "t1:sha256:" + strings.Repeat("89efabcd", 8)

// lockText returns a lockfile of packs, each "id version source", with its requirements after a colon as "id text", and
// with its skills in brackets.
func lockText(t testing.TB, names map[string]pack.LockedName, packs ...string) string {
	t.Helper()
	l := pack.NewLock()
	maps := func(s string) map[string]string {
		m := map[string]string{}
		for one := range strings.SplitSeq(s, ";") {
			if k, v, ok := strings.Cut(strings.TrimSpace(one), " "); ok {
				m[k] = v
			}
		}
		return m
	}
	for _, text := range packs {
		head, skills, _ := strings.Cut(strings.TrimSuffix(text, ")"), "(")
		head, deps, _ := strings.Cut(head, " : ")
		fields := strings.Fields(head)
		p := &pack.LockedPack{Version: fields[1], Source: fields[2], Skills: map[string]string{}, Dependencies: maps(deps)}
		switch {
		case strings.HasPrefix(p.Source, "git+"):
			p.Resolved = strings.Repeat("c", 40)
		case !strings.HasPrefix(p.Source, "path"):
			p.Resolved = "sha256:" + strings.Repeat("0123abcd", 8)
		}
		for s := range strings.FieldsSeq(skills) {
			if s == "…" {
				p.Partial = true
				continue
			}
			p.Skills[s] = treeSum
		}
		p.Integrity = bundle.Integrity(p.Skills)
		l.Packs[mustID(t, fields[0])] = p
	}
	l.Names = names
	return string(l.Encode())
}

const ociBase = "oci://registry.example/acme/base"

func TestPackFiles(t *testing.T) {
	entry := func(name string) string {
		l := index.Line{
			Name: name, Version: "1.0.0", Source: ociBase, Digest: "sha256:" + strings.Repeat("0123abcd", 8),
			Skills: []index.Skill{{Name: "base", Tree: treeSum}},
		}
		return strings.TrimSuffix(string(l.Encode()), "\n")
	}
	base := index.Path(mustID(t, "acme/base"))
	for _, tt := range []struct{ name, files, want string }{
		{"a manifest", "-- skillpm.yaml\nname: acme\nversion: 1.0\nlicence: MIT", `
skillpm.yaml:1:7-11 PACK005 error: invalid pack name "acme"
skillpm.yaml:2:10-13 PACK005 error: invalid version "1.0"
skillpm.yaml:3:1-8 PACK005 error: unknown key "licence" in skillpm.yaml
`},
		{"names in a manifest", "-- skillpm.yaml\nagents: [claude-cod, agents]\nvalidate:\n  profiles: [claude-cod, agentskills]\n" +
			"  rules: {STR003: off, STR999: off}\n  ignore: [{path: x, rules: [XYZ, REF*], reason: y}]", `
skillpm.yaml:1:10-20 PACK005 error: unknown agent "claude-cod"
skillpm.yaml:3:14-24 PACK005 error: unknown profile "claude-cod"
skillpm.yaml:4:24-30 PACK005 error: unknown rule "STR999"
skillpm.yaml:5:12-13 PACK005 error: unknown rule "XYZ"
`},
		{"patterns of skills", "-- a/skillpm.yaml\nskills: [\"skills/*\", \"other/**\", skills/y, ./skills/x/]\n-- a/skills/x/SKILL.md\n---\nname: x\n---", `
a/skillpm.yaml:1:22-32 PACK013 error: no directory that matches "other/**" contains a SKILL.md
a/skillpm.yaml:1:34-42 PACK013 error: no directory that matches "skills/y" contains a SKILL.md
`},
		{"a lock", "-- skillpm.lock\nversion: 1\npacks: [acme/base]", `
skillpm.lock:2:8-9 PACK006 error: packs must be a mapping
`},
		{"an index", "-- idx/config.json\n{\"version\": 2}\n-- idx/" + base + "\n" + entry("acme/base") + "\n{}\n-- idx/packs/misplaced.ndjson\n" + entry("acme/other") +
			"\n-- idx/packs/readme.txt\nx\n-- data/x.ndjson\n{\n-- data/config.json\n{", `
idx/config.json:1:13-14 PACK008 error: unsupported index format version 2; this skillpm supports version 1
idx/` + base + `:2:1-2 PACK008 error: a version requires a source and a digest
idx/` + base + `:2:1-2 PACK008 error: a version requires at least one skill
idx/` + base + `:2:1-2 PACK008 error: invalid pack name ""
idx/` + base + `:2:1-2 PACK008 error: invalid version "": use a semantic version such as 1.4.0
idx/packs/misplaced.ndjson:0:0-0 PACK008 error: skillpm ignores acme/other in this file: an index has the versions of acme/other in ` + index.Path(mustID(t, "acme/other")) + `
`},
		{"an index without a description", "-- " + base + "\n" + entry("acme/base") + "\n-- packs/00/11/acme/base.ndjson\n" + entry("acme/base"), `
packs/00/11/acme/base.ndjson:0:0-0 PACK008 error: skillpm ignores acme/base in this file: an index has the versions of acme/base in ` + base + `
`},
		{"policies", "-- skillpm/policy.yaml\nversion: 1\nmode: strict\nlimit: {}\n-- policy.yaml\nversion: 1\nmode: strict\n-- skillpm-policy.yaml\nmode: enforce\n" +
			"-- app/policy.yaml\nversion: 1\nrules: {}\n-- ok/policy.yaml\nversion: 1\nmode: enforce", `
policy.yaml:2:7-13 PACK009 error: mode has the unknown value "strict"
skillpm-policy.yaml:1:1-5 PACK009 error: the policy does not have a version
skillpm/policy.yaml:2:7-13 PACK009 error: mode has the unknown value "strict"
skillpm/policy.yaml:3:1-6 PACK009 error: unknown key "limit" in the policy
`},
		{"a baseline", "-- skillpm-baseline.yaml\nversion: 1\nfindings:\n  - {rule: REF999, path: a, digest: \"sha256:" + strings.Repeat("0", 64) + "\", reason: x}", `
skillpm-baseline.yaml:3:3-4 SUP003 warning: unknown rule "REF999"
`},
		{"a baseline without a reason", "-- skillpm-baseline.yaml\nversion: 1\nfindings:\n  - {rule: REF001, path: a, digest: \"sha256:" + strings.Repeat("0", 64) + "\"}", `
skillpm-baseline.yaml:3:5-6 PACK014 error: the key "reason" is missing in an entry
`},
		{"a broken baseline", "-- skillpm-baseline.yaml\nversion: 2", `
skillpm-baseline.yaml:1:10-11 PACK014 error: unsupported baseline version "2"; this skillpm supports version 1
`},
		{"an empty baseline", "-- skillpm-baseline.yaml\n", `
skillpm-baseline.yaml:0:0-0 PACK014 error: is empty
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := runPacks(t, packTree(tt.files)); got != strings.TrimPrefix(tt.want, "\n") {
				t.Errorf("got\n%swant%s", got, tt.want)
			}
		})
	}
}

// TestLockDiffers checks differences between a lockfile and the manifest beside it.
func TestLockDiffers(t *testing.T) {
	base := "acme/base 1.2.0 " + ociBase + " (base)"
	local := "acme/near 1.0.0 path:near (near)"
	aliased := map[string]pack.LockedName{"base": {Shadowed: map[pack.ID]string{mustID(t, "acme/base"): "first"}}}
	contested := map[string]pack.LockedName{
		"base": {Winner: mustID(t, "globex/base"), Shadowed: map[pack.ID]string{mustID(t, "acme/base"): "acme-base"}},
	}
	for _, tt := range []struct{ name, manifest, lock, want string }{
		{"equal", `dependencies: {acme/base: "^1.0"}`, lockText(t, nil, base), ""},
		{"nothing", `name: acme/x`, lockText(t, nil), ""},
		{"through another", `dependencies: {acme/top: "*"}`, lockText(t, nil, base, "acme/top 1.0.0 embedded : acme/base ^1.1 [base]; (top)"), ""},
		{"version", `dependencies: {acme/base: "^2.0"}`, lockText(t, nil, base), "skillpm.lock:5:5-12 PACK007 warning: acme/base 1.2.0 is locked, but skillpm.yaml requires ^2.0\n"},
		{"version for development", "dev-dependencies:\n  acme/base: \"^2.0\"", lockText(t, nil, base), "skillpm.lock:5:5-12 PACK007 warning: acme/base 1.2.0 is locked, but skillpm.yaml requires ^2.0\n"},
		{"version through another", `dependencies: {acme/top: "*"}`, lockText(t, nil, base, "acme/top 1.0.0 embedded : acme/base ~1.1; (top)"), "skillpm.lock:5:5-12 PACK007 warning: acme/base 1.2.0 is locked, but acme/top requires ~1.1\n"},
		{"missing", "dependencies:\n  acme/base: \"^1.0\"\n  acme/new: \"*\"", lockText(t, nil, base), "skillpm.yaml:3:3-11 PACK007 warning: acme/new is required, but is not in skillpm.lock\n"},
		{"missing through another", `dependencies: {acme/top: "*"}`, lockText(t, nil, "acme/top 1.0.0 embedded : acme/base ~1.1; (top)"), "skillpm.lock:10:7-16 PACK007 warning: acme/base is required, but is not in skillpm.lock\n"},
		{"surplus", `dependencies: {acme/base: "^1.0"}`, lockText(t, nil, base, "acme/old 1.0.0 embedded (old)"), "skillpm.lock:11:3-11 PACK007 warning: acme/old is locked, but nothing requires it\n"},
		{
			"surplus circle", `name: acme/x`, lockText(t, nil, "acme/a 1.0.0 embedded : acme/b *; (a)", "acme/b 1.0.0 embedded : acme/a *; (b)"),
			"skillpm.lock:13:3-9 PACK007 warning: acme/b is locked, but nothing requires it\nskillpm.lock:4:3-9 PACK007 warning: acme/a is locked, but nothing requires it\n",
		},
		{"place", `dependencies: {acme/base: {oci: "oci://other.example/acme/base"}}`, lockText(t, nil, base), "skillpm.lock:6:5-11 PACK007 warning: acme/base is locked to a different source than skillpm.yaml requires (oci://other.example/acme/base)\n"},
		{"same place", `dependencies: {acme/base: {oci: "` + ociBase + `", version: "^1"}}`, lockText(t, nil, base), ""},
		{"tag", `dependencies: {acme/base: {git: "https://git.example/x.git", tag: v1.2.0}}`, lockText(t, nil, "acme/base 1.2.0 git+https://git.example/x.git (base)"), ""},
		{"branch", `dependencies: {acme/base: {git: "https://git.example/x.git", branch: main}}`, lockText(t, nil, "acme/base 1.2.0 git+https://git.example/x.git#next (base)"), "skillpm.lock:6:5-11 PACK007 warning: acme/base is locked to a different source than skillpm.yaml requires (git+https://git.example/x.git#main)\n"},
		{"commit", `dependencies: {acme/base: {git: "https://git.example/x.git", tag: v1.2.0, digest: "` + strings.Repeat("d", 40) + `"}}`, lockText(t, nil, "acme/base 1.2.0 git+https://git.example/x.git (base)"), "skillpm.lock:6:5-11 PACK007 warning: acme/base is locked to a different source than skillpm.yaml requires (git+https://git.example/x.git#v1.2.0)\n"},
		{"a name for a directory", `dependencies: {acme/near: "*"}`, lockText(t, nil, local), "skillpm.lock:6:5-11 PACK007 warning: acme/near is locked to a directory, but skillpm.yaml requires it by name\n"},
		{"skills", `dependencies: {acme/base: {version: "^1", skills: [base, more]}}`, lockText(t, nil, "acme/base 1.2.0 "+ociBase+" (base other …)"), "skillpm.lock:11:7-12 PACK007 warning: the skill other of acme/base is locked but not required\nskillpm.lock:9:5-11 PACK007 warning: the skill more of acme/base is required but not locked\n"},
		{"all skills", `dependencies: {acme/base: "^1"}`, lockText(t, nil, "acme/base 1.2.0 "+ociBase+" (base …)"), "skillpm.lock:11:5-12 PACK007 warning: only some skills of acme/base are locked, but all skills are required\n"},
		{"all skills for another", `dependencies: {acme/base: {version: "*", skills: [base]}, acme/top: "*"}`, lockText(t, nil, "acme/base 1.2.0 "+ociBase+" (base more)", "acme/top 1.0.0 embedded : acme/base *; (top)"), ""},
		{"an alias", "dependencies: {acme/base: \"*\"}\naliases: {first: base@acme/base}", lockText(t, aliased, base), ""},
		{"a new alias", "dependencies: {acme/base: \"*\"}\naliases: {first: base@acme/base}", lockText(t, nil, base), "skillpm.lock:3:1-6 PACK007 warning: the mapping \"names\" must contain base: several packs contain this skill, or an alias refers to it\n"},
		{"another alias", "dependencies: {acme/base: \"*\"}\naliases: {other: base@acme/base}", lockText(t, aliased, base), "skillpm.lock:13:5-13 PACK007 warning: the aliases of base do not match skillpm.yaml\n"},
		{"no alias any more", "dependencies: {acme/base: \"*\"}", lockText(t, aliased, base), "skillpm.lock:12:3-7 PACK007 warning: the mapping \"names\" must not contain base: only one pack contains this skill, and no alias refers to it\n"},
		{"an alias for no skill", "dependencies: {acme/base: \"*\"}\naliases: {first: bse@acme/base}", lockText(t, nil, base), "skillpm.yaml:2:11-16 PACK012 warning: alias first refers to bse@acme/base, but the pack does not contain this skill\n"},
		{"an alias for no pack", "dependencies: {acme/base: \"*\"}\naliases: {first: x@acme/x}", lockText(t, nil, base), "skillpm.yaml:2:11-16 PACK012 warning: alias first refers to x@acme/x, but the pack is not locked\n"},
		{"an alias that is taken", "dependencies: {acme/base: \"*\"}\naliases: {other: base@acme/base}", lockText(t, nil, "acme/base 1.2.0 "+ociBase+" (base other)"), "skillpm.yaml:2:1-8 PACK012 error: the alias other of base@acme/base is already the name of a skill in acme/base\n"},
		{"a contested name", "dependencies: {acme/base: \"*\", globex/base: \"*\"}", lockText(t, contested, base, "globex/base 1.0.0 embedded (base)"), ""},
		{"another winner", "dependencies: {globex/base: \"*\", acme/base: \"*\"}", lockText(t, contested, base, "globex/base 1.0.0 embedded (base)"), "skillpm.lock:20:5-11 PACK007 warning: the name base must refer to acme/base\n"},
		{"CRLF", `dependencies: {acme/base: "^1.0"}`, strings.ReplaceAll(lockText(t, nil, base), "\n", "\r\n"), "skillpm.lock:1:1-2 PACK007 warning: the lines end with CRLF instead of LF\n"},
		{"a comment", `dependencies: {acme/base: "^1.0"}`, lockText(t, nil, base) + "# mine\n", "skillpm.lock:11:1-2 PACK007 warning: the format differs from the format that skillpm writes, starting at this line\n"},
		{"other quotes", `dependencies: {acme/base: "^1.0"}`, strings.Replace(lockText(t, nil, base), `"1.2.0"`, `'1.2.0'`, 1), "skillpm.lock:5:1-2 PACK007 warning: the format differs from the format that skillpm writes, starting at this line\n"},
		{
			"a broken requirement", `dependencies: {acme/base: newest, acme/new: "*"}`, lockText(t, nil, base, "acme/old 1.0.0 embedded (old)"),
			"skillpm.yaml:1:27-33 PACK005 error: invalid version range \"newest\"\nskillpm.yaml:1:35-43 PACK007 warning: acme/new is required, but is not in skillpm.lock\n",
		},
		{"a broken lock", `dependencies: {acme/base: "^2", acme/top: "*"}`, lockText(t, nil, base) + "  top: {}\n", "skillpm.lock:11:3-6 PACK006 error: invalid pack name \"top\"\n" +
			"skillpm.lock:11:3-6 PACK006 error: top does not have the required key integrity\nskillpm.lock:11:3-6 PACK006 error: top does not have the required key source\nskillpm.lock:11:3-6 PACK006 error: top does not have the required key version\n" +
			"skillpm.lock:5:5-12 PACK007 warning: acme/base 1.2.0 is locked, but skillpm.yaml requires ^2\n"},
		{"a range in the lock", `dependencies: {acme/top: "*"}`, lockText(t, nil, base, "acme/top 1.0.0 embedded : acme/base newest; (top)"), "skillpm.lock:17:7-16 PACK006 error: invalid version range \"newest\"\n"},
		{"a place in the lock", `dependencies: {acme/top: "*"}`, lockText(t, nil, "acme/top 1.0.0 embedded : acme/base https://me:x@y/z; (top)"), "skillpm.lock:9:5-17 PACK006 error: a source must not contain a user name or password\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := packTree("-- skillpm.yaml\n" + tt.manifest)
			fsys["skillpm.lock"] = &fstest.MapFile{Data: []byte(tt.lock)}
			got := runPacks(t, fsys)
			if got != tt.want {
				t.Errorf("got\n%swant\n%s\n%s\n%s", got, tt.want, tt.manifest, tt.lock)
			}
			// If only one of the two files is requested, it is compared with the other one, too.
			for _, name := range []string{"skillpm.yaml", "skillpm.lock"} {
				alone := onePack(t, fsys, name)
				for line := range strings.Lines(tt.want) {
					about := strings.Contains(line, "PACK007") || strings.Contains(line, "PACK012")
					if about && !strings.Contains(alone, line) {
						t.Errorf("%s alone: got\n%swant\n%s", name, alone, line)
					}
				}
			}
		})
	}
}

// TestLockDirectories checks that a lockfile records the state of a directory at installation.
func TestLockDirectories(t *testing.T) {
	const page = "---\nname: n\ndescription: D.\n---\n"
	const manifest = "name: acme/near\nversion: \"1.0.0\"\ndependencies: {acme/base: \"^1\"}\n"
	files := func() fstest.MapFS {
		return fstest.MapFS{
			"skillpm.yaml":         {Data: []byte("dependencies: {acme/near: {path: ./near}, acme/base: \"*\"}\n")},
			"near/skillpm.yaml":    {Data: []byte(manifest)},
			"near/skills/SKILL.md": {Data: []byte(page), Mode: 0o644},
			"near/skills/run.sh":   {Data: []byte("#!/bin/sh\n"), Mode: 0o755},
		}
	}
	tree, err := bundle.Sum(files(), "near/skills")
	if err != nil {
		t.Fatal(err)
	}
	lock := lockText(t, nil, "acme/base 1.2.0 "+ociBase+" (base)", "acme/near 1.0.0 path:near : acme/base ^1; (n)")
	sum := bundle.Integrity(map[string]string{"n": tree.Digest()})
	at := strings.Index(lock, "acme/near:")
	lock = lock[:at] + strings.NewReplacer(treeSum, tree.Digest(), bundle.Integrity(map[string]string{"n": treeSum}), sum).Replace(lock[at:])
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text), Mode: 0o644} }
	for _, tt := range []struct {
		name   string
		change fstest.MapFS
		want   string
	}{
		{"as it was", nil, ""},
		{"version", fstest.MapFS{"near/skillpm.yaml": file(strings.Replace(manifest, "1.0.0", "1.1.0", 1))}, "skillpm.lock:12:5-12 PACK007 warning: acme/near 1.0.0 is locked, but ./near has version 1.1.0\n"},
		{"no manifest", fstest.MapFS{"near/skillpm.yaml": nil}, "skillpm.yaml:1:16-25 PACK005 error: the name of the pack in ./near is local/near, but this file requires acme/near\n"},
		{"name", fstest.MapFS{"near/skillpm.yaml": file(strings.Replace(manifest, "acme/near", "acme/far", 1))}, "skillpm.yaml:1:16-25 PACK005 error: the name of the pack in ./near is acme/far, but this file requires acme/near\n"},
		{"range", fstest.MapFS{"near/skillpm.yaml": file(strings.Replace(manifest, "^1", "^1.1", 1))}, "skillpm.lock:15:5-17 PACK007 warning: the locked dependencies of acme/near differ from the dependencies in ./near\n"},
		{"another dependency", fstest.MapFS{"near/skillpm.yaml": file(strings.Replace(manifest, "}", ", a/b: '*'}", 1))}, "skillpm.lock:15:5-17 PACK007 warning: the locked dependencies of acme/near differ from the dependencies in ./near\n"},
		{"text", fstest.MapFS{"near/skills/SKILL.md": file(page + "More.\n")}, "skillpm.lock:18:7-10 PACK007 warning: the skill n of ./near has changed since it was locked\n"},
		{"mode", fstest.MapFS{"near/skills/run.sh": file("#!/bin/sh\n")}, "skillpm.lock:18:7-10 PACK007 warning: the skill n of ./near has changed since it was locked\n"},
		{"line ends", fstest.MapFS{"near/skills/SKILL.md": file(strings.ReplaceAll(page, "\n", "\r\n"))}, ""},
		{"another skill", fstest.MapFS{"near/more/SKILL.md": file(strings.Replace(page, "name: n", "name: more", 1))}, "skillpm.lock:17:5-11 PACK007 warning: ./near contains the skill more, but the skill is not locked\n"},
		{"no skill", fstest.MapFS{"near/skills/SKILL.md": file(strings.Replace(page, "name: n", "name: m", 1))}, "skillpm.lock:17:5-11 PACK007 warning: ./near contains the skill m, but the skill is not locked\n" +
			"skillpm.lock:18:7-10 PACK007 warning: the skill n is locked, but ./near does not contain this skill\n"},
		{"gone", fstest.MapFS{"near/skills/SKILL.md": nil, "near/skills/run.sh": nil, "near/skillpm.yaml": nil}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := files()
			fsys["skillpm.lock"] = file(lock)
			for name, f := range tt.change {
				if fsys[name] = f; f == nil {
					delete(fsys, name)
				}
			}
			if got := runPacks(t, fsys); got != tt.want {
				t.Errorf("got\n%swant\n%s\n%s", got, tt.want, lock)
			}
		})
	}
}

// onePack checks one requested file.
func onePack(t testing.TB, fsys fs.FS, name string) string {
	t.Helper()
	shared, err := New(Options{Parallel: 1})
	if err != nil {
		t.Fatal(err)
	}
	l := &lintRun{Linter: shared, fsys: fsys}
	kind, ok := l.packTarget(name)
	if !ok {
		return "none\n"
	}
	return showPacks(l.packDocs([]packFile{{kind, name}, {kind, name}}, nil))
}

func TestPackTargets(t *testing.T) {
	fsys := packTree("-- idx/config.json\n{\n-- idx/packs/x.ndjson\n{\n-- app/config.json\n{\n-- a/SKILL.md\n---\n-- a/data/x.ndjson\n{\n-- logs/x.ndjson\n{\n" +
		"-- app/policy.yaml\nrules: []\n-- b/policy.yaml\nversion: 1\nmode: audit\n-- skillpm/policy.yaml\nx\n-- b/skillpm.lock\n-- b/README.md\nx")
	l := &lintRun{Linter: &Linter{}, fsys: fsys}
	want := map[string]packKind{
		"idx/config.json": packIndexConfig, "idx/packs/x.ndjson": packIndex, "logs/x.ndjson": packIndex, "b/policy.yaml": packPolicy,
		"skillpm/policy.yaml": packPolicy, "b/skillpm.lock": packLock,
	}
	for name := range fsys {
		kind, ok := l.packTarget(name)
		if w, is := want[name]; ok != is || ok && kind != w {
			t.Errorf("%s: %d %t, want %d %t", name, kind, ok, w, is)
		}
	}
}

func TestLooksLikePolicy(t *testing.T) {
	for text, want := range map[string]bool{
		"version: 1\nmode: enforce\n":                 true,
		"# ours\nversion: 1\nsources:\n  deny: [x]\n": true,
		"version: 1\n":                                 false,
		"mode: enforce\nlimits: {}\n":                  false,
		"version: 1\nrules: []\nname: x\nlimits: {}\n": false,
		"": false,
		"apiVersion: v1\nkind: Policy\nspec: {mode: x}\n": false,
	} {
		if got := looksLikePolicy([]byte(text)); got != want {
			t.Errorf("%q: %t, want %t", text, got, want)
		}
	}
}

func TestPackCycles(t *testing.T) {
	pk := func(name, deps string) string {
		return fmt.Sprintf("-- %s/skillpm.yaml\nname: acme/%s\nversion: \"1.0.0\"\ndependencies: {%s}\n", name, name, deps)
	}
	for _, tt := range []struct{ name, files, want string }{
		{"none", pk("a", `acme/b: "*"`) + pk("b", `acme/c: {path: ../c}`) + pk("c", ""), ""},
		{"by name", pk("a", `acme/b: "*"`) + pk("b", `acme/a: "^1"`), "a/skillpm.yaml:3:16-22 PACK010 error: dependency cycle: acme/a → acme/b → acme/a\n"},
		{
			"by path", pk("a", "acme/b: {path: ../b}") + pk("b", "acme/c: {path: ../c}") + pk("c", "acme/a: {path: ../a}"),
			"a/skillpm.yaml:3:16-22 PACK010 error: dependency cycle: acme/a → acme/b → acme/c → acme/a\n",
		},
		{
			"the shortest", pk("a", `acme/b: "*", acme/c: "*"`) + pk("b", `acme/c: "*"`) + pk("c", `acme/a: "*"`),
			"a/skillpm.yaml:3:29-35 PACK010 error: dependency cycle: acme/a → acme/c → acme/a\n",
		},
		{
			"two", pk("a", `acme/b: "*"`) + pk("b", `acme/a: "*", acme/c: "*"`) + pk("c", `acme/d: "*"`) + pk("d", `acme/c: "*"`),
			"a/skillpm.yaml:3:16-22 PACK010 error: dependency cycle: acme/a → acme/b → acme/a\n" +
				"c/skillpm.yaml:3:16-22 PACK010 error: dependency cycle: acme/c → acme/d → acme/c\n",
		},
		{"for development", pk("a", `acme/b: "*"`) + "-- b/skillpm.yaml\nname: acme/b\ndev-dependencies: {acme/a: \"*\"}\n", ""},
		{"a copy", pk("a", `acme/b: "*"`) + pk("b", `acme/a: "*"`) + "-- old/skillpm.yaml\nname: acme/a\n", ""},
		{
			"without names", "-- a/skillpm.yaml\ndependencies: {local/b: {path: ../b}}\n-- b/skillpm.yaml\ndependencies: {local/a: {path: ../a}}\n",
			"a/skillpm.yaml:1:16-23 PACK010 error: dependency cycle: a → b → a\n",
		},
		{"itself", "-- a/skillpm.yaml\ndependencies: {local/a: {path: .}}\n", "a/skillpm.yaml:1:16-23 PACK010 error: dependency cycle: a → a\n"},
		{"elsewhere", pk("a", `acme/b: {oci: "oci://h.example/acme/b"}`) + pk("b", `acme/a: {path: ../../a}`), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := runPacks(t, packTree(tt.files)); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}

func TestUnusedDependency(t *testing.T) {
	head := "-- skillpm.yaml\nname: acme/x\nversion: \"1.0.0\"\n"
	lock := "-- skillpm.lock\n" + strings.TrimSuffix(lockText(t, nil, "acme/base 1.2.0 "+ociBase+" (base setup)"), "\n")
	const unused = "skillpm.yaml:3:16-25 PACK011 note: no skill in the pack mentions acme/base or its skills\n"
	deps := `dependencies: {acme/base: "*"}` + "\n"
	manifest := "-- skillpm.yaml\nname: acme/x\nversion: \"1.0.0\"\n" + deps
	for _, tt := range []struct {
		name, files string
		words       []string
		want        string
	}{
		{"unused", manifest + lock, []string{"other"}, unused},
		{"a skill of it", manifest + lock, []string{"setup"}, ""},
		{"a skill with its pack", manifest + lock, []string{"base@acme/base"}, ""},
		{"the pack", manifest + lock, []string{"acme/base"}, ""},
		{"no skills in the pack", manifest + lock, nil, ""},
		{"not known which skills", manifest, []string{"other"}, ""},
		{"known from the manifest", head + "dependencies: {acme/base: {version: \"*\", skills: [base]}}\n", []string{"other"}, unused},
		{"a project", "-- skillpm.yaml\n" + deps + lock, []string{"other"}, ""},
		{"for development", head + "dev-dependencies: {acme/base: \"*\"}\n" + lock, []string{"other"}, ""},
		{
			"a directory", head + "dependencies: {acme/near: {path: near}}\n-- near/skillpm.yaml\nname: acme/near\n-- near/n/SKILL.md\n---\nname: n\ndescription: D.\n---",
			[]string{"other"},
			"skillpm.yaml:3:16-25 PACK011 note: no skill in the pack mentions acme/near or its skills\n",
		},
		{"a directory's skill", head + "dependencies: {acme/near: {path: near}}\n-- near/skillpm.yaml\nname: acme/near\n-- near/n/SKILL.md\n---\nname: n\ndescription: D.\n---", []string{"n"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := runPacks(t, packTree(tt.files), tt.words...); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}

// TestPackFileUnreadable checks that unreadable files are reported, and hide no other findings.
func TestPackFileUnreadable(t *testing.T) {
	fsys := packTree("-- a/skillpm.yaml\nname: x")
	shared, err := New(Options{Parallel: 1})
	if err != nil {
		t.Fatal(err)
	}
	l := &lintRun{Linter: shared, fsys: fsys}
	got := showPacks(l.packDocs([]packFile{{packManifest, "gone/skillpm.yaml"}, {packManifest, "a/skillpm.yaml"}}, nil))
	want := "a/skillpm.yaml:1:7-8 PACK005 error: invalid pack name \"x\"\n" +
		"gone/skillpm.yaml:0:0-0 STR009 error: cannot read the file: file does not exist\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestWordWidth(t *testing.T) {
	for _, tt := range []struct {
		line   string
		column int
		want   int
	}{
		{"name: acme", 1, 4},
		{"name: acme", 7, 4},
		{`é: "a b" # c`, 4, 5},
		{"a: [b, c]", 5, 1},
		{"a: [b, c]", 4, 1},
		{"a: b", 9, 0},
		{"", 1, 0},
		{`a: "b`, 4, 2},
	} {
		if got := wordWidth(tt.line, tt.column); got != tt.want {
			t.Errorf("%q, %d: %d, want %d", tt.line, tt.column, got, tt.want)
		}
	}
}

// FuzzPackFiles checks a manifest and a lockfile of any text together.
func FuzzPackFiles(f *testing.F) {
	f.Add("name: acme/x\ndependencies: {acme/base: '^2', acme/y: {path: ../y}}\naliases: {a: base@acme/base}\n", lockText(f, nil, "acme/base 1.2.0 "+ociBase+" : acme/base *; (base)"))
	f.Add("skills: ['**', '../x']\nvalidate: {rules: {X: off}}\n", "version: 1\npacks: {a/b: {}}\nnames: {x: {}}\n")
	f.Fuzz(func(t *testing.T, manifest, lock string) {
		fsys := fstest.MapFS{
			"a/skillpm.yaml": {Data: []byte(manifest)}, "a/skillpm.lock": {Data: []byte(lock)},
			"b/skillpm.yaml": {Data: []byte("name: acme/y\nversion: 1.0.0\ndependencies: {acme/x: '*'}\n")},
			"a/s/SKILL.md":   {Data: []byte("---\nname: s\ndescription: D.\n---\n")},
		}
		got := runPacks(t, fsys, "word")
		_, errM := pack.ParseManifest("m", []byte(manifest))
		_, errL := pack.ParseLock("l", []byte(lock))
		if errM != nil && !strings.Contains(got, "PACK005") || errL != nil && !strings.Contains(got, "PACK006") {
			t.Fatalf("%v, %v, and\n%s", errM, errL, got)
		}
	})
}

// BenchmarkPackFiles checks a lockfile of 200 packs and its manifest.
func BenchmarkPackFiles(b *testing.B) {
	var manifest strings.Builder
	manifest.WriteString("name: acme/x\nversion: \"1.0.0\"\ndependencies:\n")
	var packs []string
	for i := range 200 {
		fmt.Fprintf(&manifest, "  acme/pack-%d: \"^1.0\"\n", i)
		packs = append(packs, fmt.Sprintf("acme/pack-%d 1.2.0 %s : acme/pack-%d ^1; (a-%d b-%d)", i, ociBase, (i+1)%200, i, i))
	}
	lock := lockText(b, nil, packs...)
	fsys := fstest.MapFS{"skillpm.yaml": {Data: []byte(manifest.String())}, "skillpm.lock": {Data: []byte(lock)}}
	shared, err := New(Options{Parallel: 2})
	if err != nil {
		b.Fatal(err)
	}
	l := &lintRun{Linter: shared, fsys: fsys}
	files := []packFile{{packManifest, "skillpm.yaml"}, {packLock, "skillpm.lock"}}
	b.SetBytes(int64(manifest.Len() + len(lock)))
	for b.Loop() {
		if got := showPacks(l.packDocs(files, nil)); got != "" {
			b.Fatal(got)
		}
	}
}

// BenchmarkPackIndex checks an index of 1,000 packs of five versions.
func BenchmarkPackIndex(b *testing.B) {
	fsys := fstest.MapFS{"config.json": {Data: []byte(`{"version": 1}`)}}
	files := []packFile{{packIndexConfig, "config.json"}}
	size := 0
	for i := range 1000 {
		id := mustID(b, fmt.Sprintf("acme/pack-%d", i))
		var data []byte
		for v := range 5 {
			line := index.Line{
				Name: id.String(), Version: fmt.Sprintf("1.%d.0", v), Source: ociBase, Digest: "sha256:" + strings.Repeat("0123abcd", 8),
				Skills: []index.Skill{{Name: "base", Description: "Does what is needed first. Use before the others.", Tree: treeSum}},
			}
			data = append(data, line.Encode()...)
		}
		size += len(data)
		name := index.Path(id)
		fsys[name] = &fstest.MapFile{Data: data}
		files = append(files, packFile{packIndex, name})
	}
	shared, err := New(Options{Parallel: 2})
	if err != nil {
		b.Fatal(err)
	}
	l := &lintRun{Linter: shared, fsys: fsys}
	b.SetBytes(int64(size))
	for b.Loop() {
		if got := showPacks(l.packDocs(files, nil)); got != "" {
			b.Fatal(got)
		}
	}
}
