package pack

import (
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
)

const (
	sha1sum   = "0123456789abcdef0123456789abcdef01234567"
	sha256sum = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
)

// TestParse checks M2: every form that a user may write.
func TestParse(t *testing.T) {
	deploy := ID{"acme", "deploy"}
	tests := []struct {
		in   string
		want Ref
		text string // "" when it is in
	}{
		{"acme/deploy", Ref{Kind: KindName, ID: deploy}, ""},
		{"  acme/deploy\n", Ref{Kind: KindName, ID: deploy}, "acme/deploy"},
		{"acme/deploy@latest", Ref{Kind: KindName, ID: deploy, Constraint: "latest"}, "acme/deploy@latest"},
		{"acme/deploy@^1.2", Ref{Kind: KindName, ID: deploy, Constraint: "^1.2"}, ""},
		{"acme/deploy@>=1 <2", Ref{Kind: KindName, ID: deploy, Constraint: ">=1 <2"}, ""},
		{"oci://Registry.Example:443/acme/deploy", Ref{Kind: KindOCI, URL: "oci://registry.example/acme/deploy"}, "oci://registry.example/acme/deploy"},
		{"oci://localhost:5000/deploy:1.2.0", Ref{Kind: KindOCI, URL: "oci://localhost:5000/deploy", Rev: "1.2.0"}, ""},
		{"oci://h.example/a/b:1.2.0@" + sha256sum, Ref{Kind: KindOCI, URL: "oci://h.example/a/b", Rev: "1.2.0", Digest: sha256sum}, ""},
		{"oci://[::1]:5000/a/b@" + sha256sum, Ref{Kind: KindOCI, URL: "oci://[::1]:5000/a/b", Digest: sha256sum}, ""},
		{"oci-layout:dist", Ref{Kind: KindLayout, URL: "dist"}, ""},
		{"oci-layout:../dist//acme/deploy:1.2.0", Ref{Kind: KindLayout, URL: "../dist", ID: deploy, Rev: "1.2.0"}, ""},
		{"oci-layout:/srv/x/acme//acme/deploy@" + sha256sum, Ref{Kind: KindLayout, URL: "/srv/x/acme", ID: deploy, Digest: sha256sum}, ""},
		{`oci-layout:C:\dist//acme/deploy`, Ref{Kind: KindLayout, URL: `C:\dist`, ID: deploy}, ""},
		{"local:acme/deploy:1.2.0", Ref{Kind: KindLocal, ID: deploy, Rev: "1.2.0"}, ""},
		{"embedded:acme/deploy@" + sha256sum, Ref{Kind: KindEmbedded, ID: deploy, Digest: sha256sum}, ""},
		{"git+https://host.example/r.git//packs/tools#v1.2.0", Ref{Kind: KindGit, URL: "https://host.example/r.git", Subdir: "packs/tools", Rev: "v1.2.0"}, ""},
		{"GIT+HTTPS://Host.Example:0443/o/R.git/", Ref{Kind: KindGit, URL: "https://host.example/o/R.git"}, "git+https://host.example/o/R.git"},
		{"git+https://host.example/o/r//./a//b/", Ref{Kind: KindGit, URL: "https://host.example/o/r", Subdir: "a/b"}, "git+https://host.example/o/r//a/b"},
		{"git+https://host.example/My%20Project/_git/r", Ref{Kind: KindGit, URL: "https://host.example/My%20Project/_git/r"}, ""},
		{"git+ssh://host.example/o/r.git", Ref{Kind: KindGit, URL: "ssh://git@host.example/o/r.git"}, "git+ssh://git@host.example/o/r.git"},
		{"ssh://alice@host.example:22/o/r.git", Ref{Kind: KindGit, URL: "ssh://alice@host.example/o/r.git"}, "git+ssh://alice@host.example/o/r.git"},
		{"git@host.example:o/r.git//a#main", Ref{Kind: KindGit, URL: "ssh://git@host.example/o/r.git", Subdir: "a", Rev: "main"}, "git+ssh://git@host.example/o/r.git//a#main"},
		{"git@github.com:o/r", Ref{Kind: KindGit, URL: "ssh://git@github.com/o/r.git"}, "git+ssh://git@github.com/o/r.git"},
		{"https://host.example/o/r.git#" + sha1sum, Ref{Kind: KindGit, URL: "https://host.example/o/r.git", Rev: sha1sum}, "git+https://host.example/o/r.git#" + sha1sum},
		{"https://github.com/o/r", Ref{Kind: KindGit, URL: "https://github.com/o/r.git"}, "git+https://github.com/o/r.git"},
		{"GitHub.com/o/r//skills/x#tools@1.2.0", Ref{Kind: KindGit, URL: "https://github.com/o/r.git", Subdir: "skills/x", Rev: "tools@1.2.0"}, "git+https://github.com/o/r.git//skills/x#tools@1.2.0"},
		{"gitlab.com/g/sub/r", Ref{Kind: KindGit, URL: "https://gitlab.com/g/sub/r.git"}, "git+https://gitlab.com/g/sub/r.git"},
		{"git+http://127.0.0.1:8080/r.git", Ref{Kind: KindGit, URL: "http://127.0.0.1:8080/r.git"}, ""},
		{"git+http://[::1]:8080/r.git", Ref{Kind: KindGit, URL: "http://[::1]:8080/r.git"}, ""},
		{"git+file:///srv/r.git//a#v1", Ref{Kind: KindGit, URL: "file:///srv/r.git", Subdir: "a", Rev: "v1"}, ""},
		{"https://Docs.Example", Ref{Kind: KindWebsite, URL: "https://docs.example"}, "well-known+https://docs.example"},
		{"https://docs.example/api/", Ref{Kind: KindWebsite, URL: "https://docs.example/api"}, "well-known+https://docs.example/api"},
		{"https://docs.example/.well-known/agent-skills/index.json", Ref{Kind: KindWebsite, URL: "https://docs.example"}, "well-known+https://docs.example"},
		{"https://docs.example/api/.well-known/skills/", Ref{Kind: KindWebsite, URL: "https://docs.example/api"}, "well-known+https://docs.example/api"},
		{"well-known+http://127.0.0.1:8080", Ref{Kind: KindWebsite, URL: "http://127.0.0.1:8080"}, ""},
		{"http://127.0.0.1:8080/docs", Ref{Kind: KindWebsite, URL: "http://127.0.0.1:8080/docs"}, "well-known+http://127.0.0.1:8080/docs"},
		{"http://localhost:8080/r.git#v1", Ref{Kind: KindGit, URL: "http://localhost:8080/r.git", Rev: "v1"}, "git+http://localhost:8080/r.git#v1"},
		{".", Ref{Kind: KindPath, URL: "."}, ""},
		{"./a//b", Ref{Kind: KindPath, URL: "./a//b"}, ""},
		{"../x", Ref{Kind: KindPath, URL: "../x"}, ""},
		{"/srv/x", Ref{Kind: KindPath, URL: "/srv/x"}, ""},
		{`C:\x`, Ref{Kind: KindPath, URL: `C:\x`}, ""},
		{"path:a/b", Ref{Kind: KindPath, URL: "./a/b"}, "./a/b"},
		{"file:-a", Ref{Kind: KindPath, URL: "./-a"}, "./-a"},
	}
	for _, tt := range tests {
		got, err := Parse(tt.in)
		if err != nil || got != tt.want {
			t.Errorf("Parse(%q) = %+v, %v; want %+v", tt.in, got, err, tt.want)
			continue
		}
		want := tt.text
		if want == "" {
			want = tt.in
		}
		if got.String() != want {
			t.Errorf("Parse(%q).String() = %q, want %q", tt.in, got, want)
		}
	}
}

