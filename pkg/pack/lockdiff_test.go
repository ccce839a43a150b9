package pack_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

const (
	commitA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	commitB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	git     = "https://git.example/acme/base.git"
	oci     = "oci://registry.example/acme/base"
)

var (
	lockedDigest = "sha256:" + strings.Repeat("0123abcd", 8)
	lockedTree   = "t1:sha256:" + strings.Repeat("89efabcd", 8)
)

func manifest(t testing.TB, text string) *pack.Manifest {
	t.Helper()
	m, problems := pack.CheckManifest(pack.ManifestName, []byte(text))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return m
}

// lockEntry returns a locked pack of "version source", its requirements as "id text; …", and its skills.
func lockEntry(text, requires string, skills ...string) *pack.LockedPack {
	version, from, _ := strings.Cut(text, " ")
	p := &pack.LockedPack{Version: version, Source: from, Skills: map[string]string{}, Dependencies: map[string]string{}}
	switch {
	case strings.HasPrefix(from, "git+"):
		p.Resolved = commitA
	case !strings.HasPrefix(from, "path"):
		p.Resolved = lockedDigest
	}
	for one := range strings.SplitSeq(requires, ";") {
		if k, v, ok := strings.Cut(strings.TrimSpace(one), " "); ok {
			p.Dependencies[k] = v
		}
	}
	for _, s := range skills {
		p.Skills[s] = lockedTree
	}
	p.Integrity = bundle.Integrity(p.Skills)
	return p
}

// lock returns a lockfile that was parsed from its text, so that positions are known.
func lock(t testing.TB, packs map[string]*pack.LockedPack, names map[string]pack.LockedName) *pack.Lock {
	t.Helper()
	l := pack.NewLock()
	for name, p := range packs {
		l.Packs[mustID(t, name)] = p
	}
	l.Names = names
	read, problems := pack.CheckLock(pack.LockName, l.Encode())
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return read
}

func differenceText(found []pack.Difference) string {
	var b strings.Builder
	for _, d := range found {
		fmt.Fprintf(&b, "%s:%d: %s: %s\n", d.File, d.Line, d.Kind, d.Message)
	}
	return b.String()
}

type packs = map[string]*pack.LockedPack

