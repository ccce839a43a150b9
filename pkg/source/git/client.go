package git

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"strings"
	"sync"

	"github.com/Masterminds/semver/v3"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	gitssh "github.com/go-git/go-git/v5/plumbing/transport/ssh"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/source/git/internal/packfile"
)

// Options says what a [Client] may use.
type Options struct {
	// Cache is the directory that fetched commits are kept in; "" for a temporary one that Close removes.
	Cache string
	// Home is the directory of .netrc and .ssh; "" for no such files.
	Home string
	// Getenv reads the environment; nil for an empty one. See [Client] for the variables.
	Getenv func(string) string
	// Credentials replaces the places that credentials come from; "" and "" for none.
	Credentials func(ctx context.Context, url string) (user, pass string, err error)
	// Transport carries HTTP requests; nil for one that honours the proxies and certificates of the environment.
	Transport http.RoundTripper
	// Program is the path or name of the git binary that carries transfers; "" for none: the client itself does. What
	// it brings is read and checked in the same way.
	Program string
}

// Client fetches packs from git repositories. It asks a server for its references once, and may be used by several
// goroutines at a time.
//
// When a server asks who is there, credentials come from the first of these that has some for its host:
// SKILLPM_TOKEN_<HOST> (the host in upper case, with _ for a dot and __ for a hyphen, and _PORT behind it, which may be
// left out where it is the scheme's own; a token, or user:password), GITHUB_TOKEN for github.com, .netrc (or the file
// that NETRC names), and `git credential fill`, which asks the helpers that the user has configured and is not allowed
// to prompt.
type Client struct {
	options Options
	limits  limits
	clock   clock
	http    transport.Transport
	ssh     transport.Transport

	mu      sync.Mutex
	temp    string
	remotes map[string]*remote
	commits map[string]*commit
	packs   map[pack.Ref]cachedContent
}

// limits bound what a server may send. They are far above what repositories of skills hold.
type limits struct {
	refs   int64 // bytes of a list of references
	pack   int64 // bytes of a pack as it is sent
	packs  packfile.Limits
	memory int64 // bytes that a git program may hold in memory
}

func defaultLimits() limits {
	return limits{refs: 256 << 20, pack: 2 << 30, packs: packfile.DefaultLimits(), memory: 2 << 30}
}

// cachedContent is what a pinned place holds.
type cachedContent struct {
	content *pack.Content
	tree    treeFS
}

// New returns a client that has touched neither disk nor network.
func New(o Options) *Client {
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	c := &Client{
		options: o, limits: defaultLimits(), clock: systemClock(), ssh: gitssh.NewClient(nil),
		remotes: make(map[string]*remote), commits: make(map[string]*commit), packs: make(map[pack.Ref]cachedContent),
	}
	c.http = githttp.NewClient(&http.Client{
		Transport:     &authGuard{next: o.Transport, client: c},
		CheckRedirect: stayOnHost,
	})
	return c
}

// Close releases what the client holds open, and removes its temporary files.
func (c *Client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var first error
	keep := func(err error) {
		if first == nil {
			first = err
		}
	}
	for _, k := range c.commits {
		keep(k.close())
	}
	for _, p := range c.remotes {
		keep(p.close())
	}
	clear(c.packs)
	clear(c.commits)
	clear(c.remotes)
	if c.temp != "" {
		keep(os.RemoveAll(c.temp))
		c.temp = ""
	}
	return first
}

// Versions returns the versions that the repository's tags stand for, highest first. Where tags carry the pack's name
// (name@1.2.0, name/v1.2.0), only those count.
func (c *Client) Versions(ctx context.Context, ref pack.Ref) (_ []string, err error) {
	defer func() { err = httpx.PreferContext(ctx, err) }()
	releases, err := c.releases(ctx, ref)
	if err != nil {
		return nil, err
	}
	versions := make([]string, len(releases))
	for i, r := range releases {
		versions[i] = r.version
	}
	return versions, nil
}

