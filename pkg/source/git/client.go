package git

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/Masterminds/semver/v3"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	gitssh "github.com/go-git/go-git/v5/plumbing/transport/ssh"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	secrets "github.com/skillpm/skillpm/pkg/internal/secret"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/source/git/internal/packfile"
)

// Options configures a [Client].
type Options struct {
	// Cache is the directory of fetched commits; "" for a temporary one that Close removes.
	Cache string
	// Home is the directory of .netrc and .ssh; "" to use neither.
	Home string
	// Getenv reads the environment; nil for an empty one. See [Client] for the variables.
	Getenv func(string) string
	// Credentials replaces all other sources of credentials. It returns "" and "" if it has none.
	Credentials func(ctx context.Context, url string) (user, pass string, err error)
	// Transport sends HTTP requests; nil for one that honors the proxies and certificates of the environment.
	Transport http.RoundTripper
	// Secrets learns the credentials that are sent; nil for a set of the client.
	Secrets *secrets.Set
	// Named are servers that registries and packs named; nil for none.
	Named *httpx.Named
	// Program is the path or name of a git binary that transfers objects; "" for git over SSH if it is installed, and
	// the built-in client otherwise; [Builtin] for the built-in client. The objects are verified in the same way.
	Program string
}

// Client fetches packs from git repositories. It reads the references of a server once. Several goroutines may use it
// at a time.
//
// If a server requires authentication, credentials come from the first source that has some for its host:
// SKILLPM_TOKEN_<HOST> (see [TokenVariables]; the value is a token or user:password), GITHUB_TOKEN for github.com,
// .netrc (or the file that NETRC names), and `git credential fill`, which calls the user's credential helpers without
// prompting.
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

// limits bound what a server may send. They are far above the size of real skill repositories.
type limits struct {
	refs   int64 // bytes of a list of references
	pack   int64 // bytes of a pack in transfer
	packs  packfile.Limits
	memory int64 // bytes of memory that the git program may allocate
}

func defaultLimits() limits {
	return limits{refs: 256 << 20, pack: 2 << 30, packs: packfile.DefaultLimits(), memory: 2 << 30}
}

// cachedContent is the described content of a pinned reference.
type cachedContent struct {
	content *pack.Content
	tree    treeFS
}

// New returns a client. It accesses neither disk nor network yet.
func New(o Options) *Client {
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	o.Secrets = cmp.Or(o.Secrets, &secrets.Set{})
	c := &Client{
		options: o, limits: defaultLimits(), clock: systemClock(), ssh: gitssh.NewClient(nil),
		remotes: make(map[string]*remote), commits: make(map[string]*commit), packs: make(map[pack.Ref]cachedContent),
	}
	c.http = githttp.NewClient(&http.Client{
		Transport:     &authGuard{next: o.Transport, client: c},
		CheckRedirect: checkRedirect,
	})
	return c
}

// Close releases open files and connections, and removes temporary files.
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

// Versions returns the versions of the repository's tags, highest first. If tags carry the pack's name (name@1.2.0,
// name/v1.2.0), only those count.
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