// TestParseRefuses checks that hostile and mistyped text is a usage error that names the problem.
func TestParseRefuses(t *testing.T) {
	tests := []struct{ in, message, hint string }{
		{"", "empty", "acme/deploy"},
		{"deploy", "invalid pack name", "./deploy"},
		{"acme/Deploy", "name \"Deploy\"", "use the lowercase name acme/deploy"},
		{"acme/deploy:1.2.0", "does not have the form owner/name[@version]", "use acme/deploy@1.2.0"},
		{"localhost:5000/acme/deploy:1.2.0", "does not have a scheme", "use oci://localhost:5000/acme/deploy:1.2.0"},
		{"acme/deploy@", "does not have a version after", "acme/deploy@^1.2"},
		{"acme/deploy@next-one", "invalid version or version range", "acme/deploy@1.2.3"},
		{"deploy@acme/deploy", "is a skill", "acme/deploy --skill deploy"},
		{"-x", "neither a pack nor a known flag", ""},
		{"--upload-pack=touch /x", "neither a pack nor a known flag", ""},
		{"~/x", "cannot expand the home directory", "./"},
		{"acme/dep\x00loy", "U+0000", ""},
		{"acme/dep\u202eloy", "U+202E", ""},
		{"a\xff/b", "UTF-8", ""},
		{strings.Repeat("a", 5000), "the source has 5000 bytes; the limit is ", ""},
		{"ext::sh -c touch% /x", "runs commands", "git+https"},
		{"fd::17", "fd::", "git+https"},
		{"git+ext::x", "unknown scheme", "git+https"},
		{"file:///etc", "file://", "git+file"},
		{"http://host.example/r.git", "plain HTTP is not allowed", "git+https://host.example"},
		{"http://host.example/page", "plain HTTP is not allowed", "write https://host.example"},
		{"git://host.example/r.git", "not encrypted", "git+https"},
		{"git+http://host.example/r.git", "plain HTTP is not allowed", "git+https://host.example"},
		{"git+http://127.0.0.1.example/r.git", "plain HTTP is not allowed", ""},
		{"ftp://host.example/x", "unknown scheme", "oci://"},
		{"https://host.example/page?x=1", "query or fragment", "git+https"},
		{"https://host.example/.well-known/agent-skills/deploy/SKILL.md", "a skill, not of a website", "https://host.example --skill deploy"},
		{"clawhub+https://host.example", "does not name a pack", "skillpm registry add NAME clawhub+https://host.example"},
		{"apm+http://host.example//acme/deploy", "plain HTTP", ""},
		{"well-known+http://host.example", "plain HTTP", "https://host.example"},
		{"https://host.example/../x", "path", ""},
		{"git+https://host.example", "invalid repository path", ""},
		{"git+https:///x", "the source does not contain a host", "write the host after the scheme"},
		{"git+https://-oProxyCommand=x/y", "invalid host", ""},
		{"@acme/base", `invalid pack name "@acme/base"`, "use acme/base, without the @"},
		{"@acme/base@^1.2", `invalid pack name "@acme/base@^1.2"`, "use acme/base@^1.2, without the @"},
		{"ssh://-oProxyCommand=x@host.example/y", "user name or password", ""},
		{"git+ssh://git@-host/x", "invalid host", ""},
		{"git@-host:x", "invalid host", ""},
		{"git+https://host.example:99999/x", "is not a number from 1 to 65535", ""},
		{"git+https://host.example/-x", "invalid repository path", ""},
		{"git+https://host.example/a/../b", "invalid repository path", ""},
		{"git+https://host.example/a/%2e%2e/b", "invalid repository path", ""},
		{"git+https://host.example/a%2fb", "has an invalid percent-encoded character", ""},
		{"git+https://host.example/a%00b", "U+0000", ""},
		{"git+https://host.example/r.git?x=y", "must not contain a query", "#v1.2.0"},
		{"git+https://host.example/r.git//../x", "is outside the source", ""},
		{"git+https://host.example/r.git//a/.GIT/b", "contains a backslash, .git, or a space around a name", ""},
		{`git+https://host.example/r.git//a\..\b`, "contains a backslash, .git, or a space around a name", ""},
		{"git+https://host.example/r.git#--upload-pack=x", "invalid tag, branch", ""},
		{"git+https://host.example/r.git#a..b", "invalid tag, branch", ""},
		{"git+https://host.example/r.git#", "invalid tag, branch", ""},
		{"git+https://münchen.example/r.git", "invalid host", ""},
		{"github.com/o", "not a repository", "github.com/owner/name"},
		{"github.com/o/r/skills/x", "not a repository", "github.com/o/r//skills/x"},
		{"https://github.com/o/r/tree/main/skills/x", "is a page", "github.com/o/r//skills/x#main"},
		{"gitlab.com/g/r/-", "gitlab.com/g/r/- is not a repository", "write gitlab.com/owner/name"},
		{"https://gitlab.com/g/r/-/tree/main/x", "is a page", "gitlab.com/g/r//x#main"},
		{"git+file://relative/r.git", "absolute", ""},
		{"oci://host.example", "oci:// requires a registry and a repository", ""},
		{"oci://host.example/Acme/x", "invalid OCI repository", ""},
		{"oci://host.example/a/../b", "invalid OCI repository", ""},
		{"oci://host.example/a/b:-x", "invalid tag", ""},
		{"oci://host.example/a/b@sha512:00", "invalid digest", "sha256:"},
		{"oci://host.example/a/b#x", "an OCI source must not contain a query or fragment", ""},
		{"oci-layout:", "one directory", ""},
		{"oci-layout://acme/deploy", "one directory", ""},
		{"path:", "requires a directory", ""},
	}
	for _, tt := range tests {
		ref, err := Parse(tt.in)
		if err == nil {
			t.Errorf("Parse(%q) = %+v, want an error", tt.in, ref)
			continue
		}
		if diag.CodeOf(err) != diag.Usage || !strings.Contains(err.Error(), tt.message) {
			t.Errorf("Parse(%q) = %q (%v), want %q (usage)", tt.in, err, diag.CodeOf(err), tt.message)
		}
		if !strings.Contains(diag.HintOf(err), tt.hint) {
			t.Errorf("Parse(%q): hint %q, want %q", tt.in, diag.HintOf(err), tt.hint)
		}
	}
}

