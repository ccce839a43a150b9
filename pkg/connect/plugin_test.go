package connect

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"

	"github.com/skillpm/skillpm/pkg/internal/scope"
)

// TestPlugin proves O26 for an agent whose hooks are a plugin: the plugin denies calls without skillpm unless the user
// chooses otherwise, starts the program with any name, is replaced if it is of another version, and goes with the
// record lost. A file that skillpm did not create stays.
func TestPlugin(t *testing.T) {
	for _, program := range []string{"skillpm", `C:\Program Files\skillpm.exe`, `/a "b" 'c' $d/skillpm`, "/ü\u2028/skillpm"} {
		e := newEnv(t)
		o := options(t, Hook, "opencode", Project)
		o.Program = program
		r := must(t, Install, e, o)
		if !r.FailClosed || !strings.Contains(read(t, r.File), "const failClosed = true") {
			t.Errorf("%s: the plugin does not deny calls without skillpm", program)
		}
		no := false
		o.FailClosed = &no
		if r := must(t, Install, e, o); r.FailClosed || !strings.Contains(read(t, r.File), "const failClosed = false") {
			t.Errorf("%s: the plugin denies calls without skillpm", program)
		}
		o.FailClosed = nil
		if r := must(t, Install, e, o); r.Changed || r.FailClosed {
			t.Errorf("%s: the choice does not stay", program)
		}
		any := o
		any.Program = ""
		if r, err := Status(e, any); err != nil || r.State != Installed || r.Program != program {
			t.Errorf("%s: %+v, %v", program, r, err)
		}
		if got := Files(e); !slices.Contains(got, r.File) {
			t.Errorf("%s: files with hooks: %q", program, got)
		}
		write(t, r.File, read(t, r.File)+"\n// more\n")
		if r, err := Status(e, o); err != nil || r.State != Stale || !strings.Contains(r.Reason, "another version") {
			t.Errorf("%s: %+v, %v", program, r, err)
		}
		if err := os.Remove(e.recordFile()); err != nil {
			t.Fatal(err)
		}
		must(t, Remove, e, o)
		if _, err := os.Stat(r.File); err == nil {
			t.Errorf("%s: the plugin is still there", program)
		}
	}
	e := newEnv(t)
	o := options(t, Hook, "opencode", Project)
	file := must(t, Install, e, o).File
	write(t, file, "export const Mine = async () => ({})\n")
	if s := state(t, e, o); s != Foreign {
		t.Errorf("another's plugin: %s", s)
	}
	for _, change := range []func() error{
		func() error { _, err := Install(t.Context(), e, o); return err },
		func() error { _, err := Remove(t.Context(), e, o); return err },
	} {
		if err := change(); diag.CodeOf(err) != diag.Conflict || !strings.Contains(diag.TextOf(err), "remove the file") {
			t.Errorf("another's plugin: %v", err)
		}
	}
	if !strings.Contains(read(t, file), "Mine") {
		t.Error("another's plugin was changed")
	}
	o.Force = true
	if r := must(t, Install, e, o); r.State != Installed {
		t.Errorf("forced: %+v", r)
	}
}

// TestFiles proves K7: an agent cannot write to the files with its hooks from a directory below the project, and those
// of the user and the project also count if only the machine has hooks.
func TestFiles(t *testing.T) {
	for _, agent := range IDs(Hook) {
		e := newEnv(t)
		want := must(t, Install, e, options(t, Hook, agent, Project)).File
		for _, dir := range []string{"", "a", "a/b/c"} {
			below := e
			if below.Project = filepath.Join(e.Project, dir); !slices.Contains(Files(below), want) {
				t.Errorf("%s in %q: %s is missing in %q", agent, dir, want, Files(below))
			}
		}
	}
	e := newEnv(t)
	for _, agent := range IDs(Hook) {
		must(t, Install, e, options(t, Hook, agent, Project))
	}
	for _, want := range []string{
		".claude/settings.local.json", ".codex/config.toml", ".copilot/settings.json", ".gemini/trustedFolders.json",
	} {
		if !slices.Contains(Files(e), filepath.Join(e.Home, filepath.FromSlash(want))) {
			t.Errorf("%s, which can switch hooks off, is missing", want)
		}
	}
	for os, want := range map[string]string{
		"linux": "/etc/gemini-cli/settings.json", "darwin": "/Library/Application Support/GeminiCli/settings.json",
	} {
		e := Env{OS: os, Machine: scope.Enterprise(os)}
		if got := filepath.ToSlash(e.machine("gemini-cli/settings.json")); got != want {
			t.Errorf("the machine's file on %s is %s, want %s", os, got, want)
		}
	}
}
