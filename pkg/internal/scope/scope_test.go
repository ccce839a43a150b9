package scope_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/scope"
)

type packID string

func (p packID) String() string { return string(p) }

// abs converts a slash-separated path to an absolute path, on every system.
func abs(t *testing.T, p string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		p = "C:" + p
	}
	return filepath.FromSlash(p)
}

func TestNew(t *testing.T) {
	home := abs(t, "/home/me")
	for _, tt := range []struct {
		name, os string
		env      map[string]string
		want     scope.Paths
	}{
		{"linux", "linux", nil, scope.Paths{
			Config: "/home/me/.config/skillpm", Data: "/home/me/.local/share/skillpm", Cache: "/home/me/.cache/skillpm",
			State: "/home/me/.local/state/skillpm", Enterprise: "/etc/skillpm",
		}},
		{"XDG", "linux", map[string]string{
			"XDG_CONFIG_HOME": "/c", "XDG_DATA_HOME": "/d/", "XDG_CACHE_HOME": "/e", "XDG_STATE_HOME": "relative/is/ignored",
		}, scope.Paths{
			Config: "/c/skillpm", Data: "/d/skillpm", Cache: "/e/skillpm",
			State: "/home/me/.local/state/skillpm", Enterprise: "/etc/skillpm",
		}},
		{"macOS", "darwin", nil, scope.Paths{
			Config: "/home/me/.config/skillpm", Data: "/home/me/.local/share/skillpm", Cache: "/home/me/Library/Caches/skillpm",
			State: "/home/me/.local/state/skillpm", Enterprise: "/Library/Application Support/skillpm",
		}},
		{"Windows", "windows", map[string]string{"APPDATA": "/roam", "LOCALAPPDATA": "/local"}, scope.Paths{
			Config: "/roam/skillpm", Data: "/local/skillpm/data", Cache: "/local/skillpm/cache", State: "/local/skillpm/state",
			Enterprise: `C:\ProgramData\skillpm`,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			getenv := func(k string) string {
				if v := tt.env[k]; strings.HasPrefix(v, "/") {
					return abs(t, v)
				}
				return tt.env[k]
			}
			got, err := scope.New(scope.Env{Home: home, Getenv: getenv, OS: tt.os})
			if err != nil {
				t.Fatal(err)
			}
			if got.Home != home || got.Enterprise != tt.want.Enterprise {
				t.Errorf("home %s, enterprise %s", got.Home, got.Enterprise)
			}
			for _, dir := range []struct{ what, got, want string }{
				{"config", got.Config, tt.want.Config},
				{"data", got.Data, tt.want.Data},
				{"cache", got.Cache, tt.want.Cache},
				{"state", got.State, tt.want.State},
				{"config file", got.ConfigFile(), tt.want.Config + "/config.yaml"},
				{"store", got.Store(), tt.want.Cache + "/store"},
				{"git", got.GitCache(), tt.want.Cache + "/git"},
				{"http", got.HTTPCache(), tt.want.Cache + "/http"},
				{"local", got.Local(), tt.want.Data + "/layout"},
			} {
				if dir.got != abs(t, dir.want) {
					t.Errorf("%s is %s, want %s", dir.what, dir.got, abs(t, dir.want))
				}
			}
		})
	}
}

func TestNewHome(t *testing.T) {
	home := abs(t, "/home/you")
	for _, tt := range []struct{ os, variable string }{{"linux", "HOME"}, {"windows", "USERPROFILE"}} {
		p, err := scope.New(scope.Env{OS: tt.os, Getenv: func(k string) string {
			if k == tt.variable {
				return home
			}
			return ""
		}})
		if err != nil || p.Home != home {
			t.Errorf("%s: %s, %v", tt.os, p.Home, err)
		}
	}
	for _, bad := range []string{"", "relative"} {
		if _, err := scope.New(scope.Env{Home: bad, OS: "linux"}); err == nil || diag.HintOf(err) == "" {
			t.Errorf("home %q: %v", bad, err)
		}
	}
}

