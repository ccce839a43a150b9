package git

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/source/git/internal/gitcmd"
)

// Branch is a branch of a repository, with the commit that it had when it was read.
type Branch struct {
	Ref    pack.Ref
	Name   string // such as main
	Commit string // "" if the branch does not exist, such as in an empty repository
}

// newBranch is the branch that a push to an empty repository creates.
const newBranch = "main"

// Branch reads a branch: that of the reference's revision, or the default branch.
func (c *Client) Branch(ctx context.Context, ref pack.Ref) (_ Branch, err error) {
	defer func() { err = httpx.PreferContext(ctx, err) }()
	b := Branch{Ref: ref, Name: ref.Rev}
	refs, err := c.refs(ctx, ref)
	_, isEmpty := errors.AsType[emptyError](err)
	switch {
	case isEmpty, err == nil && len(refs.all) == 0:
		b.Name = cmp.Or(ref.Rev, newBranch)
		return b, nil
	case err != nil:
		return b, err
	case ref.Rev == "":
		b.Name, err = refs.defaultBranch(ref)
	case refs.all[tagsPrefix+ref.Rev] != "" || isCommit(ref.Rev):
		return b, diag.Errorf(diag.Usage, "%s is not a branch of %s", ref.Rev, ref.URL)
	}
	b.Commit = refs.all[headsPrefix+b.Name]
	return b, err
}

// defaultBranch returns the name of the default branch. Servers report only its commit, which may be that of several
// branches.
func (r *refs) defaultBranch(ref pack.Ref) (string, error) {
	var names []string
	for full, commit := range r.all {
		if name, ok := strings.CutPrefix(full, headsPrefix); ok && (commit == r.head || r.head == "") {
			names = append(names, name)
		}
	}
	for _, usual := range []string{newBranch, "master"} {
		if slices.Contains(names, usual) {
			return usual, nil
		}
	}
	if len(names) == 1 {
		return names[0], nil
	}
	slices.Sort(names)
	return "", diag.Errorf(diag.Usage, "cannot find the default branch of %s", ref.URL).
		WithHint("name a branch, such as %s#%s", refText(ref), append(names, newBranch)[0])
}

// ReadFile reads a regular file at the branch's commit, with at most limit bytes. The error is [fs.ErrNotExist] if it
// does not exist, and has the code [diag.Invalid] if it is a link.
func (c *Client) ReadFile(ctx context.Context, b Branch, name string, limit int64) ([]byte, error) {
	if b.Commit == "" {
		return nil, fs.ErrNotExist
	}
	ref := b.Ref
	ref.Digest = b.Commit
	tree, err := c.tree(pack.WithSkills(ctx, nil), ref)
	if err != nil {
		return nil, err
	}
	f, err := tree.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil {
		return nil, err
	} else if info.IsDir() {
		return nil, diag.Errorf(diag.Invalid, "cannot read %s in %s: it is a directory", name, ref.URL)
	} else if info.Size() > limit {
		return nil, diag.Errorf(diag.Invalid, "cannot read %s in %s: it has %d bytes; the limit is %d", name, ref.URL,
			info.Size(), limit)
	}
	return io.ReadAll(io.LimitReader(f, limit))
}

