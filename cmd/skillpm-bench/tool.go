package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
)

// tool is a program that may be there.
type tool struct {
	name    string
	path    string // "" if it is not there
	version string
	why     string // why it is not used, if it is not there
}

// tools are the programs that are measured or needed.
type tools struct {
	skillpm, git, oras, skills, tar, cp tool
}

func (t tools) all() []tool { return []tool{t.skillpm, t.git, t.oras, t.skills, t.tar, t.cp} }

// none is what a flag says to leave a program out.
const none = "none"

// findTools looks for the peers on the PATH or where the flags say, and asks them for their version.
func (b *bench) findTools(ctx context.Context) {
	find := func(name, where string, version ...string) tool { return b.findTool(ctx, name, where, version) }
	b.tools.git = find("git", b.git, "--version")
	b.tools.oras = find("oras", b.oras, "version")
	b.tools.skills = find("skills", b.skills, "--version")
	b.tools.tar = find("tar", "")
	b.tools.cp = find("cp", "")
}

func (b *bench) findTool(ctx context.Context, name, where string, version []string) tool {
	t := tool{name: name}
	switch where {
	case none:
		t.why = "left out"
		return t
	case "":
		where = name
	}
	path, err := b.sys.lookPath(where)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		t.why = "not found"
		return t
	}
	if len(version) > 0 {
		out, err := output(ctx, b.dir, b.environFor("peer", path), path, version...)
		if err != nil {
			t.why = "did not print its version"
			b.note("%v", err)
			return t
		}
		first, _, _ := strings.Cut(out, "\n")
		t.version = strings.Join(strings.Fields(strings.TrimPrefix(first, "Version:")), " ")
	}
	t.path = path
	return t
}

// buildSkillpm builds skillpm as releases are built, unless the user has one.
func (b *bench) buildSkillpm(ctx context.Context) error {
	t := tool{name: "skillpm", path: b.skillpm}
	if t.path == "" {
		b.note("building skillpm")
		t.path = filepath.Join(b.dir, "skillpm")
		env := append(b.sys.Environ, "CGO_ENABLED=0")
		if _, err := output(ctx, "", env, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", t.path,
			"github.com/skillpm/skillpm/cmd/skillpm"); err != nil {
			return err
		}
	}
	path, err := filepath.Abs(t.path)
	if err != nil {
		return err
	}
	out, err := output(ctx, b.dir, b.environ("ours"), path, "version")
	if err != nil {
		return fmt.Errorf("skillpm did not print its version: %w", err)
	}
	t.path = path
	t.version, _, _ = strings.Cut(strings.TrimPrefix(out, "skillpm "), "\n")
	b.tools.skillpm = t
	return nil
}
