package git

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/config"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// Checkout is what a work tree says about where its files are from.
type Checkout struct {
	Root   string // real path of the work tree
	Origin string // URL of the remote that it was cloned from, fit to be published; "" where there is none
	Commit string // that is checked out, "" before the first one
	Branch string // that is checked out, "" for none

	paths map[string]bool // the files that differ from the commit, as [Changed] has them
	index *tracked
}

// ReadCheckout reads the work tree that dir is in. It is an error with the code [diag.NotFound] if that is none of a
// repository of this user. What [Changed] says about what is read counts here, too.
func ReadCheckout(ctx context.Context, dir string) (*Checkout, error) {
	w, err := openWorkTree(dir)
	if err != nil {
		return nil, err
	}
	defer w.storage.Close() //nolint:errcheck // it was only read
	c := &Checkout{Root: w.root, Origin: PublicURL(w.remote())}
	head, err := w.head()
	if err != nil {
		return nil, err
	}
	if head != nil {
		c.Commit = head.Hash.String()
	}
	if ref, err := w.storage.Reference(plumbing.HEAD); err == nil && ref.Type() == plumbing.SymbolicReference && ref.Target().IsBranch() {
		c.Branch = ref.Target().Short()
	}
	if err := w.compare(ctx, ""); err != nil {
		return nil, err
	}
	c.paths = make(map[string]bool, len(w.changed))
	for path := range w.changed {
		c.paths[path] = true
	}
	c.index, err = w.readIndex()
	return c, err
}

// Changed returns the files, by paths relative to the root, that differ from the commit.
func (c *Checkout) Changed() []string { return slices.Sorted(maps.Keys(c.paths)) }

// Committed reports whether the commit has a file exactly as it is in the work tree.
func (c *Checkout) Committed(path string) bool { return !c.paths[path] && c.index.has(path) }

// TagCommit returns the commit that a tag of the repository that dir is in leads to, "" if there is no such tag.
func TagCommit(dir, tag string) (string, error) {
	w, err := openWorkTree(dir)
	if err != nil {
		return "", err
	}
	defer w.storage.Close() //nolint:errcheck // it was only read
	ref, err := storer.ResolveReference(w.storage, plumbing.NewTagReferenceName(tag))
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		return "", nil
	} else if err != nil {
		return "", err
	}
	id := ref.Hash()
	for range 10 {
		t, err := object.GetTag(w.storage, id)
		if err != nil {
			break
		}
		id = t.Target
	}
	return id.String(), nil
}

// remote returns the URL of origin, or of the only remote that there is.
func (w *workTree) remote() string {
	text, err := readSmall(filepath.Join(w.common, "config"))
	if err != nil {
		return ""
	}
	raw := config.New()
	if err := config.NewDecoder(bytes.NewReader(text)).Decode(raw); err != nil {
		return ""
	}
	remotes := raw.Section("remote")
	switch {
	case remotes.HasSubsection("origin"):
		return remotes.Subsection("origin").Option("url")
	case len(remotes.Subsections) == 1:
		return remotes.Subsections[0].Option("url")
	}
	return ""
}

// forges are the hosts whose repositories are read at the same path over HTTPS.
var forges = [...]string{"github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "gitea.com"}

// PublicURL returns the URL of a repository as others may see it: without who asks for it (but for the user git, as
// whom everybody comes by SSH), queries and fragments, and for the known forges over HTTPS. It is "" for what is no
// URL, such as a directory of this machine, and for what is not understood: a password may stand anywhere in it.
func PublicURL(remote string) string {
	remote = strings.TrimSpace(remote)
	u, err := url.Parse(scpURL(remote))
	if err != nil || u.Hostname() == "" || u.Opaque != "" || strings.ContainsAny(remote, "\\") || strings.ContainsAny(u.Path, "@:\\") {
		return ""
	}
	u.Scheme = strings.TrimPrefix(u.Scheme, "git+")
	public := &url.URL{Scheme: u.Scheme, Host: strings.ToLower(u.Host), Path: strings.TrimSuffix(u.Path, "/")}
	switch u.Scheme {
	case "ssh":
		if u.User.Username() == sshUser {
			public.User = url.User(sshUser)
		}
	case "https", "http", "git":
	default:
		return ""
	}
	if host := strings.ToLower(u.Hostname()); slices.Contains(forges[:], host) {
		return "https://" + host + (&url.URL{Path: strings.TrimSuffix(public.Path, ".git")}).EscapedPath()
	}
	return public.String()
}

// sshUser is whom forges let in by SSH, whoever it is.
const sshUser = "git"

// schemes are no hosts: what stands before the colon of a URL that lacks its slashes.
var schemes = [...]string{"https", "http", "ssh", "git", "git+ssh", "git+https"}

// scpURL writes host:path, as ssh knows it, as a URL. A drive of Windows and a directory are left as they are.
func scpURL(remote string) string {
	if strings.Contains(remote, "://") {
		return remote
	}
	host, path, ok := strings.Cut(remote, ":")
	if !ok || len(host) < 2 || strings.ContainsAny(host, `/\`) || strings.HasPrefix(path, ":") || slices.Contains(schemes[:], strings.ToLower(host)) {
		return remote
	}
	return "ssh://" + host + "/" + strings.TrimPrefix(path, "/")
}
