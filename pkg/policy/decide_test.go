package policy_test

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/policy"
)

func parse(t testing.TB, text string) *policy.Policy {
	t.Helper()
	p, err := policy.Parse("policy.yaml", []byte("version: 1\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestDenySpellings checks a denial against every spelling of the same source (O14).
func TestDenySpellings(t *testing.T) {
	for _, tt := range []struct {
		deny string
		is   []string
		not  []string
	}{
		{
			"git+https://github.com/evil/tools.git",
			[]string{
				"github.com/evil/tools", "github.com/evil/tools.git", "GitHub.com/evil/tools", "https://github.com/evil/tools", "https://GITHUB.com/evil/tools.git/",
				"git+https://github.com:443/evil/tools.git", "git@github.com:evil/tools.git", "git@github.com:/evil/tools", "ssh://git@github.com/evil/tools.git",
				"ssh://git@github.com:22/evil/tools", "git+ssh://somebody@github.com/evil/tools.git", "github.com/Evil/Tools", "github.com/evil/%74ools",
				"https://github.com/%65vil/tools.git", "github.com/evil/tools//packs/a", "github.com/evil/tools#v1.2.0", "git+https://github.com/evil/tools.git//a#main",
				"git+https://www.github.com/evil/tools.git", "git+ssh://git@ssh.github.com:443/evil/tools.git", "  github.com/evil/tools  ",
			},
			[]string{"github.com/evil/tools2", "github.com/evil2/tools", "gitlab.com/evil/tools", "oci://github.com/evil/tools"},
		},
		{
			"git+https://git.example/evil/**",
			[]string{
				"git+https://git.example/evil/x.git", "git+https://git.example/evil/x", "https://Git.Example/evil/a/b/c.git", "git@git.example:evil/x.git",
				"git+https://git.example:8443/evil/x.git", "git+https://git.example/EVIL/x.git", "git+https://git.example/evil.git",
			},
			[]string{"git+https://git.example/good/evil.git", "git+https://sub.git.example/evil/x.git", "git+https://git.example/devil/x.git"},
		},
		{
			"git+ssh://*.git.example:2222/**",
			[]string{"git+ssh://a.git.example:2222/x.git", "git+ssh://a.b.git.example:2222/x.git"},
			[]string{"git+ssh://git.example:2222/x.git", "git+ssh://a.git.example/x.git", "git+ssh://a.git.example:22222/x.git", "git+ssh://agit.example:2222/x.git"},
		},
		{
			"git+https://git.example/acme/tools.git//labs",
			[]string{"git+https://git.example/acme/tools//labs", "git+https://git.example/acme/tools.git//labs/deep/er", "git+https://git.example/acme/tools.git//Labs"},
			[]string{"git+https://git.example/acme/tools.git", "git+https://git.example/acme/tools.git//packs"},
		},
		{
			"oci://registry.example/acme/labs/**",
			[]string{
				"oci://registry.example/acme/labs/x", "oci://REGISTRY.example/acme/labs/x:1.0.0", "oci://registry.example:443/acme/labs/x", "oci://registry.example:5000/acme/labs/x",
				"oci://registry.example/acme/labs/x@sha256:" + sum, "oci://registry.example/acme/labs", "OCI://registry.example/acme/labs/x",
			},
			[]string{"oci://registry.example/acme/labsx/y", "oci://registry.example/acme/x", "oci://registry.example.evil/acme/labs/x"},
		},
		{"oci://docker.io/evil/*", []string{"oci://index.docker.io/evil/x", "oci://registry-1.docker.io/evil/x"}, []string{"oci://docker.io/evil/x/y", "oci://docker.io/acme/evil"}},
		{
			"well-known+https://docs.example/**",
			[]string{"https://docs.example", "https://Docs.example/api", "well-known+https://docs.example/api/"},
			[]string{"https://docs.example.evil", "oci://docs.example/a/b", "git+https://docs.example/a.git"},
		},
		{"git+https://localhost:8080/**", []string{"git+http://localhost:8080/x.git"}, []string{"git+http://localhost:8081/x.git"}},
		{
			"oci://127.0.0.1:5000/evil/**",
			[]string{
				"oci://[::ffff:127.0.0.1]:5000/evil/x", "oci://[::ffff:7f00:1]:5000/evil/x", "oci://[64:ff9b::7f00:1]:5000/evil/x", "oci://127.1:5000/evil/x", "oci://2130706433:5000/evil/x",
				"oci://0x7f000001:5000/evil/x", "oci://0177.0.0.1:5000/evil/x", "oci://0x7f.0x0.0x0.0x1:5000/evil/x", "oci://127.0.0.1:05000/evil/x",
			},
			[]string{"oci://127.2:5000/evil/x", "oci://[::1]:5000/evil/x", "oci://[::ffff:127.0.0.2]:5000/evil/x", "oci://127.0.0.1.example:5000/evil/x"},
		},
		{"oci://[2001:db8::1]/**", []string{"oci://[2001:DB8:0::1]/x", "oci://[2001:db8::1]:5000/x"}, []string{"oci://[2001:db8::2]/x"}},
		{"path", []string{"path", "path:../x", "./x", "/abs/x", "../x"}, []string{"local", "oci-layout:x"}},
		{"local", []string{"local", "local:acme/x"}, []string{"embedded", "path:local"}},
		{"embedded", []string{"embedded", "embedded:acme/x:1.0.0"}, []string{"local"}},
		{"oci-layout", []string{"oci-layout", "oci-layout:x", "oci-layout:/x//acme/a"}, []string{"path:x"}},
		{"git+file", []string{"git+file", "git+file//sub", "git+file:///srv/x.git//sub#main"}, []string{"path"}},
	} {
		p := parse(t, "sources: {deny: ['"+tt.deny+"']}\n")
		for _, text := range tt.is {
			var denied *policy.DeniedError
			if err := p.Source(text); !errors.As(err, &denied) || denied.Rule != tt.deny || denied.Line != 2 || diag.CodeOf(err) != diag.Denied {
				t.Errorf("%s does not deny %s: %v", tt.deny, text, err)
			}
		}
		for _, text := range tt.not {
			if err := p.Source(text); err != nil {
				t.Errorf("%s denies %s: %v", tt.deny, text, err)
			}
		}
	}
}

// TestNotUnderstood checks that an invalid source is refused if a policy has any rule about sources.
func TestNotUnderstood(t *testing.T) {
	p := parse(t, "sources: {deny: ['oci://evil.example/**']}\n")
	for _, text := range []string{
		"", "acme/deploy", "https://user:secret@github.com/evil/tools", "git+https://evil%2eexample/x.git", "http://evil.example/x.git", "oci://evil.example",
		"git+https://evil.example/a/../b.git", "git+https://evil.example/a%2fb.git", "ext::sh -c x", "git+https://evil.example./x.git", "git+https://é.example/x.git",
		"git+https://evil.example/x.git?y", "oci://evil.example/X", "git+https://evil.example\\@good.example/x.git", "git+https://good.example@evil.example/x.git",
	} {
		err := p.Source(text)
		if diag.CodeOf(err) != diag.Denied || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if err := parse(t, "").Source("nonsense"); err != nil {
		t.Errorf("without a word on sources: %v", err)
	}
}

// TestAllow checks that an allowlist allows nothing else, and confuses no spellings (O14).
func TestAllow(t *testing.T) {
	for _, tt := range []struct {
		allow   string
		is, not []string
	}{
		{
			"oci://registry.example/acme/**",
			[]string{"oci://registry.example/acme/x", "oci://Registry.Example:443/acme/a/b:1.0.0"},
			[]string{"oci://registry.example:5000/acme/x", "oci://registry.example/acmex/x", "oci://registry.example/x/acme", "git+https://registry.example/acme/x.git", "local", "./x"},
		},
		{
			"git+https://github.com/acme/*.git",
			[]string{"github.com/acme/tools", "https://github.com/acme/tools.git//packs/a#v1"},
			[]string{"git@github.com:acme/tools.git", "github.com/Acme/tools", "www.github.com/acme/tools", "git+http://localhost/acme/tools.git"},
		},
		{
			"git+https://git.example/acme/*.git//packs/**",
			[]string{"git+https://git.example/acme/tools.git//packs/a/b"},
			[]string{"git+https://git.example/acme/tools.git", "git+https://git.example/acme/tools.git//other", "git+https://git.example/acme/tools//packs/a"},
		},
		{"git+https://git.example/a%2Bb/*", []string{"git+https://git.example/a+b/x"}, []string{"git+https://git.example/ab/x"}},
		{"git+https://git.example/a%2A/x", nil, []string{"git+https://git.example/abc/x"}},
		{"local", []string{"local"}, []string{"embedded", "oci://local/x"}},
	} {
		p := parse(t, "sources: {allow: ['"+tt.allow+"']}\n")
		for _, text := range tt.is {
			if err := p.Source(text); err != nil {
				t.Errorf("%s does not allow %s: %v", tt.allow, text, err)
			}
		}
		for _, text := range tt.not {
			if err := p.Source(text); diag.CodeOf(err) != diag.Denied {
				t.Errorf("%s allows %s: %v", tt.allow, text, err)
			}
		}
	}
	if err := parse(t, "sources: {allow: []}\n").Source("local"); diag.CodeOf(err) != diag.Denied {
		t.Errorf("an empty list allows something: %v", err)
	}
	both := parse(t, "sources:\n  allow: ['oci://r.example/**']\n  deny: ['oci://r.example/labs/*']\n")
	if err := both.Source("oci://r.example/labs/x"); err == nil || err.Error() != `policy.yaml:4: oci://r.example/labs/x is denied by "oci://r.example/labs/*"` {
		t.Errorf("a denial does not win: %v", err)
	}
	err := both.Source("oci://other.example/x")
	if err == nil || err.Error() != "policy.yaml:3: oci://other.example/x is not an allowed source" || diag.HintOf(err) != "allowed sources: oci://r.example/**" {
		t.Errorf("%v (%s)", err, diag.HintOf(err))
	}
}

// TestSet checks that an additional policy can only tighten, and that an unreadable one denies everything (O14).
func TestSet(t *testing.T) {
	wide := parse(t, "sources: {allow: ['oci://r.example/**', local]}\nrequire: [{match: local, min_release_age: 72h}]\n")
	narrow := parse(t, "sources: {allow: ['oci://r.example/acme/*']}\nrequire: [{match: local, min_release_age: 2w}, {match: 'oci://r.example/**', min_release_age: 1h}]\n")
	watching := parse(t, "mode: audit\nsources: {allow: []}\nrequire: [{match: local, min_release_age: 99w}]\n")
	set := policy.Set{wide, narrow, watching}
	notes, err := set.Source("oci://r.example/acme/x")
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], "the policy is in audit mode") {
		t.Errorf("%v, %q", err, notes)
	}
	for _, text := range []string{"local", "oci://r.example/other/x", "oci://x.example/acme/x"} {
		if _, err := set.Source(text); diag.CodeOf(err) != diag.Denied {
			t.Errorf("%s: %v", text, err)
		}
	}
	if age, by := set.Age("local"); age != 14*24*time.Hour || by.Policy != narrow || by.Line != 3 {
		t.Errorf("age %v by %v", age, by)
	}
	if age, _ := set.Age("embedded"); age != 0 {
		t.Errorf("age %v", age)
	}
	_, invalid := policy.Parse("bad.yaml", []byte("version: 1\nsuorces: {}\n"))
	for _, tt := range []struct {
		err  error
		code diag.Code
	}{{invalid, diag.Invalid}, {os.ErrPermission, diag.Denied}, {diag.Errorf(diag.Denied, "bad.yaml belongs to user 7"), diag.Denied}} {
		broken := append(policy.Set{policy.Broken("bad.yaml", tt.err)}, wide)
		if _, err := broken.Source("oci://r.example/acme/x"); diag.CodeOf(err) != tt.code || !errors.Is(err, tt.err) || diag.HintOf(err) == "" {
			t.Errorf("%v: %v", tt.err, err)
		}
		if broken.Err() == nil || broken.Host("r.example", "") == nil {
			t.Errorf("%v: not everything is denied", tt.err)
		}
	}
}

// TestSignatureRules checks that every requirement that matches any spelling of a source applies (O14).
func TestSignatureRules(t *testing.T) {
	p := parse(t, `require:
  - match: "git+https://github.com/acme/*.git"
    signatures: {any_of: [{ssh: {allowed_signers: keys/allowed, sha256: `+sum+`}}]}
  - match: "git+https://github.com/**"
    signatures: {any_of: [{key: {file: a.pub, sha256: `+sum+`}}]}
  - {match: "git+https://github.com/**", min_release_age: 1d}
`)
	set := policy.Set{p}
	for text, want := range map[string]int{
		"github.com/acme/tools": 2, "git@github.com:ACME/tools.git": 2, "github.com/other/tools": 1, "gitlab.com/acme/tools": 0, "no place at all": 2,
	} {
		if got := set.Signatures(text); len(got) != want {
			t.Errorf("%s: %d requirements, want %d", text, len(got), want)
		}
	}
	rule := set.Signatures("github.com/acme/tools")[0]
	if rule.String() != "policy.yaml:3" || rule.Signatures.AnyOf[0].SSH.AllowedSigners != "keys/allowed" || rule.Signatures.AnyOf[0].SSH.SHA256 != sum {
		t.Errorf("%v: %+v", rule, rule.Signatures.AnyOf[0].SSH)
	}
}

// TestHost checks to which hosts a registry may redirect.
func TestHost(t *testing.T) {
	p := parse(t, "sources:\n  allow: ['oci://r.example/**']\n  deny: ['oci://evil.example/**', 'oci://*.evil.example:5000/**', 'oci://r.example/labs/**']\n")
	for at, want := range map[string]bool{
		"evil.example:": false, "EVIL.example:": false, "evil.example.:": false, "evil.example:8443": false, "a.evil.example:5000": false, "a.evil.example:": true, "r.example:": true, "cdn.example:": true,
	} {
		host, port, _ := strings.Cut(at, ":")
		if err := p.Host(host, port); (err == nil) != want {
			t.Errorf("%s: %v", at, err)
		}
	}
}

func TestCheckOwner(t *testing.T) {
	dir := policy.Stat{Path: "/etc/skillpm", Mode: fs.ModeDir | 0o755}
	for _, tt := range []struct {
		name string
		file policy.Stat
		want string
	}{
		{"right", policy.Stat{Path: "p", Mode: 0o644}, ""},
		{"secret", policy.Stat{Path: "p", Mode: 0o600}, ""},
		{"somebody's", policy.Stat{Path: "p", Mode: 0o644, Owner: 1000}, "p belongs to user 1000 instead of user 0"},
		{"the group's", policy.Stat{Path: "p", Mode: 0o664}, "other users can write p"},
		{"everybody's", policy.Stat{Path: "p", Mode: 0o646}, "other users can write p"},
		{"a link", policy.Stat{Path: "p", Mode: fs.ModeSymlink | 0o777}, "p is a link"},
	} {
		err := policy.CheckOwner(0, dir, tt.file)
		if (tt.want == "") != (err == nil) || err != nil && (!strings.Contains(err.Error(), tt.want) || diag.CodeOf(err) != diag.Denied) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if policy.CheckOwner(0, policy.Stat{Path: "/etc/skillpm", Mode: fs.ModeDir | 0o777}, policy.Stat{Path: "p", Mode: 0o644}) == nil {
		t.Error("a directory that everybody can write is trusted")
	}
}

// FuzzCanonical reads any text as a source: the canonical form is stable, is a source in the lockfile's form, and is
// denied by a pattern that is made from it.
func FuzzCanonical(f *testing.F) {
	for _, text := range []string{
		"github.com/acme/tools", "git@git.example:a/b.git", "oci://r.example:5000/a/b:1@sha256:" + sum, "git+https://git.example/a%20b/c.git//d e#v1", "path:../x",
		"local", "git+file:///x", "oci-layout:d//a/b", "ssh://git@[::1]:22/x", "git+https://h/a%2561", "https://H/%7e.git",
		"github.com/a/-",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := policy.Canonical(text)
		if err != nil {
			return
		}
		if again, err := policy.Canonical(c); err != nil || again != c {
			t.Fatalf("%q is %q and then %q, %v", text, c, again, err)
		}
		if ref, err := pack.Parse(text); err == nil && strings.Contains(c, "://") && ref.Source() != c {
			t.Fatalf("%q is %q, and its source is %q", text, c, ref.Source())
		}
		p, err := policy.Parse("p", []byte("version: 1\nsources: {deny: ["+quoted(c)+"]}\n"))
		if err != nil {
			return // not everything that is a source can be a pattern: IPv6, plain http, other alphabets
		}
		if p.Source(text) == nil || p.Source(c) == nil {
			t.Fatalf("a denial of %q does not deny %q", c, text)
		}
	})
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// TestDeniedNames checks that names match in any Unicode form and in capitals, and that the refusal shows how to lift
// the denial, or whom to ask if it is the machine's (O14).
func TestDeniedNames(t *testing.T) {
	p, err := policy.Parse("p.yaml", []byte("version: 1\nskills: {deny: [\"caf\u00e9\", \"*@evil/*\"]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		level      policy.Level
		name, pack string
		hint       string // "" for one that is allowed
	}{
		{policy.UserLevel, "cafe\u0301", "", "allow the skill again with: skillpm deny 'caf\u00e9' --undo"},
		{policy.ProjectLevel, "CAFE\u0301", "", "allow the skill again with: skillpm deny 'caf\u00e9' --undo --scope project"},
		{policy.MachineLevel, "caf\u00e9", "", "ask the owner of p.yaml"},
		{policy.UserLevel, "a", "evil/b", "allow the skill again with: skillpm deny '*@evil/*' --undo"},
		{policy.UserLevel, "cafe", "", ""},
	} {
		p.Level = tt.level
		if err := p.Skill([]string{tt.name}, tt.pack); diag.HintOf(err) != tt.hint {
			t.Errorf("%s: %v, %q, want %q", tt.name, err, diag.HintOf(err), tt.hint)
		}
	}
}