func TestCompare(t *testing.T) {
	base := lockEntry("1.2.0 "+oci, "", "base")
	partial := lockEntry("1.2.0 "+oci, "", "base")
	partial.Partial = true
	aliased := map[string]pack.LockedName{"base": {Shadowed: map[pack.ID]string{mustID(t, "acme/base"): "first"}}}
	for _, tt := range []struct {
		name, manifest string
		packs          packs
		names          map[string]pack.LockedName
		want           string
	}{
		{name: "nothing", manifest: "name: acme/x\n"},
		{name: "equal", manifest: `dependencies: {acme/base: "^1"}`, packs: packs{"acme/base": base}},
		{name: "missing", manifest: "dependencies:\n  acme/base: \"^1\"\n", want: "skillpm.yaml:2: missing: acme/base is required, but is not in skillpm.lock\n"},
		{name: "missing for development", manifest: "dev-dependencies:\n  acme/base: \"^1\"\n", want: "skillpm.yaml:2: missing: acme/base is required, but is not in skillpm.lock\n"},
		{
			name: "missing between packs", manifest: `dependencies: {acme/top: "*"}`, packs: packs{"acme/top": lockEntry("1.0.0 embedded", "acme/base ^1", "top")},
			want: "skillpm.lock:10: missing: acme/base is required, but is not in skillpm.lock\n",
		},
		{name: "surplus", manifest: "name: acme/x\n", packs: packs{"acme/base": base}, want: "skillpm.lock:4: surplus: acme/base is locked, but nothing requires it\n"},
		{name: "version", manifest: `dependencies: {acme/base: "^2"}`, packs: packs{"acme/base": base}, want: "skillpm.lock:5: version: acme/base 1.2.0 is locked, but skillpm.yaml requires ^2\n"},
		{
			name: "version between packs", manifest: `dependencies: {acme/top: "*"}`,
			packs: packs{"acme/base": base, "acme/top": lockEntry("1.0.0 embedded", "acme/base ~1.1", "top")},
			want:  "skillpm.lock:5: version: acme/base 1.2.0 is locked, but acme/top requires ~1.1\n",
		},
		{
			name: "the source was edited", manifest: `dependencies: {acme/base: {oci: "` + oci + `"}}`, packs: packs{"acme/base": lockEntry("1.2.0 oci://evil.example/acme/base", "", "base")},
			want: "skillpm.lock:6: place: acme/base is locked to a different source than skillpm.yaml requires (" + oci + ")\n",
		},
		{
			name: "the source became a directory", manifest: `dependencies: {acme/base: "*"}`, packs: packs{"acme/base": lockEntry("1.2.0 path:evil", "", "base")},
			want: "skillpm.lock:6: place: acme/base is locked to a directory, but skillpm.yaml requires it by name\n",
		},
		{name: "the commit that is required", manifest: `dependencies: {acme/base: {git: "` + git + `", rev: "` + commitA + `"}}`, packs: packs{"acme/base": lockEntry("1.2.0 git+"+git+"#"+commitA, "", "base")}},
		{
			name: "resolved was edited, a commit is required", manifest: `dependencies: {acme/base: {git: "` + git + `", rev: "` + commitB + `"}}`,
			packs: packs{"acme/base": lockEntry("1.2.0 git+"+git+"#"+commitB, "", "base")},
			want:  "skillpm.lock:6: place: acme/base is locked to a different source than skillpm.yaml requires (git+" + git + "#" + commitB + ")\n",
		},
		{
			name: "resolved was edited, a tag must stand for a commit", manifest: `dependencies: {acme/base: {git: "` + git + `", tag: v1.2.0, digest: "` + commitB + `"}}`,
			packs: packs{"acme/base": lockEntry("1.2.0 git+"+git, "", "base")},
			want:  "skillpm.lock:6: place: acme/base is locked to a different source than skillpm.yaml requires (git+" + git + "#v1.2.0)\n",
		},
		{
			name: "resolved was edited, a digest is required", manifest: `dependencies: {acme/base: {oci: "` + oci + `", digest: "sha256:` + strings.Repeat("f", 64) + `"}}`,
			packs: packs{"acme/base": base},
			want:  "skillpm.lock:6: place: acme/base is locked to a different source than skillpm.yaml requires (" + oci + "@sha256:" + strings.Repeat("f", 64) + ")\n",
		},
		{
			name: "skills", manifest: `dependencies: {acme/base: {version: "*", skills: [more]}}`, packs: packs{"acme/base": base},
			want: "skillpm.lock:9: skills: the skill more of acme/base is required but not locked\nskillpm.lock:10: skills: the skill base of acme/base is locked but not required\n",
		},
		{name: "all skills", manifest: `dependencies: {acme/base: "*"}`, packs: packs{"acme/base": partial}, want: "skillpm.lock:11: skills: only some skills of acme/base are locked, but all skills are required\n"},
		{
			name: "alias", manifest: "dependencies: {acme/base: \"*\"}\naliases: {first: bse@acme/base}\n", packs: packs{"acme/base": base},
			want: "skillpm.yaml:2: alias: alias first refers to bse@acme/base, but the pack does not contain this skill\n",
		},
		{
			name: "aliases", manifest: "dependencies: {acme/base: \"*\"}\naliases: {more: base@acme/base}\n", packs: packs{"acme/base": lockEntry("1.2.0 "+oci, "", "base", "more")},
			want: "skillpm.yaml:2: aliases: the alias more of base@acme/base is already the name of a skill in acme/base\n",
		},
		{name: "names", manifest: "dependencies: {acme/base: \"*\"}\naliases: {first: base@acme/base}\n", packs: packs{"acme/base": base}, names: aliased},
		{
			name: "names that follow from nothing", manifest: "dependencies: {acme/base: \"*\"}\n", packs: packs{"acme/base": base}, names: aliased,
			want: "skillpm.lock:12: names: the mapping \"names\" must not contain base: only one pack contains this skill, and no alias refers to it\n",
		},
		{
			name: "names that are not there", manifest: "dependencies: {acme/base: \"*\", globex/base: \"*\"}\n",
			packs: packs{"acme/base": base, "globex/base": lockEntry("1.0.0 embedded", "", "base")},
			want:  "skillpm.lock:3: names: the mapping \"names\" must contain base: several packs contain this skill, or an alias refers to it\n",
		},
		{
			name: "names are not compared where packs differ", manifest: "dependencies: {acme/base: \"^2\"}\n", packs: packs{"acme/base": base}, names: aliased,
			want: "skillpm.lock:5: version: acme/base 1.2.0 is locked, but skillpm.yaml requires ^2\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := lock(t, tt.packs, tt.names)
			found := pack.Compare(manifest(t, tt.manifest), l)
			if got := differenceText(found); got != tt.want {
				t.Errorf("got\n%swant\n%s\n%s", got, tt.want, l.Encode())
			}
			for _, d := range found {
				if d.Hint == "" {
					t.Errorf("no hint for %s", d.Message)
				}
			}
		})
	}
}

