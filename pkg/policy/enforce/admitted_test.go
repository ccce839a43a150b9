package enforce_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
)

// TestStateOfProject checks that records in a project do not count, whatever path the environment has for them.
func TestStateOfProject(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the paths are those of Linux")
	}
	project, home, other := t.TempDir(), t.TempDir(), t.TempDir()
	t.Chdir(project)
	for link, target := range map[string]string{filepath.Join(home, "link"): project, filepath.Join(other, "loop"): "loop"} {
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
	}
	open := func(home, state string, projects ...string) *enforce.Evaluator {
		paths := scope.Paths{Home: home, State: state}
		return enforce.Open(enforce.Options{Files: enforce.Files{Paths: paths, OS: "linux", Admin: os.Getuid()}, Projects: projects})
	}
	for _, dir := range []string{project, other} {
		if err := open(home, filepath.Join(dir, "s")).RecordVerified([]string{"claim"}); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		home, state, project string
		want                 bool
	}{
		{home, filepath.Join(other, "s"), project, true},
		{home, filepath.Join(project, "s"), project, false},
		{home, filepath.Join(project, "s"), filepath.Join(home, "link"), false},
		{home, "/proc/self/cwd/s", project, false},
		{home, "/proc/self/root" + project + "/s", project, false},
		{home, filepath.Join(home, "link/s"), project, false},
		{home, filepath.Join(other, "loop/s"), project, false},
		{"/proc/self/cwd", filepath.Join(project, "s"), project, false},
		{project, filepath.Join(project, "s"), project, true}, // the user works in the home directory
	} {
		if got := open(test.home, test.state, test.project).Verified("claim"); got != test.want {
			t.Errorf("home %s, state %s, project %s: verified %t", test.home, test.state, test.project, got)
		}
	}
}
