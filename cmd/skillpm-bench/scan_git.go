package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// errNoObject means that a clone does not have a file's content.
var errNoObject = errors.New("the clone does not have the content")

// collection is a directory with clones of repositories.
type collection struct {
	dir          string
	repositories []string // owner/name
}

// tree is HEAD of a repository: its regular files, without links.
type tree struct {
	files  map[string]string // object ids by path
	in     io.WriteCloser
	out    *bufio.Reader
	finish func() error
}

// open lists the files of a repository, and starts a process that reads them.
func (c collection) open(ctx context.Context, repository string) (*tree, error) {
	dir := filepath.Join(c.dir, strings.ReplaceAll(repository, "/", "+"))
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("%w\nclone it with: git clone https://github.com/%s %s", err, repository, dir)
	}
	list, err := git(ctx, dir, "ls-tree", "-r", "-z", "HEAD").Output()
	if err != nil {
		return nil, fmt.Errorf("cannot list %s: %w", dir, err)
	}
	t := &tree{files: map[string]string{}}
	for entry := range strings.SplitSeq(string(list), "\x00") {
		head, name, _ := strings.Cut(entry, "\t")
		if f := strings.Fields(head); len(f) == 3 && strings.HasPrefix(f[0], "100") && fs.ValidPath(name) {
			t.files[name] = f[2]
		}
	}
	cmd := git(ctx, dir, "cat-file", "--batch")
	if t.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	t.out = bufio.NewReader(out)
	t.finish = cmd.Wait
	return t, cmd.Start()
}

// git returns a command that reads a repository, and that does not fetch what a partial clone omits.
func git(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
	cmd.Env = append(cmd.Environ(), "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0")
	return cmd
}

func (t *tree) close() {
	t.in.Close()
	_ = t.finish()
}

// read returns the content of a file.
func (t *tree) read(name string) ([]byte, error) {
	id, ok := t.files[name]
	if !ok {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	}
	if _, err := io.WriteString(t.in, id+"\n"); err != nil {
		return nil, err
	}
	head, err := t.out.ReadString('\n')
	if err != nil {
		return nil, err
	}
	f := strings.Fields(head)
	if len(f) != 3 || f[1] != "blob" {
		return nil, &fs.PathError{Op: "read", Path: name, Err: errNoObject}
	}
	size, err := strconv.Atoi(f[2])
	if err != nil {
		return nil, err
	}
	data := make([]byte, size+1) // and a newline
	if _, err := io.ReadFull(t.out, data); err != nil {
		return nil, err
	}
	return data[:size], nil
}

// under returns the paths of the files below a directory, in order.
func (t *tree) under(dir string) []string {
	var names []string
	for name := range t.files {
		if dir == "." || strings.HasPrefix(name, dir+"/") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// skill reads the files of a skill, without those of skills below it if alone is true.
func (t *tree) skill(dir string, alone bool) (map[string][]byte, error) {
	files := map[string][]byte{}
	var nested []string
	for _, name := range t.under(dir) {
		if parent := path.Dir(name); alone && path.Base(name) == "SKILL.md" && parent != dir {
			nested = append(nested, parent+"/")
		}
	}
	for _, name := range t.under(dir) {
		if slices.ContainsFunc(nested, func(d string) bool { return strings.HasPrefix(name, d) }) {
			continue
		}
		data, err := t.read(name)
		if err != nil {
			return nil, err
		}
		if dir != "." {
			name = name[len(dir)+1:]
		}
		files[name] = data
	}
	if len(files) == 0 {
		return nil, &fs.PathError{Op: "read", Path: dir, Err: errNoObject}
	}
	return files, nil
}

// skills returns the directories with a SKILL.md below a directory, in order.
func (t *tree) skills(under string) []string {
	var dirs []string
	for _, name := range t.under(under) {
		if path.Base(name) == "SKILL.md" {
			dirs = append(dirs, path.Dir(name))
		}
	}
	return dirs
}
