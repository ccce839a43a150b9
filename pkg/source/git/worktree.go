package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/source/git/internal/gitcmd"
)

const (
	maxSmallFile      = 1 << 20         // bytes of a file that names a directory, such as .git
	maxWorkTreeOutput = 256 << 20       // bytes that git may print about a work tree
	maxWorkTreeMemory = 1 << 30         // bytes of memory for git: a crafted tree can be endless
	maxWorkTreeTime   = 5 * time.Minute // for one command, which may block on a pipe
)

// ErrNoProgram reports that the git program is not installed. The state of a work tree cannot be read without it.
var ErrNoProgram error = diag.Errorf(diag.NotFound, "cannot find changes: git is not installed").
	WithHint("install git, or pass the files and directories as arguments")

// ErrNoWorkTree reports that a directory does not belong to a git repository.
var ErrNoWorkTree = errors.New("not in a git work tree")

// Changed returns the files of a work tree that differ from a commit: slash-separated paths in bytewise order, relative
// to root, which is the real path of the work tree that contains dir. They include deleted files and both names of a
// renamed file, because links to the old name must be checked again.
//
// If since is "", these are the files that differ from HEAD in the index or in the work tree, and untracked files that
// are not ignored. If since is a branch, a tag, or a commit, they include the files that differ between HEAD and its
// merge base with since, as in git diff since...HEAD. Before the first commit, every file is changed. Submodules and
// nested repositories are left out.
//
// Changed needs the git program and writes nothing. It runs no program that the repository's configuration names, so a
// file that a filter has written counts as changed unless its size and time are those of the index.
func Changed(ctx context.Context, dir, since string) (root string, paths []string, err error) {
	w, err := openWorkTree(ctx, dir)
	if err != nil {
		return "", nil, err
	}
	paths, err = w.changedSince(ctx, since)
	return w.root, paths, err
}