// Open pins a reference to a commit and describes the pack there. Without a revision it takes the highest release that
// satisfies ref.Constraint, or the default branch if the repository has no releases. It leaves out tags that do not
// contain their version, with a warning; if ref.Constraint allows no other version, that is a [ReleaseError]. The Ref
// of the pack has the commit as Digest and the chosen tag, if any, as Rev.
func (c *Client) Open(ctx context.Context, ref pack.Ref) (_ *pack.Pack, err error) {
	defer func() { err = httpx.PreferContext(ctx, err) }()
	pinned, content, warnings, err := c.openRelease(ctx, ref)
	if err != nil {
		return nil, err
	}
	p := content.Pack(pinned.Ref)
	p.Warnings = append(warnings, p.Warnings...)
	for i, d := range p.Dependencies {
		if p.Dependencies[i].Ref, err = refInRepository(pinned.Ref, d); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// refText returns a pinned reference with its tag as text, for errors.
func refText(ref pack.Ref) string {
	ref.Digest, ref.Constraint = "", ""
	return ref.String()
}

// Fetch streams the files of the named skills of a pinned pack, or of all its skills if there are no names.
func (c *Client) Fetch(ctx context.Context, p *pack.Pack, skills []string, sink bundle.Sink) (err error) {
	defer func() { err = httpx.PreferContext(ctx, err) }()
	pinned, err := c.pin(ctx, p.Ref, nil)
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
	defer tree.commit.forget() // a pack is rarely fetched twice
	return content.Stream(ctx, tree, skills, sink)
}

// Tree pins a reference as Open does, fetches all its files, and returns the directory as a read-only file system with
// the pinned reference.
func (c *Client) Tree(ctx context.Context, ref pack.Ref) (fs.FS, pack.Ref, error) {
	pinned, err := c.pin(ctx, ref, nil)
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

// describe reads the manifest and the list of skills of a pinned pack, and caches the result.
func (c *Client) describe(ctx context.Context, p pinned) (*pack.Content, treeFS, error) {
	if err := ctx.Err(); err != nil {
		return nil, treeFS{}, err
	}
	key := p.Ref
	c.mu.Lock()
	cached, ok := c.packs[key]
	c.mu.Unlock()
	if ok {
		return cached.content, cached.tree.withContext(ctx), nil
	}
	tree, err := c.tree(ctx, p.Ref)
	if err == nil {
		err = tree.fetchDescription()
	}
	if err != nil {
		return nil, treeFS{}, err
	}
	if p.branch {
		p.Rev = "" // a branch name is never a version
	}
	content, err := pack.Describe(tree, p.Ref)
	if err != nil && !strings.HasPrefix(err.Error(), p.String()) {
		err = fmt.Errorf("%s: %w", refText(p.Ref), err)
	}
	if code := diag.CodeOf(err); err != nil && p.version != "" && (code == diag.Invalid || code == diag.NotFound) {
		err = &ReleaseError{URL: p.URL, Tag: p.Rev, Version: p.version, Err: err, ref: p.Ref}
	}
	if err != nil {
		return nil, treeFS{}, err
	}
	c.mu.Lock()
	c.packs[key] = cachedContent{content, tree}
	c.mu.Unlock()
	return content, tree, nil
}

// pinned is a reference with its commit.
type pinned struct {
	pack.Ref
	branch  bool   // Rev is a branch
	version string // version of the tag, if a constraint chose it
}

// Pin returns the commit that a reference currently resolves to. It reads only the server's list of branches and tags.
func (c *Client) Pin(ctx context.Context, ref pack.Ref) (string, error) {
	p, err := c.pin(ctx, ref, nil)
	return p.Digest, err
}

// pin resolves a reference to its commit. A range does not select the tags to skip.
func (c *Client) pin(ctx context.Context, ref pack.Ref, skip map[string]bool) (pinned, error) {
	if ref.Kind != pack.KindGit || ref.URL == "" {
		return pinned{}, diag.Errorf(diag.Internal, "invalid git repository %q", ref)
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
	return c.pinRelease(ctx, ref, refs, skip)
}

// pinRelease chooses the highest matching release, or the default branch if there are no releases.
func (c *Client) pinRelease(ctx context.Context, ref pack.Ref, refs *refs, skip map[string]bool) (pinned, error) {
	releases, err := c.releases(ctx, ref)
	if err != nil {
		return pinned{}, err
	}
	releases = slices.DeleteFunc(slices.Clone(releases), func(r release) bool { return skip[r.tag] })
	r, ok, err := highestRelease(releases, ref.Constraint)
	switch {
	case err != nil:
		return pinned{}, err
	case ok:
		ref.Rev, ref.Digest, ref.Constraint = r.tag, r.commit, ""
		return pinned{Ref: ref, version: r.version}, nil
	case ref.Constraint != "" && len(releases) > 0:
		return pinned{}, diag.Errorf(diag.NotFound, "%s does not have a version %s", ref.URL, ref.Constraint).
			WithHint("available versions: %s", versionList(releases))
	case refs.head == "":
		return pinned{}, diag.Errorf(diag.NotFound, "%s does not have a default branch", ref.URL).
			WithHint("use a branch or tag, such as %s#main", refText(ref))
	}
	ref.Rev, ref.Digest, ref.Constraint = pack.DefaultBranch, refs.head, ""
	return pinned{Ref: ref}, nil
}

// highestRelease returns the highest release that satisfies a constraint. Pre-releases count only if the constraint has
// one.
func highestRelease(releases []release, constraint string) (release, bool, error) {
	if constraint == "" {
		constraint = "*"
	}
	want, err := semver.NewConstraint(constraint)
	if err != nil {
		return release{}, false, diag.Errorf(diag.Usage, "invalid version range %q", constraint).
			WithHint(`use a range such as "^1.2", "~1.2.3", ">=1.2 <2", or "*" for any version`)
	}
	for _, r := range releases {
		if v, err := semver.StrictNewVersion(r.version); err == nil && want.Check(v) {
			return r, true, nil
		}
	}
	return release{}, false, nil
}

// releases returns the releases of a repository. The tags of a pack carry the reference's name. If only tags with other
// names exist, it reads the pack's own name from the default branch.
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

// refInRepository converts a dependency on a path to a reference to the same commit of the pack's repository. It
// returns other references unchanged.
func refInRepository(ref pack.Ref, d pack.Dependency) (*pack.Ref, error) {
	if d.Ref == nil || d.Ref.Kind != pack.KindPath {
		return d.Ref, nil
	}
	dir := strings.ReplaceAll(d.Ref.URL, `\`, "/")
	subdir := path.Join(ref.Subdir, dir)
	if path.IsAbs(dir) || strings.Contains(dir, ":") || pathx.Escapes(subdir) {
		return nil, diag.Errorf(diag.Denied, "%s depends on %s at %s, which is outside the repository", ref.URL, d.ID,
			d.Ref.URL)
	}
	if subdir == "." {
		subdir = ""
	}
	return &pack.Ref{Kind: pack.KindGit, URL: ref.URL, Subdir: subdir, Digest: ref.Digest}, nil
}
