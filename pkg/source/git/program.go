package git

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/transport"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/source/git/internal/gitcmd"
	"github.com/skillpm/skillpm/pkg/source/git/internal/packfile"
)

// program runs the git binary for one operation, in a temporary bare repository whose configuration has only the
// server's URL. Git reads no configuration of the system, the user, or another repository, and only the environment
// variables in [passedVariables]. It runs no hooks, never prompts, and checks nothing out. For SSH, it runs the user's
// ssh command, which reads ~/.ssh/config. The pack that it fetches is read and verified like any other.
type program struct {
	path   string
	dir    string
	remote *remote
	filter bool
	url    *url.URL // of the remote, for git
	ssh    []string // variables with the ssh command
	author []string // variables with the author of commits, for a push
}

// openProgram creates the temporary repository.
func (p *remote) openProgram(ctx context.Context, filter bool) (*program, error) {
	if err := p.client.options.Named.Check(ctx, p.url); err != nil {
		return nil, err
	}
	name := cmp.Or(p.program(), "git")
	path, err := exec.LookPath(name)
	if err != nil {
		return nil, diag.Errorf(diag.NotFound, "cannot find the git program %s: %w", name, err).
			WithHint("change the setting git, or remove the setting to use the built-in client")
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	root, err := p.client.cacheRoot()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(root, "tmp-")
	if err != nil {
		return nil, err
	}
	g := &program{path: path, dir: dir, remote: p, filter: filter, url: p.url}
	if p.url.Scheme == "ssh" {
		settings := p.sshSettings(ctx)
		g.url, g.ssh = settings.url, settings.env
	}
	if err := g.prepare(); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// prepare writes the files of a minimal bare repository (gitrepository-layout(5)).
func (g *program) prepare() error {
	address := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(g.url.String())
	config := "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[remote \"origin\"]\n\turl = \"" + address + "\"\n"
	if g.filter {
		config += "\tpromisor = true\n[extensions]\n\tpartialClone = origin\n"
	}
	for _, dir := range []string{"objects/pack", "refs"} {
		if err := os.MkdirAll(filepath.Join(g.dir, filepath.FromSlash(dir)), 0o755); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(g.dir, "config"), []byte(config), 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(g.dir, "HEAD"), []byte("ref: refs/heads/none\n"), 0o644)
}

// Close removes the repository.
func (g *program) Close() error { return os.RemoveAll(g.dir) }

// settings returns the configuration for git's command line. The last value of a key wins, so no file overrides these.
func (g *program) settings() []string {
	list := append(gitcmd.Hardened(),
		"protocol.https.allow=always", "protocol.ssh.allow=always", "protocol.version=2",
		"http.followRedirects=false", "http.lowSpeedLimit=1",
		fmt.Sprintf("http.lowSpeedTime=%d", int(stallTimeout.Seconds())),
		"fetch.unpackLimit=1", "transfer.unpackLimit=1", "fetch.negotiationAlgorithm=noop",
		"fetch.writeCommitGraph=false", "fetch.bundleURI=", "transfer.bundleURI=false",
	)
	if scheme := g.remote.url.Scheme; scheme == "http" || scheme == "file" { // package source allows http only for this machine
		list = append(list, "protocol."+scheme+".allow=always")
	}
	return list
}

// passedVariables are the environment variables that git receives, to find programs, the ssh agent, proxies, and
// certificates. Those of proxies are also passed in lower case.
var passedVariables = []string{
	"PATH", "SSH_AUTH_SOCK", "USER", "LOGNAME", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "USERPROFILE", "APPDATA",
	"LOCALAPPDATA",
	"PROGRAMDATA", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR",
	"GIT_SSL_CAINFO",
}

// environ returns git's environment. It holds the credentials, because other users can read a command line. Over HTTP,
// HOME is the temporary directory, so that libcurl finds no .netrc and uses only the client's credentials.
func (g *program) environ() []string {
	env := []string{
		"LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=",
		"GIT_DIR=" + g.dir, "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1", "GIT_ATTR_NOSYSTEM=1",
		fmt.Sprintf("GIT_ALLOC_LIMIT=%d", g.allocation()),
	}
	env = append(env, g.author...)
	for _, name := range passedVariables {
		names := []string{name}
		if strings.HasSuffix(name, "_PROXY") {
			names = append(names, strings.ToLower(name))
		}
		for _, name := range names {
			if v := g.remote.client.options.Getenv(name); v != "" {
				env = append(env, name+"="+v)
			}
		}
	}
	u, s := g.remote.url, g.remote.secret
	if u.Scheme == "ssh" {
		return append(append(env, g.ssh...), "HOME="+g.remote.client.options.Home)
	}
	env = append(env, "HOME="+g.dir)
	if s.pass != "" {
		basic := base64.StdEncoding.EncodeToString([]byte(s.user + ":" + s.pass))
		env = append(env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=http."+u.Scheme+"://"+u.Host+"/.extraHeader",
			"GIT_CONFIG_VALUE_0=Authorization: Basic "+basic)
	}
	return env
}

// allocation returns the most bytes that git may allocate at once. It suffices for the largest allowed object or list.
func (g *program) allocation() int64 {
	l := g.remote.client.limits
	return max(l.refs, l.packs.Object, 1<<20)
}

// run runs git in the repository and returns its standard output.
func (g *program) run(ctx context.Context, stdin string, args ...string) ([]byte, error) {
	out, err := g.runUnexplained(ctx, stdin, args...)
	if failed, ok := errors.AsType[*gitcmd.Error](err); ok {
		return nil, g.explain(failed)
	}
	return out, err
}

// runUnexplained is [program.run] with git's own error.
func (g *program) runUnexplained(ctx context.Context, stdin string, args ...string) ([]byte, error) {
	limits := g.remote.client.limits
	p := gitcmd.Program{
		Path: g.path, Dir: g.dir, Env: g.environ(), Settings: g.settings(), MaxOutput: limits.refs,
		MaxMemory: limits.memory,
	}
	out, err := p.Run(ctx, stdin, args...)
	if errors.Is(err, gitcmd.ErrOutput) {
		return nil, packfile.TooLarge("the server sent too much data")
	}
	return out, err
}

// listWithProgram reads the references of a server.
func (p *remote) listWithProgram(ctx context.Context) (*refs, error) {
	g, err := p.openProgram(ctx, false)
	if err != nil {
		return nil, err
	}
	defer func() { _ = g.Close() }() // the repository is temporary
	ctx, watchdog := p.client.watchProgram(ctx)
	defer watchdog.stop()
	out, err := g.run(ctx, "", "ls-remote", "--quiet", "--end-of-options", "origin", "HEAD", "refs/heads/*",
		"refs/tags/*")
	if err != nil {
		return nil, err
	}
	r := &refs{all: make(map[string]string)}
	for line := range bytes.Lines(out) {
		id, name, ok := strings.Cut(strings.TrimRight(string(line), "\r\n"), "\t")
		if !ok || !isCommit(id) {
			continue
		}
		if name == "HEAD" {
			r.head = id
		}
		tag, peeled := strings.CutSuffix(name, "^{}")
		if peeled { // the target of a tag follows the tag
			r.addTagObject(tag, plumbing.NewHash(r.all[tag]))
		}
		r.add(tag, plumbing.NewHash(id))
	}
	if len(r.all) == 0 && r.head == "" {
		return nil, transport.ErrEmptyRemoteRepository
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	return r, nil
}

// transferWithProgram fetches objects with git and returns the pack.
func (p *remote) transferWithProgram(ctx context.Context, w want) (io.ReadCloser, error) {
	g, err := p.openProgram(ctx, w.trees || !w.shallow)
	if err != nil {
		return nil, err
	}
	defer p.wait(ctx).End()
	pack, err := g.fetch(ctx, w)
	if err == nil || !w.shallow || w.trees || !isRefusal(err) {
		return pack, err
	}
	_ = g.Close() // the next one has its own
	if listed := p.connectWithRetry(ctx); listed != nil || p.refs.contains(w.ids[0].String()) {
		return nil, cmp.Or(listed, err)
	}
	if g, err = p.openProgram(ctx, false); err != nil {
		return nil, err
	}
	return g.fetch(ctx, want{ids: p.refs.tips(), progress: w.progress})
}

// fetch fetches objects. Closing the returned pack removes the repository.
func (g *program) fetch(ctx context.Context, w want) (io.ReadCloser, error) {
	args := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--stdin"}
	if w.shallow {
		args = append(args, "--depth=1")
	}
	if w.trees {
		args = append(args, "--filter=blob:none")
	}
	var ids strings.Builder
	for _, id := range w.ids {
		ids.WriteString(id.String() + "\n")
	}
	ctx, watchdog := g.remote.client.watchProgram(ctx)
	defer watchdog.stop()
	watching := make(chan struct{})
	bug.Go(func() {
		defer close(watching)
		g.watch(ctx, watchdog, w.progress)
	})
	_, err := g.run(ctx, ids.String(), append(args, "--end-of-options", "origin")...)
	watchdog.stop()
	<-watching
	if err != nil {
		return nil, errors.Join(err, g.Close())
	}
	found, err := filepath.Glob(filepath.Join(g.packs(), "pack-*.pack"))
	if err == nil && len(found) != 1 {
		err = diag.Errorf(diag.Remote, "git created %d pack files from the server's data instead of one", len(found))
	}
	var f *os.File
	if err == nil {
		f, err = os.Open(found[0])
	}
	if err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return &programPack{f, g}, nil
}

func (g *program) packs() string { return filepath.Join(g.dir, "objects", "pack") }

// watch polls how much git has received, reports it, and cancels the fetch if it exceeds the limit.
func (g *program) watch(ctx context.Context, watchdog *watchdog, meter *progress) {
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		entries, err := os.ReadDir(g.packs())
		if err != nil {
			continue // git may be renaming files
		}
		total := int64(0)
		for _, e := range entries {
			if info, err := e.Info(); err == nil && filepath.Ext(e.Name()) != ".idx" {
				total += info.Size()
			}
		}
		meter.report(total)
		watchdog.received.Store(total)
		if total > g.remote.client.limits.pack {
			watchdog.cancel(packfile.TooLarge("its packed size exceeds the limit"))
		}
	}
}

// programPack is a pack that git has received.
type programPack struct {
	*os.File
	program *program
}

// Close removes the pack and its repository.
func (p *programPack) Close() error { return errors.Join(p.File.Close(), p.program.Close()) }

// explain converts git's error output into an error, without the URL, which [remote.explain] adds.
func (g *program) explain(failed *gitcmd.Error) error {
	switch message := failed.Printed; {
	case message("Authentication failed", "could not read Username", "could not read Password",
		"The requested URL returned error: 401"):
		return transport.ErrAuthenticationRequired
	case message("The requested URL returned error: 403"):
		return transport.ErrAuthorizationFailed
	case message("Host key verification failed", "Permission denied ("):
		return g.remote.explainSSH(failed)
	case message("' not found", "Repository not found", "does not appear to be a git repository",
		"The requested URL returned error: 404"):
		return transport.ErrRepositoryNotFound
	case message("over limit", "out of memory", "Out of memory"):
		return packfile.TooLarge("git needs too much memory")
	case message("SSL certificate problem", "server certificate verification failed"):
		return diag.Errorf(diag.Remote, "%s", g.remote.sanitize(failed.Error())).
			WithHint(
				"if the certificate is from your organization's own authority, set GIT_SSL_CAINFO to the authority's file (PEM)")
	case message("unable to update url base from redirection"):
		return diag.Errorf(diag.Remote,
			"the server redirects to another address, which skillpm does not allow git to follow").
			WithHint("use the target of the redirect")
	case message("early EOF", "unexpected disconnect", "Connection reset", "hung up unexpectedly",
		"invalid index-pack output", "Operation too slow"):
		return fmt.Errorf("%w: %w", failed, io.ErrUnexpectedEOF)
	}
	if line := failed.BeforeFatal(); g.remote.url.Scheme == "ssh" && line != "" { // what ssh printed
		return diag.Errorf(diag.Remote, "%s", g.remote.sanitize(line)).
			WithHint("test the connection with: %s", g.remote.sshTest())
	}
	return failed
}