func (w *workTree) changedSince(ctx context.Context, since string) ([]string, error) {
	status, err := w.status(ctx)
	if err != nil {
		return nil, err
	}
	if since != "" && status.commit != "" {
		base, err := w.mergeBase(ctx, since)
		if err != nil {
			return nil, err
		}
		out, err := w.git(ctx, "", "diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff",
			"--no-textconv",
			"--ignore-submodules=all", "--end-of-options", base, "HEAD")
		if err != nil {
			return nil, err
		}
		for name := range strings.SplitSeq(string(out), "\x00") {
			if name != "" {
				status.changed[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(status.changed)), nil
}

// Checkout is the state of a work tree: its origin, commit, branch, and changed files.
type Checkout struct {
	Root   string // real path of the work tree
	Origin string // publishable URL of the remote, "" if there is none
	Commit string // HEAD, "" before the first commit
	Branch string // current branch, "" for a detached HEAD

	tree    *workTree
	changed map[string]bool // files, as in [Changed]
	tracked map[string]bool
}

// ReadCheckout reads the work tree that contains dir, with the git program. The error has the code [diag.NotFound] if
// dir is not in a work tree of this user.
func ReadCheckout(ctx context.Context, dir string) (*Checkout, error) {
	w, err := openWorkTree(ctx, dir)
	if err != nil {
		return nil, err
	}
	status, err := w.status(ctx)
	if err != nil {
		return nil, err
	}
	out, err := w.git(ctx, "", "ls-files", "-v", "-z")
	if err != nil {
		return nil, err
	}
	c := &Checkout{
		Root: w.root, Origin: publicURL(w.remote), Commit: status.commit, Branch: status.branch,
		tree: w, changed: status.changed, tracked: make(map[string]bool),
	}
	for line := range strings.SplitSeq(string(out), "\x00") {
		if path, ok := strings.CutPrefix(line, "H "); ok { // not assume-unchanged or skip-worktree
			c.tracked[path] = true
		}
	}
	return c, nil
}

// Changed returns the files that differ from the commit: sorted paths relative to the root.
func (c *Checkout) Changed() []string { return slices.Sorted(maps.Keys(c.changed)) }

// Committed reports whether the work tree has a file exactly as the commit has it.
func (c *Checkout) Committed(path string) bool { return !c.changed[path] && c.tracked[path] }

// TagCommits returns the commits that tags point to, without tags that do not exist or point to something else.
func (c *Checkout) TagCommits(ctx context.Context, tags ...string) (map[string]string, error) {
	args := []string{"for-each-ref", "--format=%(refname) %(objecttype) %(objectname) %(*objecttype) %(*objectname)", "--"}
	for _, tag := range tags {
		args = append(args, tagsPrefix+tag)
	}
	out, err := c.tree.git(ctx, "", args...)
	if err != nil {
		return nil, err
	}
	commits := make(map[string]string)
	for line := range bytes.Lines(out) {
		fields := strings.Fields(string(line))
		tag := strings.TrimPrefix(fields[0], tagsPrefix)
		if !slices.Contains(tags, tag) || len(fields) < 3 {
			continue
		}
		kind, id := fields[len(fields)-2], fields[len(fields)-1] // of what a tag object points to, if it is one
		if kind == "tag" {
			kind = "commit"
			if id, err = c.tree.revParse(ctx, tagsPrefix+tag+"^{commit}"); isGitError(err) {
				continue
			} else if err != nil {
				return nil, err
			}
		}
		if kind == "commit" {
			commits[tag] = id
		}
	}
	return commits, nil
}

// workTree runs git on a work tree.
type workTree struct {
	root    string // directory of the work tree
	shallow bool   // the history is truncated
	remote  string // URL of origin, or of the only remote
	program gitcmd.Program
}

// openWorkTree finds the work tree that contains dir. It passes the repository to git explicitly, so that git uses no
// other.
func openWorkTree(ctx context.Context, dir string) (*workTree, error) {
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = pathx.ResolveExisting(abs)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, diag.Errorf(diag.NotFound, "%s does not exist", dir)
	} else if err != nil {
		return nil, err
	}
	for root := abs; ; root = filepath.Dir(root) {
		gitDir, err := gitDirOf(root)
		if err != nil {
			return nil, err
		}
		if gitDir != "" {
			if err := checkOwner(root, gitDir); err != nil {
				return nil, err
			}
			return newWorkTree(ctx, root, gitDir)
		}
		if root == filepath.Dir(root) {
			return nil, diag.Errorf(diag.NotFound, "cannot find changes: %s is %w", dir, ErrNoWorkTree).
				WithHint("pass the files and directories as arguments instead")
		}
	}
}

func newWorkTree(ctx context.Context, root, gitDir string) (*workTree, error) {
	path, err := exec.LookPath("git")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", root, ErrNoProgram)
	}
	common, err := commonDir(gitDir)
	if err != nil {
		return nil, err
	}
	if err := checkRegular(gitDir, common); err != nil {
		return nil, err
	}
	w := &workTree{root: root, program: gitcmd.Program{
		Path: path, Dir: root, Env: workTreeEnvironment(root, gitDir), Settings: gitcmd.Hardened(),
		MaxOutput: maxWorkTreeOutput, MaxMemory: maxWorkTreeMemory,
	}}
	if info, err := os.Stat(filepath.Join(common, "shallow")); err == nil && info.Size() > 0 {
		w.shallow = true
	}
	return w, nil
}

// workTreeEnvironment is the user's environment without the variables by which git is told where to look and what to
// run. The user's own configuration stays: it has ignore files and line ends.
func workTreeEnvironment(root, gitDir string) []string {
	variables := []string{"GIT_CONFIG_GLOBAL=", "GIT_CONFIG_SYSTEM=", "GIT_CONFIG_NOSYSTEM="}
	env := slices.DeleteFunc((&exec.Cmd{}).Environ(), func(s string) bool {
		return strings.HasPrefix(strings.ToUpper(s), "GIT_") &&
			!slices.ContainsFunc(variables, func(name string) bool { return strings.HasPrefix(s, name) })
	})
	return append(env, "GIT_DIR="+gitDir, "GIT_WORK_TREE="+root, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0",
		"GIT_TERMINAL_PROMPT=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none")
}

// readConfig reads the remote from the configuration, and disables its filters one by one. They are the only commands
// that git status runs and that no single setting disables.
func (w *workTree) readConfig(ctx context.Context) error {
	out, err := w.git(ctx, "", "config", "--list", "--null")
	if err != nil {
		return err
	}
	remotes := make(map[string]string)
	for line := range strings.SplitSeq(string(out), "\x00") {
		key, value, _ := strings.Cut(line, "\n")
		section, rest, _ := strings.Cut(key, ".")
		dot := strings.LastIndexByte(rest, '.')
		if dot < 0 {
			continue
		}
		switch name, variable := rest[:dot], rest[dot+1:]; {
		case section == "remote" && variable == "url":
			if _, ok := remotes[name]; !ok {
				remotes[name] = value
			}
		case section == "filter" && strings.Contains(name, "="): // -c cannot express this key
			return diag.Errorf(diag.Invalid, "the git configuration of %s has a filter with the unsupported name %q",
				w.root, name).
				WithHint("pass the files and directories as arguments instead")
		case section == "filter":
			w.program.Settings = append(w.program.Settings, key+"=")
		}
	}
	if url, ok := remotes["origin"]; ok {
		w.remote = url
	} else if len(remotes) == 1 {
		for _, url := range remotes {
			w.remote = url
		}
	}
	return nil
}

// workTreeStatus is the output of git status.
type workTreeStatus struct {
	commit  string // HEAD, "" before the first commit
	branch  string // current branch, "" for a detached HEAD
	changed map[string]bool
	ids     map[string]string // index ids of files that may differ only by converted line endings
}

func (w *workTree) status(ctx context.Context) (*workTreeStatus, error) {
	if err := w.readConfig(ctx); err != nil { // no other command runs filters, except for hash-object later
		return nil, err
	}
	out, err := w.git(ctx, "", "status", "--porcelain=v2", "-z", "--branch", "--no-ahead-behind", "--no-renames",
		"--untracked-files=all", "--ignored=no", "--ignore-submodules=all")
	if err != nil {
		return nil, err
	}
	s, err := parseStatus(string(out))
	if err != nil {
		return nil, err
	}
	return s, w.dropConverted(ctx, s)
}

// dropConverted removes changed files whose content git would store unchanged. They differ from the index only in size,
// and git status shows them until git add updates it.
func (w *workTree) dropConverted(ctx context.Context, s *workTreeStatus) error {
	var names []string
	for name := range s.ids {
		info, err := os.Lstat(filepath.Join(w.root, filepath.FromSlash(name)))
		if err == nil && info.Mode().IsRegular() { // git hash-object would block on a pipe
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	out, err := w.run(ctx, strings.Join(names, "\n")+"\n", "hash-object", "--stdin-paths")
	if isGitError(err) { // a file has disappeared
		return nil
	}
	for i, id := range strings.Fields(string(out)) {
		if i < len(names) && id == s.ids[names[i]] {
			delete(s.changed, names[i])
		}
	}
	return err
}

// parseStatus reads the output of git status --porcelain=v2 -z (git-status(1)).
func parseStatus(out string) (*workTreeStatus, error) {
	s := &workTreeStatus{changed: make(map[string]bool), ids: make(map[string]string)}
	fields := map[byte]int{'1': 8, 'u': 10, '?': 1} // number of fields before the path
	for line := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		if header, ok := strings.CutPrefix(line, "# branch."); ok {
			switch key, value, _ := strings.Cut(header, " "); {
			case key == "oid" && isCommit(value):
				s.commit = value
			case key == "head" && value != "(detached)":
				s.branch = value
			}
			continue
		}
		if line == "" || line[0] == '#' {
			continue
		}
		count, ok := fields[line[0]]
		columns := strings.SplitN(line, " ", count+1)
		if !ok || len(columns) != count+1 {
			return nil, diag.Errorf(diag.Invalid, "unexpected output of git status: %q", line)
		}
		path := columns[count]
		if strings.HasSuffix(path, "/") { // a nested repository
			continue
		}
		for name := range strings.SplitSeq(path, "/") {
			if err := checkName(name); err != nil {
				return nil, diag.Errorf(diag.Invalid, "the git index contains %q: %w", path, err)
			}
		}
		s.changed[path] = true
		sameMode := line[0] == '1' && columns[1] == ".M" && columns[4] == columns[5] &&
			strings.HasPrefix(columns[4], "100")
		if sameMode && !strings.ContainsAny(path, "\r\n") {
			s.ids[path] = columns[7]
		}
	}
	return s, nil
}

// run runs git on the work tree.
func (w *workTree) run(ctx context.Context, input string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, maxWorkTreeTime,
		diag.Errorf(diag.Invalid, "git did not finish within %s in %s", maxWorkTreeTime, w.root).
			WithHint("check the work tree with: git status"))
	defer cancel()
	return w.program.Run(ctx, input, args...)
}

// git runs git and explains its errors. If git fails without a message, it found nothing: the output is empty.
func (w *workTree) git(ctx context.Context, input string, args ...string) ([]byte, error) {
	out, err := w.run(ctx, input, args...)
	failed, ok := errors.AsType[*gitcmd.Error](err)
	switch {
	case errors.Is(err, gitcmd.ErrOutput), ok && failed.Printed("out of memory", "Out of memory"):
		return nil, diag.Errorf(diag.Invalid, "%s contains too many files", w.root)
	case !ok:
		return out, err
	case failed.Stderr == "":
		return nil, nil
	case failed.Printed("index"):
		return nil, diag.Errorf(diag.Invalid, "cannot read the git index of %s: %w", w.root, failed)
	case failed.Printed("unable to read", "bad object", "bad tree", "bad default revision", "loose object", "corrupt"):
		return nil, diag.Errorf(diag.Integrity, "an object of %s is missing or damaged: %w", w.root, failed).
			WithHint("check the repository with: git fsck")
	}
	return nil, diag.Errorf(diag.Invalid, "git failed in %s: %w", w.root, failed)
}

// isGitError reports whether git ran and exited with an error.
func isGitError(err error) bool {
	_, ok := errors.AsType[*gitcmd.Error](err)
	return ok
}

// revParse returns the id of the object that a revision names. The error is a [*gitcmd.Error] if there is none.
func (w *workTree) revParse(ctx context.Context, rev string) (string, error) {
	out, err := w.run(ctx, "", "rev-parse", "--verify", "--end-of-options", rev)
	return string(bytes.TrimSpace(out)), err
}