// layout creates directories (with a trailing slash) and files below a new directory, and a user's paths there.
func layout(t *testing.T, names ...string) (string, scope.Paths) {
	t.Helper()
	root := t.TempDir()
	for _, name := range append(names, "home/") {
		p := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p+"x"), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(p, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	paths, err := scope.New(scope.Env{Home: filepath.Join(root, "home"), Dir: root, OS: "linux"})
	if err != nil {
		t.Fatal(err)
	}
	return root, paths
}

// TestProject checks that the project is the nearest skillpm.yaml upward, and never the home directory.
func TestProject(t *testing.T) {
	root, paths := layout(t,
		"skillpm.yaml", "home/skillpm.yaml", "home/.skillpm/skillpm.yaml", "home/.skillpm/plugins/a/b/", "home/x/y/",
		"home/p/skillpm.yaml", "home/p/q/", "home/p/.skillpm/plugins/a/b/c/", "home/p/n/skillpm.yaml", "srv/a/")
	for _, tt := range []struct {
		dir, want string
		found     bool
	}{
		{"home/p", "home/p", true},
		{"home/p/q", "home/p", true},
		{"home/p/n", "home/p/n", true},
		{"home/p/.skillpm/plugins/a/b/c", "home/p", true},
		{"home/x/y", "home/x/y", false}, // not the home directory's, and not the one above it
		{"srv/a", ".", true},
		{"", ".", true},
	} {
		for _, dir := range []string{tt.dir, filepath.Join(root, tt.dir)} { // relative to Env.Dir, and absolute
			got, found, err := paths.Project(dir)
			if want := filepath.Join(root, tt.want); err != nil || got.Root != want || found != tt.found || got.Kind != scope.KindProject {
				t.Errorf("%s: %+v, %t, %v, want %s, %t", dir, got, found, err, want, tt.found)
			}
		}
	}
	for _, dir := range []string{"home", "home/.skillpm", "home/.skillpm/plugins/a/b"} {
		_, _, err := paths.Project(dir)
		var home *scope.HomeError
		if !errors.As(err, &home) || diag.CodeOf(err) != diag.Usage || !strings.Contains(diag.HintOf(err), "--scope user") {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

func TestProjectRefuses(t *testing.T) {
	root, paths := layout(t, "a/skillpm.yaml/", "b/skillpm.yaml", "file")
	for _, tt := range []struct {
		dir  string
		code diag.Code
	}{
		{"a", diag.Invalid}, {"missing", diag.NotFound}, {"file", diag.Usage}, {"b/skillpm.yaml", diag.Usage},
	} {
		if _, _, err := paths.Project(tt.dir); diag.CodeOf(err) != tt.code {
			t.Errorf("%s: %v (%s), want %s", tt.dir, err, diag.CodeOf(err), tt.code)
		}
	}
	if err := os.MkdirAll(filepath.Join(root, "b", "broken"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(root, "b", "broken", "skillpm.yaml")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	// Not the project above it, because the user named this one.
	if _, _, err := paths.Project("b/broken"); diag.CodeOf(err) != diag.Invalid {
		t.Errorf("a broken link: %v", err)
	}
}

// TestProjectHomeByAnotherName checks that the home directory is recognized under every name.
func TestProjectHomeByAnotherName(t *testing.T) {
	root, paths := layout(t, "home/skillpm.yaml", "home/x/")
	if err := os.Symlink("home", filepath.Join(root, "alias")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	var home *scope.HomeError
	if _, _, err := paths.Project("alias"); !errors.As(err, &home) {
		t.Errorf("%v", err)
	}
	if got, found, err := paths.Project("alias/x"); err != nil || found || got.Root != filepath.Join(root, "alias", "x") {
		t.Errorf("%+v, %t, %v", got, found, err)
	}
}

func TestScopePaths(t *testing.T) {
	project := scope.Scope{Kind: scope.KindProject, Root: abs(t, "/p")}
	paths, err := scope.New(scope.Env{Home: abs(t, "/h"), OS: "linux"})
	if err != nil {
		t.Fatal(err)
	}
	user := paths.User()
	id := packID("acme/deploy")
	for _, tt := range []struct{ got, want string }{
		{project.Manifest(), "/p/skillpm.yaml"},
		{project.Lock(), "/p/skillpm.lock"},
		{project.Dir(), "/p/.skillpm"},
		{project.Plugins(), "/p/.skillpm/plugins"},
		{project.Plugin(id), "/p/.skillpm/plugins/acme/deploy"},
		{project.PluginSkill(id, "rollback"), "/p/.skillpm/plugins/acme/deploy/rollback"},
		{project.Links(), "/p/.skillpm/links"},
		{project.Link("k8s"), "/p/.skillpm/links/k8s"},
		{project.Skills(), "/p/.skillpm/skills"},
		{project.State(), "/p/.skillpm/state"},
		{project.Journal(), "/p/.skillpm/journal"},
		{project.LockFile(), "/p/.skillpm/lock"},
		{project.Ignore(), "/p/.skillpm/.gitignore"},
		{project.Abs(".agents/skills"), "/p/.agents/skills"},
		{user.Manifest(), "/h/.skillpm/skillpm.yaml"},
		{user.Lock(), "/h/.skillpm/skillpm.lock"},
		{user.Plugin(id), "/h/.skillpm/plugins/acme/deploy"},
		{user.Abs(".claude/skills"), "/h/.claude/skills"},
	} {
		if tt.got != abs(t, tt.want) {
			t.Errorf("got %s, want %s", tt.got, abs(t, tt.want))
		}
	}
	for _, tt := range []struct {
		s               scope.Scope
		path, rel, show string
	}{
		{project, "/p/.skillpm/plugins", ".skillpm/plugins", ".skillpm/plugins"},
		{project, "/p", ".", "."},
		{project, "/px", "", "/px"},
		{project, "/", "", "/"},
		{user, "/h/.claude/skills", ".claude/skills", "~/.claude/skills"},
		{user, "/h", ".", "~"},
	} {
		rel, err := tt.s.Rel(abs(t, tt.path))
		if rel != tt.rel || (err == nil) != (tt.rel != "") {
			t.Errorf("Rel(%s) = %q, %v, want %q", tt.path, rel, err, tt.rel)
		}
		want := tt.show
		if tt.rel == "" {
			want = abs(t, tt.path)
		}
		if got := tt.s.Show(abs(t, tt.path)); got != want {
			t.Errorf("Show(%s) = %q, want %q", tt.path, got, want)
		}
	}
}

// TestMachine checks the path of the enterprise layer, and that no user setting moves it (O15).
func TestMachine(t *testing.T) {
	moved := map[string]string{"XDG_CONFIG_HOME": "/u/c", "XDG_CACHE_HOME": "/u/k", "XDG_STATE_HOME": "/u/s", "XDG_DATA_HOME": "/u/d"}
	for _, test := range []struct{ os, lock, cache, state string }{
		{"linux", "/etc/skillpm/skillpm.lock", "/var/cache/skillpm", "/var/lib/skillpm"},
		{"darwin", "/Library/Application Support/skillpm/skillpm.lock", "/Library/Application Support/skillpm/cache", "/Library/Application Support/skillpm/lib"},
	} {
		if filepath.Separator != '/' {
			t.Skip("these are paths of Unix")
		}
		p, err := scope.New(scope.Env{Home: "/home/ada", OS: test.os, Getenv: func(name string) string { return moved[name] }})
		if err != nil {
			t.Fatal(err)
		}
		s, m := p.Machine(), p.ForMachine()
		if s.Lock() != test.lock || m.Cache != test.cache || m.State != test.state || s.Kind != scope.KindEnterprise {
			t.Errorf("%s: %s %+v", test.os, s.Lock(), m)
		}
		for _, dir := range []string{m.Config, m.Data, m.Cache, m.State} {
			if strings.HasPrefix(dir, "/u/") || strings.HasPrefix(dir, "/home/") {
				t.Errorf("%s: %s is a user's", test.os, dir)
			}
		}
		if filepath.Dir(s.Plugins()) != p.Enterprise {
			t.Errorf("%s: %s", test.os, s.Plugins())
		}
	}
}
