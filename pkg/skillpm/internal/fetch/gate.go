package fetch

import (
	"context"
	"net/url"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/policy"
)

// Gate asks the policies which sources may be contacted, and collects what policies that only observe would refuse.
type Gate struct {
	Policies policy.Set
	mirrorOf func(ociURL string) string // the mirror that is asked first, "" for none

	mu       sync.Mutex
	notes    []string
	recorded map[string]bool
}

// NewGate returns a gate for the policies in effect.
func NewGate(policies policy.Set, mirrorOf func(string) string) *Gate {
	return &Gate{Policies: policies, mirrorOf: mirrorOf, recorded: map[string]bool{}}
}

// Allow returns why a source may not be contacted, nil if it may. Its mirror must be allowed, too.
func (g *Gate) Allow(ref pack.Ref) error {
	if len(g.Policies) == 0 {
		return nil
	}
	if err := g.AllowSource(ref.Source()); err != nil {
		return err
	}
	if mirror := g.mirrorOf(ref.URL); ref.Kind == pack.KindOCI && mirror != "" {
		return g.AllowSource(mirror)
	}
	return nil
}

// AllowSource is Allow for a source as a lockfile has it.
func (g *Gate) AllowSource(source string) error {
	notes, err := g.Policies.Source(source)
	g.Note(notes...)
	return err
}

// Guard is Allow for registries. They ask a source in the context that it returns.
func (g *Gate) Guard(ctx context.Context, ref pack.Ref) (context.Context, error) {
	return g.Watch(ctx, ref.Kind), g.Allow(ref)
}

// Watch returns a context in which servers may only redirect to where packs may come from.
func (g *Gate) Watch(ctx context.Context, kind pack.Kind) context.Context {
	if len(g.Policies) == 0 {
		return ctx
	}
	return httpx.WithRedirectCheck(ctx, func(to *url.URL) error {
		if err := g.Policies.Host(to.Hostname(), to.Port()); err != nil {
			return err
		}
		if kind == pack.KindGit {
			path := strings.TrimSuffix(to.EscapedPath(), "/info/refs")
			_, err := g.Policies.Source("git+" + to.Scheme + "://" + to.Host + path)
			return err
		}
		if repository := repositoryOf(to.Path); repository != "" {
			return g.Policies.Denied("oci://" + to.Host + "/" + repository)
		}
		return nil
	})
}

// repositoryOf returns the repository that a path of an OCI registry's API is about, "" for another path.
func repositoryOf(path string) string {
	rest, ok := strings.CutPrefix(path, "/v2/")
	for _, part := range []string{"/manifests/", "/blobs/", "/tags/", "/referrers/"} {
		if i := strings.LastIndex(rest, part); ok && i > 0 {
			return rest[:i]
		}
	}
	return ""
}

// Note keeps what policies that only observe would refuse, each once.
func (g *Gate) Note(notes ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, n := range notes {
		if !g.recorded[n] {
			g.recorded[n], g.notes = true, append(g.notes, n)
		}
	}
}

// NoteError notes an error that only an observing policy has.
func (g *Gate) NoteError(err error) {
	g.Note(err.Error() + " (the policy is in audit mode)")
}

// Notes returns what was noted since the last call.
func (g *Gate) Notes() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	notes := g.notes
	g.notes = nil
	return notes
}