// Open pins a place to a commit and describes the pack there. Without a revision the highest release that satisfies
// ref.Constraint is taken, and in a repository without releases the default branch. The pack's Ref has the commit as
// Digest, and the tag, if one was taken, as Rev.
func (c *Client) Open(ctx context.Context, ref pack.Ref) (_ *pack.Pack, err error) {
	defer func() { err = httpx.PreferContext(ctx, err) }()
	pinned, err := c.pin(ctx, ref)
	if err != nil {
		return nil, err
	}
	content, _, err := c.describe(ctx, pinned)
	if err != nil {
		return nil, err
	}
	if pinned.version != "" && content.Version != pinned.version {
		return nil, diag.Errorf(diag.Invalid, "tag %s of %s holds version %s", pinned.Rev, ref.URL, content.Version).
			WithHint("if that is what you want, name the tag: %s", named(pinned.Ref))
	}
	p := content.Pack(pinned.Ref)
	for i, d := range p.Dependencies {
		if p.Dependencies[i].Ref, err = refInRepository(pinned.Ref, d); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// named returns the text of a pinned place with its tag.
func named(ref pack.Ref) string {
	ref.Digest, ref.Constraint = "", ""
	return ref.String()
}

// Fetch streams the files of the named skills of a pinned pack, or of all its skills if there are no names.
func (c *Client) Fetch(ctx context.Context, p *pack.Pack, skills []string, sink bundle.Sink) (err error) {
	defer func() { err = httpx.PreferContext(ctx, err) }()
	pinned, err := c.pin(ctx, p.Ref)
	if err != nil {
		return err
	}
	ctx = pack.WithSkills(ctx, skills)
	content, tree, err := c.describe(ctx, pinned)
	if err != nil {
		return err
	}
	if err := tree.fetchSkills(content, skills); err != nil {
		return err
	}
	defer tree.commit.forget() // most packs are fetched once
	return content.Stream(ctx, tree, skills, sink)
}

// Tree pins a place as Open does and returns its directory as a read-only file system, and the pinned place. All of it
// is fetched.
func (c *Client) Tree(ctx context.Context, ref pack.Ref) (fs.FS, pack.Ref, error) {
	pinned, err := c.pin(ctx, ref)
	if err != nil {
		return nil, pack.Ref{}, err
	}
	tree, err := c.tree(pack.WithSkills(ctx, nil), pinned.Ref)
	if err == nil {
		err = tree.fetchAll()
	}
	if err != nil {
		return nil, pack.Ref{}, err
	}
	return tree.withContext(context.WithoutCancel(ctx)), pinned.Ref, nil
}

// describe reads what the pack at a pinned place is, once.
func (c *Client) describe(ctx context.Context, p pinned) (*pack.Content, treeFS, error) {
	if err := ctx.Err(); err != nil {
		return nil, treeFS{}, err
	}
	key := p.Ref
	c.mu.Lock()
	known, ok := c.packs[key]
	c.mu.Unlock()
	if ok {
		return known.content, known.tree.withContext(ctx), nil
	}
	tree, err := c.tree(ctx, p.Ref)
	if err == nil {
		err = tree.fetchDescription()
	}
	if err != nil {
		return nil, treeFS{}, err
	}
	if p.branch {
		p.Rev = "" // no version, whatever it is called
	}
	content, err := pack.Describe(tree, p.Ref)
	if err != nil && !strings.HasPrefix(err.Error(), p.String()) {
		err = fmt.Errorf("%s: %w", named(p.Ref), err)
	}
	if err != nil {
		return nil, treeFS{}, err
	}
	c.mu.Lock()
	c.packs[key] = cachedContent{content, tree}
	c.mu.Unlock()
	return content, tree, nil
}

// pinned is a place with its commit.
type pinned struct {
	pack.Ref
	branch  bool   // Rev is a branch
	version string // what the tag promises, if it was chosen for that version
}

// Pin returns the commit that a place leads to now. Nothing is fetched but what the server calls its branches and tags.
func (c *Client) Pin(ctx context.Context, ref pack.Ref) (string, error) {
	p, err := c.pin(ctx, ref)
	return p.Digest, err
}

// pin finds the commit of a place.
func (c *Client) pin(ctx context.Context, ref pack.Ref) (pinned, error) {
	if ref.Kind != pack.KindGit || ref.URL == "" {
		return pinned{}, diag.Errorf(diag.Internal, "%q is not a git repository", ref)
	}
	if isCommit(ref.Digest) {
		return pinned{Ref: ref}, nil
	}
	if isCommit(ref.Rev) {
		ref.Digest = ref.Rev
		return pinned{Ref: ref}, nil
	}
	refs, err := c.refs(ctx, ref)
	if err != nil {
		return pinned{}, err
	}
	if ref.Rev != "" {
		commit, branch, err := refs.find(ref)
		ref.Digest = commit
		return pinned{Ref: ref, branch: branch}, err
	}
	return c.pinRelease(ctx, ref, refs)
}

// pinRelease chooses the highest release, or the default branch.
func (c *Client) pinRelease(ctx context.Context, ref pack.Ref, refs *refs) (pinned, error) {
	releases, err := c.releases(ctx, ref)
	if err != nil {
		return pinned{}, err
	}
	r, ok, err := best(releases, ref.Constraint)
	switch {
	case err != nil:
		return pinned{}, err
	case ok:
		ref.Rev, ref.Digest, ref.Constraint = r.tag, r.commit, ""
		return pinned{Ref: ref, version: r.version}, nil
	case ref.Constraint != "" && len(releases) > 0:
		return pinned{}, diag.Errorf(diag.NotFound, "%s has no version %s", ref.URL, ref.Constraint).
			WithHint("it has %s", list(releases))
	case refs.head == "":
		return pinned{}, diag.Errorf(diag.NotFound, "%s has no default branch", ref.URL).
			WithHint("name a branch or tag, as in %s#main", named(ref))
	}
	ref.Digest, ref.Constraint = refs.head, ""
	return pinned{Ref: ref}, nil
}

// best returns the highest release that satisfies a constraint. Pre-releases count only if the constraint asks for
// them.
func best(releases []release, constraint string) (release, bool, error) {
	if constraint == "" {
		constraint = "*"
	}
	want, err := semver.NewConstraint(constraint)
	if err != nil {
		return release{}, false, diag.Errorf(diag.Usage, "%q is not a range of versions", constraint)
	}
	for _, r := range releases {
		if v, err := semver.StrictNewVersion(r.version); err == nil && want.Check(v) {
			return r, true, nil
		}
	}
	return release{}, false, nil
}

// releases returns what the tags of a repository stand for. Where no tag is a version of the pack by the place's name,
// but some carry a name, the pack's own name is read from the default branch.
func (c *Client) releases(ctx context.Context, ref pack.Ref) ([]release, error) {
	refs, err := c.refs(ctx, ref)
	if err != nil {
		return nil, err
	}
	names := []string{ref.Subdir}
	if id, err := ref.DefaultID(); err == nil {
		names = append(names, id.Name)
	}
	if found := refs.releases(names); len(found) > 0 || !refs.namedTags() || refs.head == "" {
		return found, nil
	}
	ref.Rev, ref.Digest = "", refs.head
	content, _, err := c.describe(ctx, pinned{Ref: ref})
	if err != nil {
		return nil, err
	}
	return refs.releases([]string{content.ID.Name}), nil
}

// refInRepository turns a dependency at a path into a reference to the same commit of the pack's own repository. It
// returns other references unchanged.
func refInRepository(ref pack.Ref, d pack.Dependency) (*pack.Ref, error) {
	if d.Ref == nil || d.Ref.Kind != pack.KindPath {
		return d.Ref, nil
	}
	dir := strings.ReplaceAll(d.Ref.URL, `\`, "/")
	subdir := path.Join(ref.Subdir, dir)
	if path.IsAbs(dir) || strings.Contains(dir, ":") || pathx.Escapes(subdir) {
		return nil, diag.Errorf(diag.Denied, "%s depends on %s at %s, which is outside its repository", ref.URL, d.ID,
			d.Ref.URL)
	}
	if subdir == "." {
		subdir = ""
	}
	return &pack.Ref{Kind: pack.KindGit, URL: ref.URL, Subdir: subdir, Digest: ref.Digest}, nil
}
