package pack_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

func treeDigest(s string) string {
	return "t1:sha256:" + strings.Repeat(fmt.Sprintf("%02x", s[0]), 32)
}

func lockedPack(version, src, resolved string, skills ...string) *pack.LockedPack {
	p := &pack.LockedPack{Version: version, Source: src, Resolved: resolved, Skills: make(map[string]string)}
	for _, s := range skills {
		p.Skills[s] = treeDigest(s)
	}
	p.Integrity = bundle.Integrity(p.Skills)
	return p
}

func sampleLock(t testing.TB) *pack.Lock {
	l := pack.NewLock()
	deploy := lockedPack("1.4.0", "oci://registry.example/acme/deploy", "sha256:"+strings.Repeat("a", 64), "deploy", "rollback")
	deploy.Dependencies = map[string]string{"acme/kubectl-basics": "^2.1"}
	l.Packs[mustID(t, "acme/deploy")] = deploy
	l.Packs[mustID(t, "acme/kubectl-basics")] = lockedPack("2.1.0", "embedded", "sha256:"+strings.Repeat("b", 64), "kubectl-basics")
	l.Packs[mustID(t, "globex/ops")] = lockedPack("1.3.0", "git+https://git.example/ops.git//packs/ops#main", strings.Repeat("c", 40), "deploy", "true")
	partial := lockedPack("0.0.0", "path:../near", "", "x-1")
	partial.Partial = true
	l.Packs[mustID(t, "local/near")] = partial
	l.Names["deploy"] = pack.LockedName{
		Winner: mustID(t, "acme/deploy"), Shadowed: map[pack.ID]string{mustID(t, "globex/ops"): "globex-deploy"},
	}
	l.Names["x-1"] = pack.LockedName{Shadowed: map[pack.ID]string{mustID(t, "local/near"): "null"}}
	return l
}