func TestParseNeverRepeatsCredentials(t *testing.T) {
	for _, in := range []string{
		"git+https://user:s3cret@host.example/r.git",
		"https://s3cret@host.example/r.git",
		"https://s3cret@host.example/page",
		"https://user:s3cret@github.com/o/r",
		"git+https://user:s3c/ret@host.example/r.git",
		"ssh://git:s3cret@host.example/r.git",
		"oci://user:s3cret@host.example/a/b",
		"http://user:s3cret@host.example/r.git",
		"ftp://user:s3cret@host.example/r.git",
		"git+https://host.example/r.git?token=s3cret",
		"user:s3cret@host.example:o/r.git",
	} {
		_, err := Parse(in)
		if err == nil {
			t.Errorf("Parse(%q) accepts a credential", in)
		} else if text := err.Error() + diag.HintOf(err); strings.Contains(text, "s3c") {
			t.Errorf("Parse(%q) repeats the credential: %s", in, text)
		}
	}
}

func TestLocked(t *testing.T) {
	deploy := ID{"acme", "deploy"}
	tests := []struct {
		ref      string
		source   string
		resolved string
		want     Ref
	}{
		{"oci://h.example/a/b:1.2.0", "oci://h.example/a/b", sha256sum, Ref{Kind: KindOCI, URL: "oci://h.example/a/b", Digest: sha256sum}},
		{"git+https://h.example/o/r.git//a/b#v1", "git+https://h.example/o/r.git//a/b", sha1sum, Ref{Kind: KindGit, URL: "https://h.example/o/r.git", Subdir: "a/b", Digest: sha1sum}},
		{"ssh://alice@h.example/r.git", "git+ssh://h.example/r.git", sha1sum, Ref{Kind: KindGit, URL: "ssh://git@h.example/r.git", Digest: sha1sum}},
		{"git+file:///srv/r.git//a", "git+file//a", sha1sum, Ref{Kind: KindGit, Subdir: "a", Digest: sha1sum}},
		{"local:acme/deploy:1", "local", sha256sum, Ref{Kind: KindLocal, ID: deploy, Digest: sha256sum}},
		{"embedded:acme/deploy", "embedded", sha256sum, Ref{Kind: KindEmbedded, ID: deploy, Digest: sha256sum}},
		{"./packs/./tools/", "path:packs/tools", "", Ref{Kind: KindPath, URL: "./packs/tools"}},
		{`..\tools`, "path:../tools", "", Ref{Kind: KindPath, URL: "../tools"}},
		{"/srv/tools", "path", "", Ref{Kind: KindPath}},
		{"clawhub+https://h.example/api//acme/deploy:1.2.0", "clawhub+https://h.example/api//acme/deploy", sha256sum, Ref{Kind: KindClawHub, URL: "https://h.example/api", ID: deploy, Digest: sha256sum}},
		{"apm+https://h.example//acme/deploy", "apm+https://h.example//acme/deploy", sha256sum, Ref{Kind: KindAPM, URL: "https://h.example", ID: deploy, Digest: sha256sum}},
		{"https://h.example/a", "well-known+https://h.example/a", sha256sum, Ref{Kind: KindWebsite, URL: "https://h.example/a", Digest: sha256sum}},
		{"oci-layout:dist//acme/deploy", "oci-layout:dist", sha256sum, Ref{Kind: KindLayout, URL: "./dist", ID: deploy, Digest: sha256sum}},
		{`oci-layout:C:\dist//acme/deploy`, "oci-layout", sha256sum, Ref{Kind: KindLayout, ID: deploy, Digest: sha256sum}},
	}
	for _, tt := range tests {
		ref, err := Parse(tt.ref)
		if err != nil {
			t.Fatal(err)
		}
		if got := ref.Source(); got != tt.source {
			t.Errorf("Source of %q = %q, want %q", tt.ref, got, tt.source)
		}
		got, err := ParseLocked(tt.source, tt.resolved, deploy)
		if err != nil || got != tt.want {
			t.Errorf("ParseLocked(%q) = %+v, %v; want %+v", tt.source, got, err, tt.want)
		} else if got.Source() != tt.source {
			t.Errorf("ParseLocked(%q).Source() = %q", tt.source, got.Source())
		}
	}
}