// TestComparisonOfParts checks that unreadable parts of a file do not count as missing.
func TestComparisonOfParts(t *testing.T) {
	m := manifest(t, `dependencies: {acme/base: "^2", acme/new: "*"}`)
	l := lock(t, packs{"acme/base": lockEntry("1.2.0 "+oci, "", "base"), "acme/old": lockEntry("1.0.0 embedded", "", "old")}, nil)
	const version = "skillpm.lock:5: version: acme/base 1.2.0 is locked, but skillpm.yaml requires ^2\n"
	const missing = "skillpm.yaml:1: missing: acme/new is required, but is not in skillpm.lock\n"
	const surplus = "skillpm.lock:11: surplus: acme/old is locked, but nothing requires it\n"
	for _, tt := range []struct {
		manifest, lock bool
		want           string
	}{
		{false, false, version + missing + surplus},
		{true, false, version + missing},
		{false, true, version + surplus},
		{true, true, version},
	} {
		got := differenceText(pack.Comparison{Manifest: m, Lock: l, PartialManifest: tt.manifest, PartialLock: tt.lock}.Differences())
		if got != tt.want {
			t.Errorf("parts %v %v: got\n%swant\n%s", tt.manifest, tt.lock, got, tt.want)
		}
	}
}

// TestComparisonDirectory checks that directories are read if the lockfile agrees with the manifest, and that names are
// then not compared.
func TestComparisonDirectory(t *testing.T) {
	m := manifest(t, "dependencies: {acme/near: {path: ./near}, acme/far: {path: ./far}, acme/base: \"*\"}\naliases: {first: base@acme/base}\n")
	l := lock(t, packs{"acme/near": lockEntry("1.0.0 path:near", "", "near"), "acme/far": lockEntry("1.0.0 path:elsewhere", "", "far"), "acme/base": lockEntry("1.2.0 "+oci, "", "base")}, nil)
	var calls []string
	for _, differs := range []bool{false, true} {
		calls = nil
		found := pack.Comparison{Manifest: m, Lock: l, Directory: func(d pack.Dependency, p *pack.LockedPack) bool {
			calls = append(calls, d.ID.String()+" "+p.Version)
			return differs
		}}.Differences()
		if strings.Join(calls, ", ") != "acme/near 1.0.0" {
			t.Errorf("asked about %v", calls)
		}
		if got, want := differenceText(found), "skillpm.lock:13: place: acme/far is locked to a different source than skillpm.yaml requires (./far)\n"; got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	}
	m = manifest(t, "dependencies: {acme/near: {path: ./near}}\naliases: {first: near@acme/near}\n")
	l = lock(t, packs{"acme/near": lockEntry("1.0.0 path:near", "", "near")}, nil)
	for differs, want := range map[bool]string{false: "skillpm.lock:3: names: the mapping \"names\" must contain near: several packs contain this skill, or an alias refers to it\n", true: ""} {
		got := differenceText(pack.Comparison{Manifest: m, Lock: l, Directory: func(pack.Dependency, *pack.LockedPack) bool { return differs }}.Differences())
		if got != want {
			t.Errorf("differs %v: got\n%swant\n%s", differs, got, want)
		}
	}
}