// TestLockGolden checks the exact text of a lockfile, which is part of the format: other tools read it, and users merge
// it.
func TestLockGolden(t *testing.T) {
	got := sampleLock(t).Encode()
	if *update {
		if err := os.WriteFile("testdata/skillpm.lock", got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/skillpm.lock")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	checkSchema(t, "lock", got, true)
	back, err := pack.ParseLock("skillpm.lock", want)
	if err != nil {
		t.Fatal(err)
	}
	if !back.Equal(sampleLock(t)) || !bytes.Equal(back.Encode(), want) {
		t.Errorf("read and written again:\n%s", back.Encode())
	}
	if empty := pack.NewLock(); true {
		back, err := pack.ParseLock("skillpm.lock", empty.Encode())
		if err != nil || !back.Equal(empty) {
			t.Errorf("an empty lock: %v\n%s", err, empty.Encode())
		}
	}
}

// TestLockNeeds checks that both readers of a lockfile keep what a pack needs on a machine, with kinds that this
// version does not know.
func TestLockNeeds(t *testing.T) {
	l := sampleLock(t)
	l.Packs[mustID(t, "acme/deploy")].Needs = map[string]string{"bins": "kubectl helm", "os": "linux", "gpu": "1"}
	text := l.Encode()
	checkSchema(t, "lock", text, true)
	for name, text := range map[string]string{"canonical": string(text), "by hand": "# edited\n" + string(text)} {
		got, err := pack.ParseLock("skillpm.lock", []byte(text))
		if err != nil || !got.Equal(l) || !bytes.Equal(got.Encode(), l.Encode()) {
			t.Errorf("%s: %v\n%s", name, err, got.Encode())
		}
	}
	if sampleLock(t).Equal(l) {
		t.Error("locks that differ in needs are equal")
	}
}

// TestLockForms checks that a handwritten lockfile, and one with Windows line endings, has the same meaning.
func TestLockForms(t *testing.T) {
	want := sampleLock(t)
	text := string(want.Encode())
	for name, text := range map[string]string{
		"Windows line ends": strings.ReplaceAll(text, "\n", "\r\n"),
		"byte order mark":   "\ufeff" + text,
		"braces":            strings.Replace(text, "dependencies:\n      acme/kubectl-basics: \"^2.1\"", "dependencies: {acme/kubectl-basics: \"^2.1\"}", 1),
		"version in quotes": strings.Replace(text, "version: 1\n", "version: \"1\"\n", 1),
	} {
		got, err := pack.ParseLock("skillpm.lock", []byte(text))
		if err != nil || !got.Equal(want) || !bytes.Equal(got.Encode(), want.Encode()) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestParseLockRefuses checks that an incomplete lockfile is an error with a position, and never an empty lockfile.
func TestParseLockRefuses(t *testing.T) {
	good := string(sampleLock(t).Encode())
	replace := func(old, text string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("the lock has no %q", old)
		}
		return strings.Replace(good, old, text, 1)
	}
	for _, tt := range []struct {
		name, text, want string
		code             diag.Code
	}{
		{"empty", "", "skillpm.lock is empty", diag.Invalid},
		{"comment", "# x\n", "skillpm.lock is empty", diag.Invalid},
		{"cut off", good[:len(good)/2], "skillpm.lock:", diag.Invalid},
		{"binary", "\x00\x01", "skillpm.lock: invalid YAML", diag.Invalid},
		{"list", "- 1", "1:1: expected a mapping", diag.Invalid},
		{"newer", replace("version: 1", "version: 2"), `2:10: unsupported lockfile version "2"`, diag.Invalid},
		{"no version", replace("version: 1\n", ""), "the lockfile does not have a format version", diag.Invalid},
		{"merge markers", "<<<<<<< ours\n" + good, "1:1: unresolved merge conflict", diag.Invalid},
		{"duplicate pack", replace("  globex/ops:", "  acme/deploy:"), `the key "acme/deploy" is duplicated; it first appears on line 4`, diag.Invalid},
		{"duplicate key", replace("    source: \"embedded\"", "    source: \"embedded\"\n    source: \"local\""), `"source" is duplicated`, diag.Invalid},
		{"no integrity", replace("    integrity: \""+sampleLock(t).Packs[mustID(t, "globex/ops")].Integrity+"\"\n", ""), "globex/ops does not have the required key integrity", diag.Invalid},
		{"no source", replace("    source: \"embedded\"\n", ""), "acme/kubectl-basics does not have the required key source", diag.Invalid},
		{"no version of a pack", replace("    version: \"2.1.0\"\n", ""), "acme/kubectl-basics does not have the required key version", diag.Invalid},
		{"skill changed", replace(treeDigest("rollback"), treeDigest("other")), "the integrity of acme/deploy is", diag.Integrity},
		{"skill removed", replace("      rollback: \""+treeDigest("rollback")+"\"\n", ""), "the integrity of acme/deploy is", diag.Integrity},
		{"digest", replace(treeDigest("rollback"), "t1:sha256:xyz"), `invalid digest "t1:sha256:xyz" for skill rollback: use t1:sha256: and 64 hexadecimal digits`, diag.Invalid},
		{"old digest", replace(treeDigest("rollback"), "h1:"+strings.Repeat("a", 64)), "for skill rollback: use t1:sha256:", diag.Invalid},
		{"resolved", replace("sha256:"+strings.Repeat("a", 64), "sha256:abc"), "invalid digest", diag.Invalid},
		{"commit", replace(strings.Repeat("c", 40), "main"), "invalid commit", diag.Invalid},
		{"source", replace("oci://registry.example/acme/deploy", "http://registry.example/acme/deploy"), "acme/deploy", diag.Invalid},
		{"machine path", replace("path:../near", "path:/home/me/near"), "use a relative directory", diag.Invalid},
		{"version of a pack", replace(`"2.1.0"`, `"v2.1"`), `invalid version "v2.1"`, diag.Invalid},
		{"pack", replace("  acme/kubectl-basics:\n", "  Acme:\n"), `invalid pack name "Acme"`, diag.Invalid},
		{"skill name", replace("      rollback:", "      ../x:"), "only a-z, 0-9, and hyphens", diag.Invalid},
		{"alias", replace("globex/ops: globex-deploy", "globex/ops: ../x"), "only a-z, 0-9, and hyphens", diag.Invalid},
		{"winner", replace("winner: acme/deploy", "winner: deploy"), `invalid pack name "deploy"`, diag.Invalid},
		{"packs as list", "version: 1\npacks: []", "packs must be a mapping", diag.Invalid},
		{"signer", replace("    source: \"embedded\"", "    source: \"embedded\"\n    signer: \"somebody\""), "signer must be a key", diag.Invalid},
		{"empty signer", replace("    source: \"embedded\"", "    source: \"embedded\"\n    signer: \"\""), "signer must be a key", diag.Invalid},
		{"long signer", replace("    source: \"embedded\"", "    source: \"embedded\"\n    signer: \"a:"+strings.Repeat("A", 4096)+"\""), "signer must be a key", diag.Invalid},
		{"anchors", "version: 1\npacks: &a {}\nnames: *a\n", "anchor", diag.Invalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l, err := pack.ParseLock("skillpm.lock", []byte(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) || diag.CodeOf(err) != tt.code || l != nil {
				t.Errorf("got %v (%s), want %s (%s)", err, diag.CodeOf(err), tt.want, tt.code)
			}
		})
	}
	_, err := pack.ParseLock("skillpm.lock", []byte(replace(treeDigest("rollback"), treeDigest("other"))))
	var integrity *pack.IntegrityError
	if !errors.As(err, &integrity) || integrity.Pack != mustID(t, "acme/deploy") || integrity.Line != 4 {
		t.Errorf("%#v", err)
	}
}

// TestLockKeepsUnknownKeys checks that keys of a newer skillpm survive in unchanged entries, even if the lockfile is
// created again.
func TestLockKeepsUnknownKeys(t *testing.T) {
	text := strings.Replace(string(sampleLock(t).Encode()), "    source: \"embedded\"\n",
		"    source: \"embedded\"\n    stamp:\n      key: \"k1\" # the team's\n      at: [1, 2]\n    age: 2026-11-20\n", 1)
	text = strings.Replace(text, "    winner: acme/deploy\n", "    winner: acme/deploy\n    why: asked\n", 1) + "policy: {mode: audit}\n"
	old, err := pack.ParseLock("skillpm.lock", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	checkSchema(t, "lock", []byte(text), true)
	wants := []string{"    age: 2026-11-20\n    stamp: {key: \"k1\", at: [1, 2]}\n", "    why: \"asked\"\n", "policy: {mode: \"audit\"}\n"}
	check := func(name string, l *pack.Lock, want ...bool) {
		t.Helper()
		for i, w := range wants {
			if got := strings.Contains(string(l.Encode()), w); got != want[i] {
				t.Errorf("%s: %q is there: %t\n%s", name, w, got, l.Encode())
			}
		}
		if again, err := pack.ParseLock("skillpm.lock", l.Encode()); err != nil || !bytes.Equal(again.Encode(), l.Encode()) {
			t.Errorf("%s: written again differs: %v", name, err)
		}
	}
	check("as read", old, true, true, true)
	fresh := sampleLock(t)
	check("made anew", fresh, false, false, false)
	fresh.Keep(old)
	check("made anew, with what the old one had", fresh, true, true, true)
	fresh.Packs[mustID(t, "acme/kubectl-basics")] = lockedPack("2.2.0", "embedded", "sha256:"+strings.Repeat("b", 64), "kubectl-basics")
	fresh.Names["deploy"] = pack.LockedName{Winner: mustID(t, "globex/ops")}
	check("changed", fresh, false, false, true)
}

// TestLockRoundTrip checks that equal lockfiles have the same text, and that reading it returns the same content.
func TestLockRoundTrip(t *testing.T) {
	name := rapid.StringMatching(`[a-z0-9]{1,3}(-[a-z0-9]{1,3}){0,2}`)
	rapid.Check(t, func(t *rapid.T) {
		l := pack.NewLock()
		for range rapid.IntRange(0, 4).Draw(t, "packs") {
			id := pack.ID{Owner: name.Draw(t, "owner"), Name: name.Draw(t, "name")}
			if _, err := pack.ParseID(id.String()); err != nil {
				continue
			}
			p := lockedPack(rapid.SampledFrom([]string{"1.0.0", "0.0.0-g0123456789ab", "1.2.3-rc.1+b"}).Draw(t, "version"),
				"local", "sha256:"+strings.Repeat("0", 64), rapid.SliceOfDistinct(name, rapid.ID[string]).Draw(t, "skills")...)
			p.Partial = rapid.Bool().Draw(t, "partial")
			p.Signer = rapid.SampledFrom([]string{"", "ecdsa-p256:AAAA+/==", "sk-ssh-ed25519@openssh.com:AAAA", "identity:https://a.example ^b@.*$"}).Draw(t, "signer")
			p.Dependencies = map[string]string{"a/b": rapid.StringMatching(`[ -~é☃"\\]{1,9}`).Draw(t, "constraint")}
			l.Packs[id] = p
			l.Names[name.Draw(t, "bare")] = pack.LockedName{Winner: id, Shadowed: map[pack.ID]string{{Owner: "a", Name: "b"}: name.Draw(t, "alias")}}
		}
		text := l.Encode()
		back, err := pack.ParseLock("skillpm.lock", text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if !back.Equal(l) || !bytes.Equal(back.Encode(), text) {
			t.Fatalf("wrote\n%s\nread\n%s", text, back.Encode())
		}
		sameByYAML(t, text, back)
	})
}

// sameByYAML requires that a lockfile has the content that the YAML reader, which [CheckLock] uses, finds in its text.
// Most lockfiles are read without that reader.
func sameByYAML(t interface{ Fatalf(string, ...any) }, text []byte, l *pack.Lock) {
	checked, problems := pack.CheckLock("skillpm.lock", text)
	if len(problems) > 0 || !checked.Equal(l) {
		t.Fatalf("%q\nis by YAML\n%q\n%v", text, checked.Encode(), problems)
	}
}

// TestWrittenLockRefuses checks that a text that resembles a written lockfile but is invalid fails with the YAML
// reader's error.
func TestWrittenLockRefuses(t *testing.T) {
	good := string(sampleLock(t).Encode())
	for _, edit := range [][2]string{
		{`version: "`, `version: "v`},
		{"t1:sha256:", "t1:sha256:0"},
		{`integrity: "t1:sha256:`, `integrity: "t1:sha256:f`},
		{"  acme/", "  Acme/"},
		{"      ", "       "},
		{"packs:\n", "packs:\npacks:\n"},
		{"winner: ", "winner: x"},
		{"\n", "\n<<<<<<< a\n"},
		{`source: "`, `source: "\t`},
		{`source: "`, "source: \"\u202e"},
		{`source: "`, "source: \"x"},
	} {
		text := strings.Replace(good, edit[0], edit[1], 1)
		if text == good {
			t.Fatalf("%q is not in the lock", edit[0])
		}
		l, err := pack.ParseLock("skillpm.lock", []byte(text))
		_, problems := pack.CheckLock("skillpm.lock", []byte(text))
		if (err == nil) != (len(problems) == 0) {
			t.Errorf("with %q for %q: %v, and by YAML %v", edit[1], edit[0], err, problems)
		}
		if err == nil {
			sameByYAML(t, []byte(text), l)
		}
	}
}

// FuzzLock reads any text. An accepted lockfile is read as the same after writing, and is written as the same bytes
// again.
func FuzzLock(f *testing.F) {
	good := sampleLock(f).Encode()
	f.Add(good)
	f.Add(bytes.ReplaceAll(good, []byte("\n"), []byte("\r\n")))
	f.Add(append(bytes.Clone(good), "extra: [1, {a: b}, |\n  text\n ]\n"...))
	f.Add([]byte("version: 1\npacks: {}\nnames: {x: {}}\nfoo: # c\n  - bar\n"))
	f.Add([]byte("version: 1\nx: \"\\x00\"\n\"y z\": >+\n  a\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := pack.ParseLock("skillpm.lock", data)
		if err != nil {
			if diag.CodeOf(err) != diag.Invalid && diag.CodeOf(err) != diag.Integrity {
				t.Fatalf("code %s: %v", diag.CodeOf(err), err)
			}
			return
		}
		sameByYAML(t, data, l)
		text := l.Encode()
		back, err := pack.ParseLock("skillpm.lock", text)
		if err != nil {
			t.Fatalf("%v\n%q\nbecame\n%q", err, data, text)
		}
		if !back.Equal(l) || !bytes.Equal(back.Encode(), text) {
			t.Fatalf("%q\nbecame\n%q\nand then\n%q", data, text, back.Encode())
		}
	})
}

// bigLock has 200 packs of five skills.
func bigLock() *pack.Lock {
	l := pack.NewLock()
	for i := range 200 {
		p := lockedPack("1.0.0", "oci://registry.example/acme/deploy", "sha256:"+strings.Repeat("a", 64), "a", "b", "c", "d", "e")
		p.Dependencies = map[string]string{"acme/base": "^2.1"}
		l.Packs[pack.ID{Owner: "acme", Name: fmt.Sprintf("pack-%d", i)}] = p
	}
	return l
}

func BenchmarkParseLock(b *testing.B) {
	text := bigLock().Encode()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := pack.ParseLock("skillpm.lock", text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodeLock(b *testing.B) {
	l := bigLock()
	for b.Loop() {
		l.Encode()
	}
}

// TestLockIsPlainYAML checks that YAML 1.1 and 1.2 readers agree about the lockfile: every value that is not a number
// or a plain name is in quotes.
func TestLockIsPlainYAML(t *testing.T) {
	var v struct {
		Version int
		Packs   map[string]struct {
			Version string
			Skills  map[string]string
		}
		Names map[string]struct{ Shadowed map[string]string }
	}
	if err := yaml.Unmarshal(sampleLock(t).Encode(), &v); err != nil {
		t.Fatal(err)
	}
	if v.Version != 1 || v.Packs["globex/ops"].Skills["true"] == "" || v.Names["x-1"].Shadowed["local/near"] != "null" {
		t.Errorf("%+v", v)
	}
}