// TestLockedRevision checks which revisions a lockfile records, and that reading returns them.
func TestLockedRevision(t *testing.T) {
	for _, tt := range []struct{ place, version, want string }{
		{"oci://h.example/acme/deploy:1.4.0", "1.4.0", "oci://h.example/acme/deploy"},
		{"oci://h.example/acme/deploy:latest", "1.4.0", "oci://h.example/acme/deploy:latest"},
		{"oci://localhost:5000/acme/deploy", "1.4.0", "oci://localhost:5000/acme/deploy"},
		{"git+https://h.example/r.git//packs/tools#v1.2.0", "1.2.0", "git+https://h.example/r.git//packs/tools"},
		{"git+https://h.example/r.git#v1.2.0", "1.3.0", "git+https://h.example/r.git#v1.2.0"},
		{"git+https://h.example/r.git#main", "1.2.0", "git+https://h.example/r.git#main"},
		{"./packs/tools", "1.2.0", "path:packs/tools"},
	} {
		ref, err := Parse(tt.place)
		if err != nil {
			t.Fatal(err)
		}
		got := ref.Locked(tt.version)
		if got != tt.want {
			t.Errorf("%s at %s: locked as %s, want %s", tt.place, tt.version, got, tt.want)
		}
		resolved := map[Kind]string{KindOCI: sha256sum, KindGit: sha1sum}[ref.Kind]
		back, err := ParseLocked(got, resolved, ID{Owner: "acme", Name: "deploy"})
		if err != nil {
			t.Errorf("ParseLocked(%q): %v", got, err)
		} else if back.Locked(tt.version) != got {
			t.Errorf("ParseLocked(%q) is locked as %s", got, back.Locked(tt.version))
		}
	}
}

