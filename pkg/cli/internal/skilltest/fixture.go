package skilltest

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// Limits of a copied skill.
const (
	maxCopied    = 10_000
	maxCopySize  = 256 << 20
	maxCopyDepth = 32
)

// fixture is the environment of one case.
type fixture struct {
	dir   string // temporary directory
	skill string // the copied skill
	host  *runtime.Host
	mocks bool
	warn  func(string)
}

func (w *fixture) project() string { return filepath.Join(w.dir, "project") }
func (w *fixture) home() string    { return filepath.Join(w.dir, "home") }
func (w *fixture) bin() string     { return filepath.Join(w.dir, "bin") }
func (w *fixture) log() string     { return filepath.Join(w.dir, "ran") }

// newFixture creates a fixture. The caller closes it.
func newFixture(ctx context.Context, dir string, f *File, c *Case, o Options) (*fixture, error) {
	temp, err := os.MkdirTemp("", "skillpm-test-")
	if err != nil {
		return nil, err
	}
	w := &fixture{dir: temp, warn: o.warn}
	if err := w.fill(ctx, dir, f, c, o); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// fill creates the directories, copies the skill, and opens the runtime.
func (w *fixture) fill(ctx context.Context, dir string, f *File, c *Case, o Options) (err error) {
	if w.dir, err = pathx.ResolveExisting(w.dir); err != nil {
		return err
	}
	w.skill = filepath.Join(w.dir, "skills", filepath.Base(dir))
	for _, d := range []string{w.project(), w.home(), w.bin(), w.skill, filepath.Join(w.dir, "tmp")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return err
		}
	}
	if err := copySkill(dir, w.skill); err != nil {
		return err
	}
	for _, files := range []map[string]string{f.Files, c.Files} {
		if err := w.write(files); err != nil {
			return err
		}
	}
	if err := os.WriteFile(w.log(), nil, 0o600); err != nil {
		return err
	}
	commands := maps.Clone(f.Commands)
	if commands == nil {
		commands = map[string]Command{}
	}
	maps.Copy(commands, c.Commands)
	if err := w.mock(commands); err != nil {
		return err
	}
	return w.open(ctx, f, c, o)
}

func (w *fixture) close() { os.RemoveAll(w.dir) }

// open opens a runtime that serves only this skill.
func (w *fixture) open(ctx context.Context, f *File, c *Case, o Options) (err error) {
	id := o.Profile
	for _, named := range []string{f.Profile, c.Profile} {
		if named != "" {
			id = named
		}
	}
	if id == "" {
		id = profile.Runtime
	}
	enterprise := o.Enterprise
	if enterprise == "" {
		enterprise = filepath.Join(w.dir, "enterprise")
	}
	w.host, err = runtime.New(ctx, runtime.Options{
		Environment: environ.Environment{
			Paths: scope.Paths{
				Home: w.home(), Config: o.Config, Data: filepath.Join(w.dir, "data"),
				Cache: filepath.Join(w.dir, "cache"),
				State: filepath.Join(w.dir, "state"), Enterprise: enterprise,
			},
			Dir: w.project(), OS: o.OS, Admin: o.Admin, Getenv: w.getenv(o.Getenv), Now: o.Now,
			Environ: func() []string { return []string{} },
		},
		Projects: o.Projects, As: o.As, Helper: o.Helper, Writable: []string{w.log()},
		Confine: o.Confine, Settings: &pack.Config{},
		Profile: id, Session: "test", Agent: f.Agent, Tenant: f.Tenant, SkillEnvironment: f.Environment,
		Layers: []profile.Layer{{Name: "test", Dirs: []string{filepath.Dir(w.skill)}}},
	})
	return err
}

// getenv is the environment of a case: the caller's without the user's own variables.
func (w *fixture) getenv(outer func(string) string) func(string) string {
	return func(name string) string {
		switch {
		case name == "HOME" || name == "USERPROFILE":
			return w.home()
		case name == "TMPDIR" || name == "TEMP" || name == "TMP":
			return filepath.Join(w.dir, "tmp")
		case strings.HasPrefix(name, "SKILLPM_") || outer == nil:
			return ""
		case name == "PATH" && w.mocks:
			return w.bin() + string(filepath.ListSeparator) + outer(name)
		}
		return outer(name)
	}
}

// name returns the name of the only skill, or the reason why it is not available.
func (w *fixture) name(ctx context.Context) (string, error) {
	c, err := w.host.Catalog(ctx)
	if err != nil {
		return "", err
	}
	if skills := c.Skills(); len(skills) == 1 {
		return skills[0].Name, nil
	}
	id := w.host.Profile().ID
	for _, f := range c.Findings() {
		return "", diag.Errorf(diag.Invalid, "the skill is not available under profile %s: %s", id, w.stable(f.Message))
	}
	for _, e := range c.All() {
		return "", diag.Errorf(diag.Invalid,
			"the skill is not available under profile %s, because the skill is %s", id, e.State).
			WithHint(
				"set agent, tenant, or environment in the test file if the skill is for certain agents, tenants, or environments")
	}
	return "", diag.Errorf(diag.Invalid, "the skill is not available under profile %s", id)
}

// placeholders are the placeholders for a case's directories, in its input and in expected texts.
func (w *fixture) placeholders() []string {
	return []string{w.skill, "{skill-dir}", w.project(), "{project-dir}", w.home(), "{home-dir}", w.dir, "{test-dir}"}
}