// Push commits files on a branch, and pushes the commit with the git program. The content nil removes a file. It returns
// the new commit, or that of the branch if the files are the same there. If the branch has another commit than b, the
// error has the code [diag.Conflict], and the branch stays as it is.
//
// The author is that of the user's git settings. Git runs in a temporary repository, as for a transfer, so that it runs
// neither hooks, also of a repository on this machine, nor programs that a setting names, except for the user's ssh.
func (c *Client) Push(ctx context.Context, b Branch, files map[string][]byte, message string) (_ string, err error) {
	defer func() { err = httpx.PreferContext(ctx, err) }()
	p, err := c.pushRemote(b.Ref)
	if err != nil {
		return "", err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	commit, err := p.push(ctx, b, files, message)
	if p.url.Scheme != "ssh" && !p.triedCredentials && wantsCredentials(err) { // reading may be possible without them
		p.triedCredentials = true
		var secretErr error
		if p.secret, secretErr = c.secret(ctx, p.url); secretErr != nil {
			return "", secretErr
		}
		commit, err = p.push(ctx, b, files, message)
	}
	return commit, p.explain(ctx, err)
}

// pushRemote is [Client.remote], also for a repository on this machine.
func (c *Client) pushRemote(ref pack.Ref) (*remote, error) {
	if !isLocal(ref) {
		return c.remote(ref)
	}
	u, err := url.Parse(ref.URL)
	if err != nil {
		return nil, diag.Errorf(diag.Usage, "invalid repository URL %q", ref.URL)
	}
	return &remote{client: c, url: u}, nil
}

func (p *remote) push(ctx context.Context, b Branch, files map[string][]byte, message string) (_ string, err error) {
	g, err := p.openProgram(ctx, false)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	defer p.wait(ctx).End()
	g.author = p.client.author(ctx, g.path)
	ctx, watchdog := p.client.watchProgram(ctx)
	defer watchdog.stop()
	commit, err := g.commit(ctx, b, files, message)
	if err != nil || commit == b.Commit {
		return commit, err
	}
	branch := headsPrefix + b.Name
	args := []string{
		"push", "--quiet", "--no-verify", "--no-signed", "--recurse-submodules=no",
		"--force-with-lease=" + branch + ":" + b.Commit,
	}
	if p.url.Scheme == "file" { // git starts the receiver itself, and does not pass it the settings
		args = append(args, "--receive-pack="+g.receiver())
	}
	_, err = g.runUnexplained(ctx, "", append(args, "--end-of-options", "origin", commit+":"+branch)...)
	if failed, ok := errors.AsType[*gitcmd.Error](err); ok {
		return "", g.explainRejected(failed)
	}
	return commit, err
}

// receiver returns the shell command that receives a push into a repository on this machine, without its hooks. It does
// not write to a work tree, which would run filters.
func (g *program) receiver() string {
	words := []string{"'" + strings.ReplaceAll(g.path, "'", `'\''`) + "'"}
	for _, setting := range append(gitcmd.Hardened(), "receive.denyCurrentBranch=refuse") {
		words = append(words, "-c '"+setting+"'")
	}
	return strings.Join(append(words, "receive-pack"), " ")
}

// commit creates a commit in the temporary repository. Without a change, it returns the branch's commit.
func (g *program) commit(ctx context.Context, b Branch, files map[string][]byte, message string) (string, error) {
	id := func(stdin string, args ...string) (string, error) {
		out, err := g.run(ctx, stdin, args...)
		if text := strings.TrimSpace(string(out)); err != nil || isCommit(text) {
			return text, err
		}
		return "", diag.Errorf(diag.Internal, "git %s did not print an id", args[0])
	}
	before, parent := "", []string(nil)
	if b.Commit != "" {
		_, err := g.run(ctx, b.Commit+"\n", "fetch", "--quiet", "--no-tags", "--no-write-fetch-head",
			"--no-recurse-submodules", "--depth=1", "--stdin", "--end-of-options", "origin")
		if err == nil {
			_, err = g.run(ctx, "", "read-tree", b.Commit)
		}
		if err == nil {
			before, err = id("", "rev-parse", "--verify", b.Commit+"^{tree}")
		}
		switch {
		case err != nil && isRefusal(err):
			return "", errMoved()
		case err != nil:
			return "", err
		}
		parent = []string{"-p", b.Commit}
	}
	var index strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		mode, blob := "0", plumbing.ZeroHash.String() // removes the entry
		if files[name] != nil {
			var err error
			if blob, err = id(string(files[name]), "hash-object", "-w", "--stdin"); err != nil {
				return "", err
			}
			mode = "100644"
		}
		index.WriteString(mode + " " + blob + "\t" + name + "\n")
	}
	if _, err := g.run(ctx, index.String(), "update-index", "--index-info"); err != nil {
		return "", err
	}
	tree, err := id("", "write-tree")
	if err != nil || tree == before {
		return b.Commit, err
	}
	return id(message+"\n", append([]string{"commit-tree", tree}, parent...)...)
}

// errMoved reports that the branch has another commit than when it was read.
func errMoved() error {
	return diag.Errorf(diag.Conflict, "cannot push: the branch changed in the meantime").WithHint("run the command again")
}

// explainRejected converts git's error output of a push into an error.
func (g *program) explainRejected(failed *gitcmd.Error) error {
	switch {
	case failed.Printed("stale info", "fetch first", "non-fast-forward", "cannot lock ref", "failed to update ref"):
		return errMoved()
	case failed.Printed("[remote rejected]", "hook declined"):
		_, reason, _ := strings.Cut(failed.Stderr, "[remote rejected]")
		reason, _, _ = strings.Cut(reason, "\n")
		return diag.Errorf(diag.Denied, "cannot push: the server rejected the commit: %s", g.remote.sanitize(textx.OneLine(reason)))
	}
	return g.explain(failed)
}

// author returns the variables with the author of commits: that of the user's git settings, or skillpm. Reading the
// settings runs no program.
func (c *Client) author(ctx context.Context, git string) []string {
	names := map[string]string{"user.name": "skillpm", "user.email": "skillpm@localhost"}
	for key := range names {
		cmd := exec.CommandContext(ctx, git, "config", "--get", key)
		cmd.Dir = filepath.VolumeName(git) + string(filepath.Separator)
		cmd.Env = []string{"GIT_DIR=" + os.DevNull}
		for _, name := range []string{
			"HOME", "HOMEDRIVE", "HOMEPATH", "USERPROFILE", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM",
		} { // HOME is usually not set on Windows
			if value := c.options.Getenv(name); value != "" {
				cmd.Env = append(cmd.Env, name+"="+value)
			}
		}
		out, err := cmd.Output()
		if text := strings.TrimSpace(string(out)); err == nil && text != "" {
			names[key] = text
		}
	}
	var env []string
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		env = append(env, "GIT_"+who+"_NAME="+names["user.name"], "GIT_"+who+"_EMAIL="+names["user.email"])
	}
	return env
}