func TestParseLockedRefuses(t *testing.T) {
	for _, tt := range [][2]string{
		{"oci://h.example/a/b", sha1sum},             // not a digest
		{"git+https://h.example/r.git", "main"},      // not a commit
		{"well-known+https://h.example", ""},         // not a digest
		{"https://h.example", sha256sum},             // another spelling
		{"clawhub2+https://h.example", sha256sum},    // unknown
		{"git+https://H.example/r.git", sha1sum},     // another spelling
		{"git+ssh://alice@h.example/r.git", sha1sum}, // a user name
		{"git+https://h.example/r.git#-v1", sha1sum}, // an option
		{"git+file:///srv/r.git", sha1sum},           // a path of some machine
		{"git+file//../x", sha1sum},                  // outside
		{"path:/etc", ""},                            // absolute
		{"path:", ""},                                // nothing
		{"path:x", sha1sum},                          // directories have no commit
		{"acme/deploy", sha256sum},                   // a name is not a place
		{"file:///etc", ""},                          // hostile
		{"ext::sh", sha1sum},                         // hostile
		{"", sha256sum},                              //
	} {
		if got, err := ParseLocked(tt[0], tt[1], ID{"acme", "deploy"}); err == nil || diag.CodeOf(err) != diag.Invalid {
			t.Errorf("ParseLocked(%q, %q) = %+v, %v; want an invalid error", tt[0], tt[1], got, err)
		}
	}
}

