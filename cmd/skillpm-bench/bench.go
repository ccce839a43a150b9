package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// system is what a process has.
type system struct {
	Args    []string
	Self    string // the path of this program
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Environ []string
	Now     func() time.Time
}

// lookPath finds a program by name on the PATH, or by its path.
func (s system) lookPath(name string) (string, error) { return exec.LookPath(name) }

// bench is one run of this program: its directory, its servers, and the generated data.
type bench struct {
	options
	sys   system
	dir   string // all that is written is below it
	tools tools

	registry string // host:port of the OCI registry
	gitHost  string // of the git server, "" without git
	packs    map[string]benchPack
	stops    []func()
}

// open makes the directory and starts the servers. The caller closes b, with an error or without.
func (b *bench) open(ctx context.Context) error {
	if err := b.openDirectory(ctx); err != nil {
		return err
	}
	b.findTools(ctx)
	return b.startServers()
}

// openDirectory makes the directory, and builds skillpm.
func (b *bench) openDirectory(ctx context.Context) error {
	if b.parent != "" {
		if err := os.MkdirAll(b.parent, 0o755); err != nil {
			return err
		}
	}
	dir, err := os.MkdirTemp(b.parent, "skillpm-bench-")
	if err != nil {
		return err
	}
	if b.dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	b.stops = append(b.stops, func() { b.removeAll(ctx) })
	for _, who := range []string{"server", "ours", "peer"} {
		if err := b.fresh(b.home(who), b.project(who)); err != nil {
			return err
		}
	}
	return b.buildSkillpm(ctx)
}

func (b *bench) removeAll(ctx context.Context) {
	if b.keep && ctx.Err() == nil {
		b.note("kept the directory %s", b.dir)
		return
	}
	if err := os.RemoveAll(b.dir); err != nil {
		b.note("%v", err)
	}
}

func (b *bench) close() {
	for i := range b.stops {
		b.stops[len(b.stops)-1-i]()
	}
}

func (b *bench) startServers() error {
	dir := filepath.Join(b.dir, "registry")
	var stop func()
	var err error
	if b.registryProgram != "" {
		b.registry, stop, err = serveProgram(b.registryProgram, dir)
	} else {
		b.registry, stop, err = serveRegistry(dir)
	}
	if err != nil {
		return err
	}
	b.stops = append(b.stops, stop)
	if b.tools.git.path == "" {
		return nil
	}
	b.gitHost, stop, err = serveGit(b.tools.git.path, filepath.Join(b.dir, "git"), b.environ("server"))
	if err != nil {
		return err
	}
	b.stops = append(b.stops, stop)
	return nil
}

// note prints progress for people.
func (b *bench) note(format string, args ...any) {
	fmt.Fprintf(b.sys.Stderr, "skillpm-bench: "+format+"\n", args...)
}

// home and project are directories of a contestant: where its caches and what it throws away are, and where it installs
// to.
func (b *bench) home(who string) string    { return filepath.Join(b.dir, who, "home") }
func (b *bench) project(who string) string { return filepath.Join(b.dir, who, "project") }

// environ returns the environment of a measured process: nothing of the user's but the PATH, and no proxies.
func (b *bench) environ(who string) []string {
	home := b.home(who)
	path := ""
	for _, variable := range b.sys.Environ {
		if value, ok := strings.CutPrefix(variable, "PATH="); ok {
			path = value
		}
	}
	return []string{
		"PATH=" + path, "HOME=" + home, "TMPDIR=" + home, "LC_ALL=C",
		"XDG_CONFIG_HOME=" + filepath.Join(home, ".config"), "XDG_CACHE_HOME=" + filepath.Join(home, ".cache"),
		"XDG_DATA_HOME=" + filepath.Join(home, ".local", "share"), "XDG_STATE_HOME=" + filepath.Join(home, ".local", "state"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_TERMINAL_PROMPT=0",
		"DISABLE_TELEMETRY=1", "DO_NOT_TRACK=1",
	}
}

// environFor is environ for a program that may come with an interpreter in its directory, as npm's programs can.
func (b *bench) environFor(who, program string) []string {
	env := b.environ(who)
	env[0] = "PATH=" + filepath.Dir(program) + string(os.PathListSeparator) + strings.TrimPrefix(env[0], "PATH=")
	return env
}

// fresh makes directories that are empty.
func (b *bench) fresh(dirs ...string) error {
	for _, dir := range dirs {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// prune empties a directory but for some files.
func prune(dir string, keep ...string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !slices.Contains(keep, entry.Name()) {
			if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// haveSkills reports an error unless there are n skills somewhere below dir.
func haveSkills(dir string, n int) error {
	found := 0
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "SKILL.md" {
			found++
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil && found != n {
		err = fmt.Errorf("only %d of %d skills are installed", found, n)
	}
	return err
}

// pack returns the pack of n skills, generated and published. A negative n is a pack of -n MiB of large files.
func (b *bench) pack(ctx context.Context, n int) (benchPack, error) {
	name := fmt.Sprintf("pack-%d", n)
	if n < 0 {
		name = fmt.Sprintf("large-%d", -n)
	}
	if p, ok := b.packs[name]; ok {
		return p, nil
	}
	b.note("generating %s", name)
	dir := filepath.Join(b.dir, "packs", name)
	var p benchPack
	var err error
	if n < 0 {
		p, err = generateLarge(dir, name, -n)
	} else {
		p, err = generate(dir, name, n)
	}
	if err != nil {
		return p, err
	}
	repository := "oci://" + b.registry + "/" + owner
	if _, err := output(ctx, dir, b.environ("server"), b.tools.skillpm.path, "publish", "--to",
		repository); err != nil {
		return p, err
	}
	if b.gitHost != "" {
		if err := b.makeRepository(ctx, p); err != nil {
			return p, err
		}
	}
	b.packs[name] = p
	return p, nil
}

// ociRepository and gitURL are where a pack was published.
func (b *bench) ociRepository(p benchPack) string {
	return b.registry + "/" + owner + "/" + p.Name + ":" + version
}

func (b *bench) gitURL(p benchPack) string {
	return "http://" + b.gitHost + "/" + owner + "/" + p.Name + ".git"
}
