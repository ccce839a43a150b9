package skillpm_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/publish"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// patient is a project with an installed pack, in a repository, with its own home.
type patient struct {
	t         *testing.T
	dir, home string
	env       map[string]string
	now       time.Time
	options   skillpm.DoctorOptions
}

func newPatient(t *testing.T) *patient {
	t.Helper()
	p := &patient{t: t, dir: t.TempDir(), home: t.TempDir(), env: map[string]string{}, now: time.Now()}
	writePack(t, filepath.Join(p.dir, "packs", "well"), "acme/well", "1.0.0", 2)
	if _, err := newAuthor(t, p.dir, p.home).Publish(t.Context(), publish.ReleaseOptions{Dir: filepath.Join(p.dir, "packs", "well")}); err != nil {
		t.Fatal(err)
	}
	p.install("acme/well")
	p.run("git", "init", "-q")
	p.run("git", "add", ".")
	return p
}

func (p *patient) client() *skillpm.Client {
	p.t.Helper()
	getenv := func(name string) string { return p.env[name] }
	env, err := environ.Environment{
		Paths:  scope.Paths{Home: p.home, Enterprise: filepath.Join(p.home, "enterprise")},
		Getenv: getenv, Now: func() time.Time { return p.now }, OS: runtime.GOOS, Version: "0.1.0",
	}.At(p.dir)
	if err != nil {
		p.t.Fatal(err)
	}
	c := skillpm.New(skillpm.Options{Environment: env})
	p.t.Cleanup(c.Close)
	return c
}

func (p *patient) install(packs ...string) {
	p.t.Helper()
	if _, err := p.client().Install(p.t.Context(), skillpm.InstallOptions{Packs: packs}); err != nil {
		p.t.Fatal(err)
	}
}

func (p *patient) run(name string, args ...string) {
	p.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("%s %v: %v: %s", name, args, err, out)
	}
}

func (p *patient) at(name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		return filepath.Join(p.home, filepath.FromSlash(rest))
	}
	return filepath.Join(p.dir, filepath.FromSlash(name))
}

