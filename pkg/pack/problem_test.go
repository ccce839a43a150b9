package pack_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
)

// show writes problems as line:column: message (hint), one a line.
func show(problems []pack.Problem) string {
	var b strings.Builder
	for _, p := range problems {
		fmt.Fprintf(&b, "%d:%d: %s", p.Line, p.Column, p.Message)
		if p.Hint != "" {
			fmt.Fprintf(&b, " (%s)", p.Hint)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// TestCheckManifestAgrees checks that one reader reports what the other rejects, among its other problems.
func TestCheckManifestAgrees(t *testing.T) {
	for _, tt := range bad {
		t.Run(tt.name, func(t *testing.T) {
			_, err := pack.ParseManifest("skillpm.yaml", []byte(tt.text))
			_, problems := pack.CheckManifest("skillpm.yaml", []byte(tt.text))
			if len(problems) == 0 {
				t.Fatalf("no problem, want %v", err)
			}
			if !strings.Contains(err.Error(), "invalid YAML") && !reports(problems, "skillpm.yaml", err) {
				t.Errorf("got\n%swant %v (%s)", show(problems), err, diag.HintOf(err))
			}
			if len(problems) > 1 && tt.name != "alias" {
				t.Errorf("one mistake is reported as several:\n%s", show(problems))
			}
		})
	}
	m, problems := pack.CheckManifest("skillpm.yaml", []byte(full))
	if len(problems) > 0 || m.Version != "1.4.0" || !bytes.Equal(m.Bytes(), []byte(full)) {
		t.Errorf("%s%+v", show(problems), m)
	}
}

// reports reports whether an error is one of the problems.
func reports(problems []pack.Problem, path string, err error) bool {
	return slices.ContainsFunc(problems, func(p pack.Problem) bool {
		text := err.Error()
		same := strings.HasPrefix(text, fmt.Sprintf("%s:%d:", path, p.Line)) && strings.HasSuffix(text, ": "+p.Message)
		if p.Line == 0 {
			same = text == path+strings.TrimPrefix(p.Message, "the file")
		}
		return same && p.Hint == diag.HintOf(err)
	})
}

func TestCheckManifestReportsAll(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"every field", `name: Acme
version: "1.4"
skills: [../x, ok, ok, {a: b}]
dependancies: {}
dependencies:
  a: newest
  a/b: {git: "https://h/r.git", oci: "oci://h/r", skills: [A, b], tga: x}
  a/c: {version: nope}
  a/c: "2"
  a/d:
dev-dependencies:
  a/c: "1"
aliases: {X: deploy, y: deploy@a/b, z: deploy@a/b}
link-mode: later
registries: [{nmae: x}, {name: a b, url: "https://me:pw@h"}, y, y]
namespaces: {A: ""}
`, `1:7: invalid pack name "Acme" (use owner/name, such as acme/deploy)
2:10: invalid version "1.4" (use "1.4.0")
3:10: skills pattern "../x" is not a directory inside the pack (use a path relative to this file, such as "skills/*")
3:20: "ok" appears more than once in skills (remove one of the two entries)
3:24: an entry of skills must be text (write the value in quotes)
4:1: unknown key "dependancies" in skillpm.yaml (did you mean dependencies?)
6:3: invalid pack name "a" (use owner/name, such as acme/deploy)
6:6: invalid version range "newest" (use a range such as "^1.2", "~1.2.3", ">=1.2 <2", or "*" for any version)
7:8: the pack has two sources, oci and git (remove one of the sources)
7:60: the name "A" contains the capital letter A: only a-z, 0-9, and hyphens are allowed
7:67: unknown key "tga" in a/b (did you mean tag?)
8:18: invalid version range "nope" (use a range such as "^1.2", "~1.2.3", ">=1.2 <2", or "*" for any version)
9:3: the key "a/c" is duplicated; it first appears on line 8
10:7: a/d does not have a value (write a value, or remove the key)
12:3: a/c is in both dependencies and dev-dependencies (remove one of the two entries)
13:11: alias "X": the name "X" contains the capital letter X: only a-z, 0-9, and hyphens are allowed
13:14: alias X refers to "deploy" instead of a skill and its pack (use the form "skill@owner/name")
13:37: deploy@a/b has two aliases, y and z (remove one of the aliases)
14:12: unknown link-mode "later" (use one of symlink, copy, or hardlink)
15:15: unknown key "nmae" in a registry (did you mean name?)
15:32: the name of a registry must consist of letters, digits, and . _ -, and start with a letter or digit
15:42: url contains credentials (remove the credentials, and use a credential helper or SKILLPM_TOKEN_<HOST>)
15:65: "y" appears more than once in registries (remove one of the entries)
16:14: invalid owner "A" (use the part of a pack's name before the slash, such as acme for acme/deploy)
16:17: the registry of owner A is not a valid address
`},
		{"what YAML makes of it", "name: &n a/b\nversion: !!str 1.0.0\nlicense: *n\ndescription: ~\nskills: [!x a]\n", `1:7: the YAML anchor &n is not allowed here (write the value itself in quotes)
2:10: the YAML tag !!str is not allowed here (write the value in quotes)
3:10: the YAML alias *n is not allowed here (write the value itself in quotes)
4:14: description is ~, which YAML reads as null (write the value in quotes: "~")
5:10: the YAML tag !x is not allowed here (write the value in quotes)
`},
		{
			"two conflicts", "name: a/b\n<<<<<<< HEAD\nx\n=======\n>>>>>>> b\ny: 1\n<<<<<<< HEAD\n|||||||\n>>>>>>> b\n",
			"2:1: unresolved merge conflict: <<<<<<< HEAD (" + resolve + ")\n7:1: unresolved merge conflict: <<<<<<< HEAD (" + resolve + ")\n",
		},
		{"half a conflict", "name: a/b\n>>>>>>> b\n", "2:1: unresolved merge conflict: >>>>>>> b (" + resolve + ")\n"},
		{"second document", "nmae: a/b\n---\nx: 1\n", "1:1: unknown key \"nmae\" in skillpm.yaml (did you mean name?)\n2:1: unexpected second YAML document (remove the line --- and the text after it)\n"},
		{"parts", "name: \"acme\ndescription: Use this: now\nversion: 1\nskills:\n\t- a\n", `1:7: the closing quote of the value is missing (add the closing quote)
2:22: a value without quotes contains a colon and a space (use double quotes around the value)
3:10: invalid version "1" (use "1.0.0")
5:1: YAML does not allow tabs for indentation (indent with spaces)
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, problems := pack.CheckManifest("skillpm.yaml", []byte(tt.text))
			if got := show(problems); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			if m == nil && !strings.Contains(tt.name, "conflict") {
				t.Error("there is no manifest")
			}
		})
	}
}

const resolve = "keep the lines that you need, remove the lines <<<<<<<, =======, and >>>>>>>, and run \"skillpm install --resolve-lock\""

// TestCheckManifestExplains checks that invalid YAML is one problem, at the offending character, in plain words.
func TestCheckManifestExplains(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"colon", "description: Use this: now", "1:22: a value without quotes contains a colon and a space"},
		{"colon at the end", "name: a/b\ndescription: Use this:", "2:22: a value without quotes contains a colon and a space"},
		{"deeper", "name: a/b\n  version: 1.0.0", "2:3: the indentation of this line does not match any"},
		{"between", "name: a/b\ndependencies:\n    a/b: \"1\"\n  c/d: \"2\"\n", "4:3: the indentation of this line does not match any"},
		{"deeper below", "name: a/b\ndependencies:\n  a/b: \"1\"\n   c/d: \"2\"\n", "4:4: the indentation of this line does not match any"},
		{"no colon", "name: a/b\njust words\nversion: 1.0.0", "2:1: expected a key followed by a colon"},
		{"no colon below", "dependencies:\n  a/b \"1\"\n  c/d: \"2\"\n", "2:3: expected a colon and a space after the key of this line"},
		{"no colon at first", "name a/b\nversion: \"1.0.0\"\n", "1:1: expected a key followed by a colon"},
		{"tab", "dependencies:\n\ta/b: \"1\"", "2:1: YAML does not allow tabs for indentation"},
		{"list", "name: a/b\nskills: [a, b\nversion: \"1.0.0\"\n", "2:9: [ opens a list or mapping that is malformed"},
		{"mapping", "dependencies:\n  a/b: {git: x\n  c/d: \"1\"\n", "2:8: { opens a list or mapping"},
		{"quote", "license: \"MIT\nversion: \"1.0.0\"\n", "1:10: the closing quote of the value is missing"},
		{"apostrophe", "description: 'it's'\n", "1:18: unexpected text after the closing quote"},
		{"escape", "name: a/b\nlicense: \"M\\IT\"\n", "2:12: unknown escape"},
		{"item", "skills:\n  - a\n  b\n  - c\n", "3:3: expected a key followed by a colon"},
		{"no item", "skills:\n  - a\n  b: c\n", "3:3: expected an entry of the list"},
		{"list beside the key", "skills: - a\n", "1:9: a list cannot start on the line of its key"},
		{"anchor", "name: a/b\nskills: [b, *]\n", "2:"},
		{"reference", "name: a/b\nskills:\n  - *foo\n", "3:5: a value without quotes cannot start with *"},
		{"control", "name: a/b\nlicense: \x01\n", "2:10: this line contains a byte that is not text"},
		{"bytes", "name: a/b\nlicense: \xff\xfe\n", "2:10: this line contains a byte that is not text"},
		{"binary", "\x00\x01", "1:1: this line contains a byte that is not text"},
		{"BOM", "\ufeffdescription: a: b", "1:15: a value without quotes contains a colon and a space"},
		{"at", "skills: [a, @b]\n", "1:"},
		{"brace", "aliases: {a: b, }}\nname: a/b\n", "1:"},
		{"deep", "name: " + strings.Repeat("[", 20000), "1:1: invalid YAML: exceeded max depth"},
		{"flow", "{name: a/b, version: 'x", "1:22: the closing quote of the value"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, problems := pack.CheckManifest("skillpm.yaml", []byte(tt.text))
			if got := show(problems); len(problems) != 1 || !strings.HasPrefix(got, tt.want) {
				t.Errorf("got\n%swant %s", got, tt.want)
			} else if problems[0].Hint == "" {
				t.Errorf("no hint: %s", got)
			}
		})
	}
}

func TestCheckLock(t *testing.T) {
	good := string(sampleLock(t).Encode())
	edit := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(good) }
	for _, tt := range []struct{ name, text, want string }{
		{"good", good, ""},
		{"empty", "", "0:0: the file is empty (" + restore + ")\n"},
		{"newer", edit("version: 1\n", "version: 2\n", "packs:", "pax:"), "2:10: unsupported lockfile version \"2\"; this skillpm supports version 1 (use a newer skillpm)\n"},
		{"cut off", good[:strings.Index(good, "git+https")], "23:13: the closing quote of the value is missing (add the closing quote)\n"},
		{
			"several", edit("version: 1\n", "", treeDigest("rollback"), "t1:x", `source: "embedded"`, "scource: x", "  globex/ops:", "  ops:", "globex-deploy", "X"),
			`2:1: the lockfile does not have a format version (` + restore + `)
12:17: invalid digest "t1:x" for skill rollback: use t1:sha256: and 64 hexadecimal digits (restore skillpm.lock from version control)
13:3: acme/kubectl-basics does not have the required key source (restore skillpm.lock from version control, or delete it and run "skillpm install")
20:3: invalid pack name "ops" (use owner/name, such as acme/deploy)
39:7: invalid pack name "ops" (use owner/name, such as acme/deploy)
39:12: the name "X" contains the capital letter X: only a-z, 0-9, and hyphens are allowed
`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, problems := pack.CheckLock("skillpm.lock", []byte(tt.text))
			if got := show(problems); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

const restore = "restore skillpm.lock from version control, or delete it and run \"skillpm install\""

// TestCheckManifestMany checks that reading stops after too many problems.
func TestCheckManifestMany(t *testing.T) {
	text := "dependencies:\n" + strings.Repeat("  A: ~\n", 5000)
	if _, problems := pack.CheckManifest("skillpm.yaml", []byte(text)); len(problems) != 1000 {
		t.Errorf("%d problems", len(problems))
	}
	big := bytes.Repeat([]byte("a"), 2<<20)
	if _, problems := pack.CheckManifest("skillpm.yaml", big); len(problems) != 1 || problems[0].Line != 0 {
		t.Errorf("2 MiB: %s", show(problems))
	}
}

// FuzzCheck reads any text both ways: they agree whether it is valid, one reports the first problem of the other, and
// every position is in the text.
func FuzzCheck(f *testing.F) {
	f.Add([]byte(full))
	f.Add(sampleLock(f).Encode())
	for _, tt := range bad {
		f.Add([]byte(tt.text))
	}
	f.Add([]byte("a: 'x'y\nb:\n - c\n- d\ne: [\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, manifest := pack.CheckManifest("f", data)
		_, err := pack.ParseManifest("f", data)
		agree(t, data, manifest, err)
		_, lock := pack.CheckLock("f", data)
		_, err = pack.ParseLock("f", data)
		agree(t, data, lock, err)
		_, _ = pack.ParseConfig("f", data) // reads like a manifest, and must not panic
	})
}

func agree(t *testing.T, data []byte, problems []pack.Problem, err error) {
	t.Helper()
	if (err == nil) != (len(problems) == 0) {
		t.Fatalf("%q: %v, and\n%s", data, err, show(problems))
	}
	for _, p := range problems {
		if p.Message == "" || p.Line < 0 || p.Column < 0 || p.Line > len(data)+1 || p.Column > len(data)+2 {
			t.Fatalf("%q: %+v", data, p)
		}
	}
	if err == nil || strings.Contains(err.Error(), "YAML") || len(problems) == 1000 {
		return
	}
	if !reports(problems, "f", err) {
		t.Fatalf("%q: %v (%s), and\n%s", data, err, diag.HintOf(err), show(problems))
	}
}

func BenchmarkCheckLock(b *testing.B) {
	text := bigLock().Encode()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, problems := pack.CheckLock("skillpm.lock", text); problems != nil {
			b.Fatal(problems)
		}
	}
}