func TestDefaultID(t *testing.T) {
	tests := []struct{ ref, want string }{
		{"github.com/Some_Org/My.Skills", "some-org/my-skills"},
		{"github.com/o/r//packs/Tools", "o/tools"},
		{"git+https://git.example/tools.git", "git-example/tools"},
		{"gitlab.com/g/sub/r", "sub/r"},
		{"git+https://git.example/___/con.git", "p6b86b273/con-pack"},
		{"git@host.example:team/r.git", "team/r"},
		{"oci://registry.example/a/b/c:1", "b/c"},
		{"oci://localhost:5000/tools", "localhost/tools"},
		{"/srv/My Skills/", "local/my-skills"},
		{"../x//packs/y", "local/y"},
		{`C:\x\y`, "local/y"},
		{"oci-layout:d//acme/deploy", "acme/deploy"},
		{"acme/deploy@1", "acme/deploy"},
		{"https://docs.example", "docs-example/skills"},
		{"https://docs.example/v2/API", "docs-example/api"},
		{"github.com/o/" + strings.Repeat("ab-", 30), "o/" + strings.Repeat("ab-", 22)[:64]},
	}
	for _, tt := range tests {
		ref, err := Parse(tt.ref)
		if err != nil {
			t.Fatal(err)
		}
		id, err := ref.DefaultID()
		if strings.HasPrefix(tt.want, "p6b") { // the hash of what cannot be spelled
			owner, rest, _ := strings.Cut(id.String(), "/")
			if len(owner) != 9 || rest != "con-pack" {
				t.Errorf("DefaultID of %q = %q", tt.ref, id)
			}
		} else if err != nil || id.String() != tt.want {
			t.Errorf("DefaultID of %q = %q, %v; want %q", tt.ref, id, err, tt.want)
		}
		if _, err := ParseID(id.String()); err != nil {
			t.Errorf("DefaultID of %q is not legal: %v", tt.ref, err)
		}
	}
	for _, s := range []string{".", "..", "/", "oci-layout:d"} {
		ref, err := Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		if id, err := ref.DefaultID(); err == nil || diag.HintOf(err) == "" {
			t.Errorf("DefaultID of %q = %q, %v; want an error with a hint", s, id, err)
		}
	}
}

func TestVersionFromTag(t *testing.T) {
	tests := []struct{ tag, name, want string }{
		{"1.2.0", "", "1.2.0"},
		{"v1.2.0", "tools", "1.2.0"},
		{"tools@1.2.0", "tools", "1.2.0"},
		{"tools/v1.2.0-rc.1", "tools", "1.2.0-rc.1"},
		{"tools@1.2.0", "other", ""},
		{"tools@1.2.0", "", ""},
		{"vv1.2.0", "", ""},
		{"1", "", ""},
		{"v1.4", "", ""},
		{"latest", "", ""},
		{"20261120", "", ""},
		{"sha256-" + sha256sum[7:], "", ""},
		{"01.2.0", "", ""},
		{"1.2.0+build", "", ""},
		{"1.2.0\n", "", ""},
	}
	for _, tt := range tests {
		got, ok := VersionFromTag(tt.tag, tt.name)
		if got != tt.want || ok != (tt.want != "") {
			t.Errorf("VersionFromTag(%q, %q) = %q, %v; want %q", tt.tag, tt.name, got, ok, tt.want)
		}
	}
}