func TestCompareStops(t *testing.T) {
	all := packs{}
	for i := range pack.MaxDifferences + 10 {
		all[fmt.Sprintf("acme/p%d", i)] = lockEntry("1.0.0 embedded", "", "s")
	}
	if got := len(pack.Compare(manifest(t, "name: acme/x\n"), lock(t, all, nil))); got != pack.MaxDifferences {
		t.Errorf("%d differences, want %d", got, pack.MaxDifferences)
	}
}

func TestWritten(t *testing.T) {
	l := lock(t, packs{"acme/base": lockEntry("1.2.0 "+oci, "", "base")}, nil)
	text := string(l.Encode())
	for name, tt := range map[string]struct {
		text string
		want string
	}{
		"as it is":  {text, ""},
		"CRLF":      {strings.ReplaceAll(text, "\n", "\r\n"), "skillpm.lock:1: text: the lines end with CRLF instead of LF\n"},
		"a comment": {text + "# mine\n", "skillpm.lock:11: text: the format differs from the format that skillpm writes, starting at this line\n"},
		"cut off":   {text[:len(text)-1], "skillpm.lock:11: text: the format differs from the format that skillpm writes, starting at this line\n"},
		"quotes":    {strings.Replace(text, `"1.2.0"`, `'1.2.0'`, 1), "skillpm.lock:5: text: the format differs from the format that skillpm writes, starting at this line\n"},
		"empty":     {"", "skillpm.lock:1: text: the format differs from the format that skillpm writes, starting at this line\n"},
	} {
		var got string
		if d, differs := pack.CompareText(l, []byte(tt.text)); differs {
			got = differenceText([]pack.Difference{d})
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

// scope is a manifest and a lockfile that agree: a chain of packs.
type scope struct {
	m *pack.Manifest
	l *pack.Lock
}

func agreeing(rt *rapid.T) scope {
	s := scope{pack.NewManifest(pack.ManifestName), pack.NewLock()}
	n := rapid.IntRange(1, 6).Draw(rt, "packs")
	for i := range n {
		pid := pack.ID{Owner: "acme", Name: fmt.Sprintf("p%d", i)}
		p := lockEntry("1.0.0 git+https://git.example/acme/"+pid.Name+".git", "", fmt.Sprintf("s%d", i))
		if i > 0 && rapid.Bool().Draw(rt, "inner") {
			parent := pack.ID{Owner: "acme", Name: fmt.Sprintf("p%d", rapid.IntRange(0, i-1).Draw(rt, "parent"))}
			s.l.Packs[parent].Dependencies[pid.String()] = "git+https://git.example/acme/" + pid.Name + ".git ^1.0"
		} else {
			ref, err := pack.Parse("git+https://git.example/acme/" + pid.Name + ".git")
			if err != nil {
				rt.Fatal(err)
			}
			d := pack.Dependency{ID: pid, Ref: &ref, Constraint: "^1.0"}
			if err := s.m.SetDependency(d); err != nil {
				rt.Fatal(err)
			}
		}
		s.l.Packs[pid] = p
	}
	return s
}

// TestCompareFindsEveryEdit checks a property: a lockfile that was created from a manifest has no differences, and a
// manual change of one entry gives a difference for that pack.
func TestCompareFindsEveryEdit(t *testing.T) {
	edits := map[string]func(l *pack.Lock, id pack.ID){
		"nothing": func(*pack.Lock, pack.ID) {},
		"version": func(l *pack.Lock, id pack.ID) { l.Packs[id].Version = "2.0.0" },
		"source":  func(l *pack.Lock, id pack.ID) { l.Packs[id].Source += "#main" },
		"other":   func(l *pack.Lock, id pack.ID) { l.Packs[id].Source = "git+https://evil.example/acme/p.git" },
		"removed": func(l *pack.Lock, id pack.ID) { delete(l.Packs, id) },
		"added": func(l *pack.Lock, id pack.ID) {
			l.Packs[pack.ID{Owner: id.Owner, Name: id.Name + "-x"}] = l.Packs[id]
		},
		"partial":     func(l *pack.Lock, id pack.ID) { l.Packs[id].Partial = true },
		"requirement": func(l *pack.Lock, id pack.ID) { l.Packs[id].Dependencies["acme/p-x"] = "*" },
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := agreeing(rt)
		edit := rapid.SampledFrom([]string{"nothing", "version", "source", "other", "removed", "added", "partial", "requirement"}).Draw(rt, "edit")
		at := rapid.SampledFrom(s.l.IDs()).Draw(rt, "pack")
		edits[edit](s.l, at)
		found := pack.Compare(s.m, s.l)
		if (edit == "nothing") != (len(found) == 0) {
			rt.Fatalf("%s of %s: found %q in\n%s%s", edit, at, differenceText(found), s.m.Bytes(), s.l.Encode())
		}
		about := false
		for _, d := range found {
			about = about || strings.HasPrefix(d.Pack.Name, at.Name) || d.Pack.Name == "p-x"
		}
		if len(found) > 0 && !about {
			rt.Fatalf("%s of %s is not what was found: %q", edit, at, differenceText(found))
		}
	})
}

// FuzzCompare compares unvalidated files: no text makes it fail, and its output is bounded.
func FuzzCompare(f *testing.F) {
	f.Add("dependencies: {acme/base: \"^1\"}\naliases: {first: base@acme/base}\n", "version: 1\npacks:\n  acme/base: {version: \"1.0.0\", source: embedded}\nnames:\n  base: {winner: acme/base}\n")
	f.Add("dev-dependencies: {acme/base: {path: ./x}}\n", "version: 1\npacks:\n  acme/base: {version: \"1\", source: \"path:x\", dependencies: {a/b: \"./x [c]\"}, partial: true}\n")
	f.Fuzz(func(t *testing.T, manifest, lock string) {
		m, bad := pack.CheckManifest(pack.ManifestName, []byte(manifest))
		l, torn := pack.CheckLock(pack.LockName, []byte(lock))
		if m == nil || l == nil {
			return
		}
		found := pack.Comparison{Manifest: m, Lock: l, PartialManifest: len(bad) > 0, PartialLock: len(torn) > 0}.Differences()
		if len(found) > pack.MaxDifferences {
			t.Errorf("%d differences", len(found))
		}
		for _, d := range found {
			if d.Message == "" || d.File != pack.ManifestName && d.File != pack.LockName {
				t.Errorf("%+v", d)
			}
		}
		pack.CompareText(l, []byte(lock))
	})
}

func BenchmarkCompare(b *testing.B) {
	var text strings.Builder
	text.WriteString("dependencies:\n")
	all := packs{}
	for i := range 1000 {
		fmt.Fprintf(&text, "  acme/p%d: \"^1.0\"\n", i)
		skills := make([]string, 10)
		for j := range skills {
			skills[j] = fmt.Sprintf("s%d-%d", i, j)
		}
		all[fmt.Sprintf("acme/p%d", i)] = lockEntry("1.2.0 embedded", fmt.Sprintf("acme/p%d ^1.0", (i+1)%1000), skills...)
	}
	m, l := manifest(b, text.String()), lock(b, all, nil)
	for b.Loop() {
		if found := pack.Compare(m, l); len(found) > 0 {
			b.Fatal(found[0])
		}
	}
}