func (p *patient) write(name, text string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(p.at(name)), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(p.at(name), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p *patient) appendTo(name, text string) {
	p.t.Helper()
	data, err := os.ReadFile(p.at(name))
	if err != nil {
		p.t.Fatal(err)
	}
	p.write(name, string(data)+text)
}

func (p *patient) remove(name string) {
	p.t.Helper()
	if err := os.RemoveAll(p.at(name)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *patient) link(name, target string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(p.at(name)), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.Symlink(target, p.at(name)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *patient) chmod(name string, mode os.FileMode) {
	p.t.Helper()
	if err := os.Chmod(p.at(name), mode); err != nil {
		p.t.Fatal(err)
	}
}

// symptom is an expected finding.
type symptom struct {
	check    string
	severity diag.Severity
	says     string // in the path or the message
	fix      string // in the fix
}

// TestDoctor creates each state that doctor detects, and checks that it reports exactly that finding.
func TestDoctor(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("states are made with links and modes")
	}
	const bad, warn, advice = diag.SeverityError, diag.SeverityWarning, diag.SeverityNote
	for _, tt := range []struct {
		name string
		make func(p *patient)
		want []symptom
	}{
		{"healthy", func(*patient) {}, nil},
		{"a manifest that can't be read", func(p *patient) { p.write("skillpm.yaml", "name: [") }, []symptom{{"files", bad, "skillpm.yaml", ""}}},
		{"a lock with merge markers", func(p *patient) { p.appendTo("skillpm.lock", "<<<<<<< HEAD\n") }, []symptom{{"files", bad, "skillpm.lock", ""}}},
		{"another skillpm is asked for", func(p *patient) { p.appendTo("skillpm.yaml", "skillpm: \">=9\"\n") }, []symptom{{"skillpm-version", bad, ">=9", "install a matching version"}}},
		{"interrupted", func(p *patient) { p.write(".skillpm/journal/stage/0/x", "x") }, []symptom{{"interrupted", bad, ".skillpm/journal", "skillpm install"}}},
		{"drift", func(p *patient) { p.appendTo("skillpm.yaml", "  acme/more: \"^1.0\"\n") }, []symptom{{"lock-drift", bad, "acme/more", "skillpm install"}}},
		{"no lock", func(p *patient) { p.remove("skillpm.lock"); p.remove(".skillpm"); p.remove(".agents") }, []symptom{{"lock-drift", warn, "skillpm.lock is missing", "skillpm install"}}},
		{"missing", func(p *patient) { p.remove(".skillpm/plugins/acme/well/well-0") }, []symptom{
			{"installed", bad, "well-0: is missing", "skillpm install"},
		}},
		{"edited", func(p *patient) { p.appendTo(".skillpm/plugins/acme/well/well-0/SKILL.md", "mine\n") }, []symptom{{"installed", warn, "well-0", "skillpm verify --fix"}}},
		{"a link elsewhere", func(p *patient) { p.remove(".agents/skills/well-0"); p.link(".agents/skills/well-0", "well-1") }, []symptom{{"installed", warn, "is a link that skillpm did not create", "move "}}},
		{"a link to what was installed once", func(p *patient) { p.link(".agents/skills/old", "../../.skillpm/plugins/acme/gone/old") }, []symptom{
			{"installed", warn, ".agents/skills/old", "skillpm verify --fix"},
		}},
		{"a dangling link of the user", func(p *patient) { p.link(".agents/skills/x", "/no/such/skill") }, []symptom{{"foreign-links", warn, "/no/such/skill", "remove the link"}}},
		{"another tool's link", func(p *patient) { p.write("other/x/SKILL.md", "x"); p.link(".agents/skills/x", "../../other/x") }, []symptom{{"foreign-links", advice, ": x", ""}}},
		{"one directory under two names", func(p *patient) { p.link(".claude", ".agents") }, nil},
		{"a hand-written skill before a pack's", func(p *patient) { p.write(".skillpm/skills/well-0/SKILL.md", "mine") }, []symptom{{"names", warn, "well-0", "--as"}}},
		{"the user's own skill before a pack's", func(p *patient) { p.write("~/.agents/skills/well-1/SKILL.md", "mine") }, []symptom{{"names", warn, "~/.agents/skills/well-1", "--as"}}},
		{"an agent's directory that leads out", func(p *patient) { p.link(".claude", t.TempDir()) }, []symptom{{"agent-directories", warn, ".claude/skills", "replace the link"}}},
		{"an agent's directory that is a file", func(p *patient) { p.remove(".agents"); p.write(".agents/skills", "x") }, []symptom{
			{"agent-directories", bad, "is not a directory", "move the file away"},
			{"installed", warn, ".agents/skills/well-0", ""},
			{"installed", warn, ".agents/skills/well-1", ""},
		}},
		{"an agent that is not there", func(p *patient) { p.appendTo("skillpm.yaml", "agents: [agents, goose]\n") }, []symptom{
			{"manifest-agents", advice, "Goose", ""},
			{"installed", bad, ".goose/skills", "skillpm install"},
		}},
		{"git ignores the lock", func(p *patient) {
			p.run("git", "rm", "-q", "--cached", "skillpm.lock")
			p.write(".gitignore", "*.lock\n")
		}, []symptom{{"git-ignore", bad, "skillpm.lock", "git add -f"}}},
		{"the manifest is not added", func(p *patient) { p.run("git", "rm", "-q", "--cached", "skillpm.yaml") }, []symptom{{"git-ignore", advice, "skillpm.yaml", "git add skillpm.yaml"}}},
		{"installed packs are in the repository", func(p *patient) { p.run("git", "add", "-f", ".skillpm/plugins") }, []symptom{{"git-ignore", warn, ".skillpm/plugins/", "git rm -r --cached"}}},
		{"no .gitignore", func(p *patient) { p.remove(".skillpm/.gitignore") }, []symptom{{"git-ignore", warn, ".skillpm/.gitignore", "printf"}}},
		{"hand-written skills are ignored", func(p *patient) {
			p.write(".skillpm/skills/own/SKILL.md", "mine")
			p.write(".gitignore", ".skillpm/\n")
		}, []symptom{{"git-ignore", warn, ".skillpm/skills/", ""}}},
		{"an outdated copy", func(p *patient) { p.vendor(); p.remove("vendor/skills/acme/well/well-0") }, []symptom{{"vendored", warn, "vendor/skills", "skillpm vendor"}}},
		{"a copy", func(p *patient) { p.vendor() }, nil},
		{"a copy that is ignored", func(p *patient) { p.vendor(); p.write(".gitignore", "/vendor\n") }, []symptom{{"vendored", warn, "git ignores vendor/skills", ""}}},
		{"settings that can't be read", func(p *patient) { p.write("~/.config/skillpm/config.yaml", "agents: 1: 2\n") }, []symptom{{"settings", bad, "config.yaml", ""}}},
		{"a clock of 1970", func(p *patient) { p.now = time.Unix(1000, 0) }, []symptom{{"clock", bad, "1970-01-01", "set the system clock"}}},
		{"a clock of 2100", func(p *patient) { p.now = time.Date(2100, 1, 2, 0, 0, 0, 0, time.UTC) }, []symptom{{"clock", bad, "2100-01-02", "set the system clock"}}},
		{"a clock that went back", func(p *patient) { p.now = p.now.AddDate(0, 0, -3) }, []symptom{{"clock", warn, "", "set the system clock"}}},
		{"a release that was seen in the future", func(p *patient) { p.write("~/.local/state/skillpm/seen/abc", "2090-01-01T00:00:00Z\n") }, []symptom{{"clock", warn, "seen/abc", "set the system clock"}}},
		{"leftovers", func(p *patient) {
			p.write("~/.cache/skillpm/store/tmp/w-dead/x", "x")
			old := p.now.AddDate(0, 0, -3)
			if err := os.Chtimes(p.at("~/.cache/skillpm/store/tmp/w-dead"), old, old); err != nil {
				p.t.Fatal(err)
			}
		}, []symptom{{"store", advice, "leftovers", "skillpm cache gc"}}},
		{"a damaged inventory", func(p *patient) {
			found, err := filepath.Glob(p.at("~/.cache/skillpm/store/t1/*/*/inventory"))
			if err != nil || len(found) == 0 {
				p.t.Fatal(err)
			}
			if err := os.WriteFile(found[0], []byte("no inventory"), 0o644); err != nil {
				p.t.Fatal(err)
			}
		}, []symptom{{"store", warn, "1 damaged", "skillpm cache verify"}}},
		{"a key that others may read", func(p *patient) { p.chmod("~/.local/state/skillpm/machine.key", 0o644) }, []symptom{{"machine-key", warn, "0644", "chmod 600"}}},
		{"a directory for a key", func(p *patient) {
			p.remove("~/.local/state/skillpm/machine.key")
			p.write("~/.local/state/skillpm/machine.key/x", "x")
		}, []symptom{{"machine-key", warn, "is not a valid key", "skillpm creates a new key"}}},
		{"publishers in a build that cannot verify them", func(p *patient) {
			p.write("~/.config/skillpm/config.yaml", "publishers: {acme: \"github:acme/skills\"}\n")
		}, []symptom{{"publishers", warn, "keyless signatures of acme", "skillpm-keyless"}}},
		{"a git program that is not there", func(p *patient) { p.write("~/.config/skillpm/config.yaml", "git: /no/such/git\n") }, []symptom{{"git-program", bad, "/no/such/git", "the built-in client"}}},
		{"a git program that is none", func(p *patient) { p.write("~/.config/skillpm/config.yaml", "git: /bin/sh\n") }, []symptom{{"git-program", bad, "does not print a git version", "the built-in client"}}},
		{"a secret in plain text", func(p *patient) {
			p.write("~/.docker/config.json", `{"auths": {"registry.example": {"auth": "c2VjcmV0OnNlc2FtZQ=="}, "empty.example": {}}}`)
		}, []symptom{{"docker-config", advice, "plain text for registry.example", "credsStore"}}},
		{"a secret that others may read", func(p *patient) {
			p.write("~/.docker/config.json", `{"auths": {"registry.example": {"auth": "c2VjcmV0OnNlc2FtZQ=="}}}`)
			p.chmod("~/.docker/config.json", 0o644)
		}, []symptom{{"docker-config", advice, "registry.example", ""}, {"docker-config", warn, "0644", "chmod 600"}}},
		{"a credential helper that is not there", func(p *patient) { p.write("~/.docker/config.json", `{"credsStore": "nosuchhelper"}`) }, []symptom{{"docker-config", bad, "docker-credential-nosuchhelper", "skillpm login"}}},
		{"credentials that are no JSON", func(p *patient) {
			p.write("~/.docker/config.json", `{"auths": {"registry.example": {"auth": sesame}}}`)
		}, []symptom{{"docker-config", bad, "invalid JSON at byte", "skillpm login"}}},
		{"elsewhere by DOCKER_CONFIG", func(p *patient) {
			p.env["DOCKER_CONFIG"] = p.at("~/docker")
			p.write("~/docker/config.json", `{"credHelpers": {"registry.example": "nosuchhelper"}}`)
		}, []symptom{{"docker-config", bad, "nosuchhelper", ""}}},
		{"a .netrc that others may read", func(p *patient) {
			p.write("~/.netrc", "machine git.example login me password sesame\n")
			p.chmod("~/.netrc", 0o640)
		}, []symptom{{"netrc", warn, "0640", "chmod 600"}}},
		{"a token that nothing uses", func(p *patient) {
			p.options.Variables = []string{"HOME", "SKILLPM_TOKEN_GIT_EXAMPLE", "SKILLPM_TOKEN_OTHER_EXAMPLE"}
			p.write("~/.config/skillpm/config.yaml", "registries: [\"https://git.example/index\"]\n")
		}, []symptom{{"token-variables", advice, "SKILLPM_TOKEN_OTHER_EXAMPLE", "unset"}}},
		{"a registry that is not asked", func(p *patient) {
			p.write("~/.config/skillpm/config.yaml", "registries: [\"https://127.0.0.1:1/index\"]\n")
		}, nil},
		{"a registry that does not answer", func(p *patient) {
			p.options.Online = true
			p.write("~/.config/skillpm/config.yaml", "registries: [\"oci://127.0.0.1:1/acme\"]\n")
		}, []symptom{{"registries", bad, "127.0.0.1:1", ""}}},
		{"a registry that answers", func(p *patient) {
			server := httptest.NewServer(http.NotFoundHandler())
			p.t.Cleanup(server.Close)
			p.options.Online = true
			p.write("~/.config/skillpm/config.yaml", fmt.Sprintf("registries: [\"oci://%s/acme\"]\n", strings.TrimPrefix(server.URL, "http://")))
		}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPatient(t)
			tt.make(p)
			before := snapshot(t, p.dir)
			r, err := p.client().Doctor(t.Context(), p.options)
			if err != nil {
				t.Fatal(err)
			}
			checkSymptoms(t, r, tt.want)
			if after := snapshot(t, p.dir); len(after) != len(before) {
				t.Error("doctor changed the project")
			}
		})
	}
}

// checkSymptoms compares findings with the expected ones, and checks that they have no secrets.
func checkSymptoms(t *testing.T, r *skillpm.DoctorReport, want []symptom) {
	t.Helper()
	trouble, found := false, r.Trouble()
	for _, w := range want {
		i := slices.IndexFunc(r.Findings, func(d skillpm.Diagnosis) bool {
			return d.Check == w.check && d.Severity == w.severity && strings.Contains(d.Path+" "+d.Message, w.says) && strings.Contains(d.Fix, w.fix)
		})
		if i < 0 {
			t.Errorf("nothing is found of %+v in %+v", w, r.Findings)
			continue
		}
		r.Findings = slices.Delete(r.Findings, i, i+1)
		trouble = trouble || w.severity != diag.SeverityNote
	}
	if len(r.Findings) > 0 {
		t.Errorf("found as well: %+v", r.Findings)
	}
	if text := fmt.Sprint(r); strings.Contains(text, "sesame") || strings.Contains(text, "c2VjcmV0") {
		t.Errorf("a secret is in %s", text)
	}
	if found != trouble || r.Checks == 0 {
		t.Errorf("trouble after %d checks: %v, want %v", r.Checks, found, trouble)
	}
}

func (p *patient) vendor() {
	p.t.Helper()
	if _, err := p.client().Vendor(p.t.Context(), skillpm.VendorOptions{}); err != nil {
		p.t.Fatal(err)
	}
}

// TestDoctorUser checks the user's installation, without a project.
func TestDoctorUser(t *testing.T) {
	p := newPatient(t)
	p.dir = t.TempDir()
	r, err := p.client().Doctor(t.Context(), skillpm.DoctorOptions{})
	if err != nil || len(r.Scopes) != 0 || len(r.Findings) != 0 {
		t.Errorf("nothing is installed: %+v, %v", r, err)
	}
	if _, err := p.client().Install(t.Context(), skillpm.InstallOptions{Packs: []string{"acme/well"}, ChangeOptions: skillpm.ChangeOptions{Scope: scope.KindUser}}); err != nil {
		t.Fatal(err)
	}
	p.remove("~/.skillpm/plugins/acme/well/well-0/SKILL.md")
	r, err = p.client().Doctor(t.Context(), skillpm.DoctorOptions{})
	if err != nil {
		t.Fatal(err)
	}
	checkSymptoms(t, r, []symptom{{"installed", diag.SeverityWarning, "well-0", "skillpm verify --fix --scope user"}})
}