func TestDefaultVersion(t *testing.T) {
	tests := []struct{ tag, resolved, want string }{
		{"v1.2.0", sha1sum, "1.2.0"},
		{"refs/tags/v1.2.0", sha1sum, "1.2.0"},
		{"@scope/tools@1.2.0", sha1sum, "1.2.0"},
		{"tools/v1.2.0", sha1sum, "1.2.0"},
		{"main", sha1sum, "0.0.0-g0123456789ab"},
		{"v1", sha256sum, "0.0.0-g0123456789ab"},
		{"", "", "0.0.0"},
	}
	for _, tt := range tests {
		got := DefaultVersion(tt.tag, tt.resolved)
		if got != tt.want {
			t.Errorf("DefaultVersion(%q, %q) = %q, want %q", tt.tag, tt.resolved, got, tt.want)
		}
		if _, ok := strictVersion(got); !ok {
			t.Errorf("DefaultVersion(%q, %q) = %q is not strict", tt.tag, tt.resolved, got)
		}
	}
}

// FuzzParse checks that Parse never panics, and that its result survives String and Parse, and Source and ParseLocked,
// and is safe to pass on.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"acme/deploy@^1.2", "oci://h:5000/a/b:1@" + sha256sum, "oci-layout:../d//a/b:1", "git+https://h/o/r.git//s/t#v1",
		"git@h:o/r.git", "github.com/o/r", "ssh://u@h:22/r", "git+file:///r.git//x", "./x", `C:\x`, "path:x", "local:a/b",
		"embedded:a/b", "git+http://[::1]:80/r", "https://u:p@h/r.git", "git+https://h/%41/%20b", "ext::x", "a/b@>=1 <2", "path: ./x",
		"https://h/docs", "well-known+http://[::1]:80/x", "clawhub+https://h/x//a/b:1.0.0", "apm+https://h//a/b", "https://h/.well-known/skills/x",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ref, err := Parse(s)
		if err != nil {
			if diag.CodeOf(err) != diag.Usage {
				t.Fatalf("Parse(%q): code %v", s, diag.CodeOf(err))
			}
			return
		}
		again, err := Parse(ref.String())
		if err != nil || again != ref {
			t.Fatalf("Parse(%q) = %+v; Parse(%q) = %+v, %v", s, ref, ref.String(), again, err)
		}
		if id, err := ref.DefaultID(); err == nil {
			if _, err := ParseID(id.String()); err != nil {
				t.Fatalf("DefaultID of %q: %v", s, err)
			}
		}
		checkLockRoundTrip(t, ref)
	})
}

func checkLockRoundTrip(t *testing.T, ref Ref) {
	t.Helper()
	source, resolved := ref.Source(), sha256sum
	switch ref.Kind {
	case KindName:
		return
	case KindGit:
		resolved = sha1sum
	case KindPath:
		resolved = ""
	}
	locked, err := ParseLocked(source, resolved, ref.ID)
	if err != nil || locked.Source() != source || locked.Kind != ref.Kind || locked.Subdir != ref.Subdir {
		t.Fatalf("ParseLocked(%q) = %+v, %v; it came from %+v", source, locked, err, ref)
	}
}

func BenchmarkParse(b *testing.B) {
	for _, s := range []string{"acme/deploy@^1.2", "git+https://host.example/r.git//packs/tools#v1.2.0", "oci://h.example/a/b:1.2.0"} {
		b.Run(s[:3], func(b *testing.B) {
			for b.Loop() {
				if _, err := Parse(s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
