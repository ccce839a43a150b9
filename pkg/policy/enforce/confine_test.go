package enforce_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
)

// TestConfine checks O13: what a skill requests in execution, how policies change it, and what is refused.
func TestConfine(t *testing.T) {
	home := t.TempDir()
	project := filepath.Join(home, "project")
	for _, dir := range []string{project, filepath.Join(project, ".git", "hooks"), filepath.Join(home, "reports"), filepath.Join(home, ".ssh")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(home, "reports"), filepath.Join(project, "link")); err != nil {
		t.Fatal(err)
	}
	skill := filepath.Join(home, "skills", "a")
	for _, test := range []struct {
		name     string
		request  enforce.Request
		machine  string // its policy, "" for none
		user     string
		write    []string // from the home directory; nil where nothing is confined
		network  string
		optional bool
		err      string
	}{
		{name: "nothing"},
		{name: "no sandbox", request: enforce.Request{Sandbox: "false", Network: []string{"true"}}},
		{name: "a sandbox", request: enforce.Request{Sandbox: "true"}, write: []string{"project"}, network: "no network"},
		{name: "a sandbox with a name", request: enforce.Request{Sandbox: "docker"}, write: []string{"project"}, network: "no network"},
		{name: "no network", request: enforce.Request{Network: []string{"false"}}, write: []string{"project"}, network: "no network"},
		{name: "the network", request: enforce.Request{Sandbox: "true", Network: []string{"true"}}, write: []string{"project"}, network: "any network"},
		{name: "hosts", request: enforce.Request{Network: []string{"API.example.com:443"}}, write: []string{"project"}, network: "network api.example.com:443"},
		{name: "no host", request: enforce.Request{Network: []string{"https://example.com/"}}, err: "requests execution.network"},
		{name: "a word that is no host", request: enforce.Request{Network: []string{"bogus"}}, err: "requests execution.network"},
		{name: "this machine", request: enforce.Request{Network: []string{"localhost:80"}}, write: []string{"project"}, network: "network localhost:80"},
		{name: "skillpm's own", request: enforce.Request{AllowedPaths: []string{"./skillpm-policy.yaml"}}, err: "which skillpm itself uses: no skill may"},
		{name: "skillpm's own, by its directory", request: enforce.Request{AllowedPaths: []string{"./.skillpm/skills"}}, machine: "execution: {paths: [~/project]}", err: "which skillpm itself uses: no skill may"},
		{name: "git's, of a skill that asks", request: enforce.Request{AllowedPaths: []string{".git/hooks"}}, write: []string{"project/.git/hooks"}, network: "no network"},
		{
			name: "git's, where all are confined", request: enforce.Request{AllowedPaths: []string{".git/hooks"}}, machine: "execution: {sandbox: always, paths: [~/project]}",
			err: "requests execution.allowed-paths .git/hooks, which policy",
		},
		{
			name: "an agent's that is not there yet", request: enforce.Request{AllowedPaths: []string{".claude"}}, machine: "execution: {sandbox: always}",
			err: "requests execution.allowed-paths .claude, which policy",
		},
		{
			name: "git's, where the policy names it", request: enforce.Request{AllowedPaths: []string{".git/hooks"}}, machine: "execution: {sandbox: always, paths: [~/project/.git]}",
			write: []string{"project/.git/hooks"}, network: "no network",
		},
		{name: "no paths at all", request: enforce.Request{AllowedPaths: []string{}}, write: []string{}, network: "no network"},
		{name: "restricted", request: enforce.Request{Sandbox: "true", Network: []string{"restricted"}}, write: []string{"project"}, network: "no network"},
		{
			name: "restricted to what the policy lists", request: enforce.Request{Sandbox: "true", Network: []string{"restricted"}},
			machine: "execution: {network: [example.com]}", write: []string{"project"}, network: "network example.com",
		},
		{name: "paths in place of the directory", request: enforce.Request{AllowedPaths: []string{"./build", "~/reports"}}, write: []string{"project/build", "reports"}, network: "no network"},
		{name: "temporary files", request: enforce.Request{AllowedPaths: []string{"/tmp", "."}}, write: []string{"/tmp", "project"}, network: "no network"},
		{name: "its own directory", request: enforce.Request{AllowedPaths: []string{"~/skills/a/data"}}, err: "which is in the skill's own directory"},
		{name: "a path with a variable that is not known", request: enforce.Request{AllowedPaths: []string{"$HOME/x"}}, err: "requests execution.allowed-paths"},
		{
			name: "always", machine: "execution: {sandbox: always}", write: []string{"project"}, network: "no network",
		},
		{
			name: "always, and hosts", machine: "execution: {sandbox: always, network: ['*.example.com:443']}", write: []string{"project"}, network: "network *.example.com:443",
		},
		{
			name: "all of the network is as much as is listed", request: enforce.Request{Network: []string{"true"}},
			machine: "execution: {sandbox: always, network: [example.com]}", write: []string{"project"}, network: "network example.com",
		},
		{
			name: "both bound", request: enforce.Request{Sandbox: "true", Network: []string{"restricted"}}, machine: "execution: {network: ['*.example.com:443', other.test]}",
			user: "execution: {network: [api.example.com]}", write: []string{"project"}, network: "no network",
		},
		{
			name: "a host that is not listed", request: enforce.Request{Network: []string{"evil.example:443"}}, machine: "execution: {network: [example.com]}",
			err: "requests execution.network evil.example:443, which policy",
		},
		{
			name: "a path that is not listed", request: enforce.Request{AllowedPaths: []string{"~/reports"}}, machine: "execution: {paths: [/srv]}",
			err: "requests execution.allowed-paths ~/reports, which policy",
		},
		{
			name: "temporary files that are not listed", request: enforce.Request{AllowedPaths: []string{"/tmp"}}, machine: "execution: {sandbox: always}",
			err: "requests execution.allowed-paths /tmp, which policy",
		},
		{
			name: "a link to where the policy does not allow", request: enforce.Request{AllowedPaths: []string{"link"}}, machine: "execution: {paths: []}",
			err: "requests execution.allowed-paths link, which policy",
		},
		{
			name: "a path that is listed", request: enforce.Request{AllowedPaths: []string{"~/reports/2026"}}, machine: "execution: {sandbox: always, paths: [~/reports]}",
			write: []string{"reports/2026"}, network: "no network",
		},
		{
			name: "the user tightens", machine: "execution: {network: ['*'], paths: [/srv]}", user: "execution: {sandbox: always, network: []}",
			request: enforce.Request{Network: []string{"example.com:443"}}, err: "which policy",
		},
		{name: "allowed by the machine", request: enforce.Request{Sandbox: "true"}, machine: "execution: {unavailable: allow}", write: []string{"project"}, network: "no network", optional: true},
		{name: "allowed by the user", request: enforce.Request{Sandbox: "true"}, user: "execution: {unavailable: allow}", write: []string{"project"}, network: "no network", optional: true},
		{
			name: "not allowed by the user where there is a machine's", request: enforce.Request{Sandbox: "true"}, machine: "mode: enforce", user: "execution: {unavailable: allow}",
			write: []string{"project"}, network: "no network",
		},
		{name: "only observed", machine: "mode: audit\nexecution: {sandbox: always}"},
		{name: "broken", machine: "execution: {sandbox: sometimes}", err: "sometimes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			etc, config := t.TempDir(), t.TempDir()
			for dir, text := range map[string]string{etc: test.machine, config: test.user} {
				if text == "" {
					continue
				}
				if err := os.WriteFile(filepath.Join(dir, enforce.PolicyName), []byte("version: 1\n"+text+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			paths := scope.Paths{Home: home, Config: config, State: filepath.Join(home, "state"), Enterprise: etc}
			g := enforce.Open(enforce.Options{Files: enforce.Files{Paths: paths, OS: "linux", Admin: os.Getuid()}})
			r, notes, err := g.Confine(enforce.Skill{Name: "a", Dir: skill}, test.request, enforce.Directories{Dir: skill, Work: project, Project: project})
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("%v, want %s", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if test.write == nil {
				if r != nil || strings.Contains(test.machine, "audit") != (len(notes) == 1) {
					t.Errorf("%+v %q, want nothing", r, notes)
				}
				return
			}
			var want []string
			for _, w := range test.write {
				if !filepath.IsAbs(w) {
					w = filepath.Join(home, w)
				}
				want = append(want, w)
			}
			if r == nil || !slices.Equal(r.Write, want) || !strings.HasSuffix(r.String(), test.network) || r.Optional != test.optional {
				t.Fatalf("%s %+v, want to write to %v, %s", r, r, want, test.network)
			}
			hooks := filepath.Join(project, ".git")
			if !slices.Contains(r.Read, skill) || !slices.Contains(r.Keep, hooks) || !slices.Contains(r.Hidden, filepath.Join(home, ".ssh")) || !slices.Contains(r.Hidden, paths.State) {
				t.Errorf("reads %v, hides %v", r.Read, r.Hidden)
			}
		})
	}
}