// stable replaces the directories of the case in a text with their placeholders.
func (w *fixture) stable(text string) string {
	return strings.NewReplacer(w.placeholders()...).Replace(text)
}

// expandPlaceholders is the reverse of stable.
func (w *fixture) expandPlaceholders(text string) string {
	placeholders := w.placeholders()
	slices.Reverse(placeholders)
	return strings.NewReplacer(placeholders...).Replace(text)
}

// expandPlaceholdersIn expands placeholders in all texts of a value.
func (w *fixture) expandPlaceholdersIn(v any) any {
	switch v := v.(type) {
	case string:
		return w.expandPlaceholders(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = w.expandPlaceholdersIn(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[k] = w.expandPlaceholdersIn(v[k])
		}
		return out
	}
	return v
}

// write writes files into the project.
func (w *fixture) write(files map[string]string) error {
	root, err := os.OpenRoot(w.project())
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !fs.ValidPath(name) || name == "." {
			return diag.Errorf(diag.Invalid, "files: %q is not a path inside the project", name)
		}
		if dir := path.Dir(name); dir != "." {
			if err := root.MkdirAll(dir, 0o700); err != nil {
				return err
			}
		}
		if err := root.WriteFile(name, []byte(files[name]), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// mock writes the mocked commands of a case to the first directory of PATH. They are scripts that need only a shell.
func (w *fixture) mock(commands map[string]Command) error {
	if len(commands) == 0 {
		return nil
	}
	if goruntime.GOOS == "windows" {
		return diag.Errorf(diag.Invalid, "commands: skillpm cannot replace programs on Windows").
			WithHint("run the tests in WSL, or on another system")
	}
	w.mocks = true
	for name, c := range commands {
		if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00\n") {
			return diag.Errorf(diag.Invalid, "commands: %q is not the name of a program", name)
		}
		if strings.ContainsRune(c.Stdout+c.Stderr, 0) || c.Exit < 0 || c.Exit > 255 {
			return diag.Errorf(diag.Invalid,
				"commands: %s needs text as output, and an exit code from 0 to 255", name)
		}
		text := fmt.Sprintf(`#!/bin/sh
line=%s
for a; do line="$line $a"; done
printf '%%s\n' "$line" >>%s
printf %%s %s
printf %%s %s >&2
exit %d
`, quote(name), quote(w.log()), quote(c.Stdout), quote(c.Stderr), c.Exit)
		err := os.WriteFile(filepath.Join(w.bin(), name), []byte(text), 0o700) //nolint:gosec // must be executable
		if err != nil {
			return err
		}
	}
	return nil
}

// quote quotes a text for a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// mockedRuns returns the mocked commands that ran, in order.
func (w *fixture) mockedRuns() []string {
	data, err := safefile.ReadFile(w.log(), maxFile)
	if err != nil || len(data) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(w.stable(string(data)), "\n"), "\n")
}

// copySkill copies a skill's pack files. A link that leads out of the skill is an error.
func copySkill(src, dst string) error {
	source, err := os.OpenRoot(src)
	if err != nil {
		return diag.Errorf(diag.NotFound, "cannot open the skill's directory: %w", err)
	}
	defer source.Close()
	target, err := os.OpenRoot(dst)
	if err != nil {
		return err
	}
	defer target.Close()
	c := copier{source: source, target: target}
	return fs.WalkDir(source.FS(), ".", c.visit)
}

type copier struct {
	source, target *os.Root
	files          int
	size           int64
}

func (c *copier) visit(name string, e fs.DirEntry, err error) error {
	switch {
	case err != nil:
		return err
	case name == ".":
		return nil
	case bundle.Ignored(name, e.IsDir()):
		if e.IsDir() {
			return fs.SkipDir
		}
		return nil
	}
	if c.files++; c.files > maxCopied {
		return diag.Errorf(diag.Invalid, "the skill has more than %d files", maxCopied)
	}
	if strings.Count(name, "/") > maxCopyDepth {
		return diag.Errorf(diag.Invalid, "the path %s has more than %d directories", name, maxCopyDepth)
	}
	info, err := e.Info()
	if err != nil {
		return err
	}
	switch {
	case e.IsDir():
		return c.target.Mkdir(name, 0o700)
	case info.Mode()&fs.ModeSymlink != 0:
		return c.link(name)
	case !info.Mode().IsRegular():
		return diag.Errorf(diag.Invalid, "%s is not a regular file", name)
	}
	if c.size += info.Size(); c.size > maxCopySize {
		return diag.Errorf(diag.Invalid, "the skill is larger than %d bytes", maxCopySize)
	}
	data, err := safefile.ReadIn(c.source.FS(), name, maxCopySize)
	if err != nil {
		return err
	}
	return c.target.WriteFile(name, data, info.Mode().Perm()|0o600)
}

// link copies a link whose target is inside the skill.
func (c *copier) link(name string) error {
	target, err := c.source.Readlink(name)
	if err != nil {
		return err
	}
	if filepath.IsAbs(target) || !filepath.IsLocal(filepath.Join(filepath.Dir(filepath.FromSlash(name)), target)) {
		return diag.Errorf(diag.Invalid, "the link %s points outside the skill", name)
	}
	return c.target.Symlink(target, name)
}
