package provider

import (
	"context"
	"net/url"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// from returns what fetches from a place. It is the one door to all of them: a place that a policy does not allow, or
// that can't be reached without the network that was ruled out, is not contacted.
func (pr *Provider) from(ref pack.Ref) (fetcher, error) {
	if err := pr.allow(ref); err != nil {
		return nil, err
	}
	if err := pr.reach(ref); err != nil {
		return nil, err
	}
	f, err := pr.sources.of(ref.Kind, pr.root)
	if err != nil || len(pr.policies) == 0 {
		return f, err
	}
	return guarded{f, pr}, nil
}

// allow returns why a place may not be contacted, nil if it may. Where it is asked for in another place first, that
// must be allowed, too.
func (pr *Provider) allow(ref pack.Ref) error {
	if len(pr.policies) == 0 {
		return nil
	}
	places := []string{ref.Source()}
	if mirror := pr.sources.OCI().MirrorOf(ref.URL); ref.Kind == pack.KindOCI && mirror != "" {
		places = append(places, mirror)
	}
	for _, place := range places {
		notes, err := pr.policies.Source(place)
		pr.note(notes...)
		if err != nil {
			return err
		}
	}
	return nil
}

// guarded is allow for registries, which ask in the context that it returns.
func (pr *Provider) guarded(ctx context.Context, ref pack.Ref) (context.Context, error) {
	return pr.watched(ctx, ref.Kind), pr.allow(ref)
}

// watched returns a context in which servers may send on only to where packs may come from.
func (pr *Provider) watched(ctx context.Context, kind pack.Kind) context.Context {
	if len(pr.policies) == 0 {
		return ctx
	}
	return httpx.WithRedirectCheck(ctx, func(to *url.URL) error {
		if err := pr.policies.Host(to.Hostname(), to.Port()); err != nil {
			return err
		}
		if kind == pack.KindGit {
			_, err := pr.policies.Source("git+" + to.Scheme + "://" + to.Host + strings.TrimSuffix(to.EscapedPath(), "/info/refs"))
			return err
		}
		if repository := repositoryOf(to.Path); repository != "" {
			return pr.policies.Denied("oci://" + to.Host + "/" + repository)
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

// guarded fetches in a context in which servers may not send on to everywhere.
type guarded struct {
	next fetcher
	pr   *Provider
}

// Versions lists the releases that a place offers.
func (g guarded) Versions(ctx context.Context, ref pack.Ref) ([]string, error) {
	return g.next.Versions(g.pr.watched(ctx, ref.Kind), ref)
}

// Open describes the pack at a place.
func (g guarded) Open(ctx context.Context, ref pack.Ref) (*pack.Pack, error) {
	return g.next.Open(g.pr.watched(ctx, ref.Kind), ref)
}

// Fetch streams the files of a pack's skills.
func (g guarded) Fetch(ctx context.Context, p *pack.Pack, skills []string, sink bundle.Sink) error {
	return g.next.Fetch(g.pr.watched(ctx, p.Ref.Kind), p, skills, sink)
}

// note keeps what policies that only observe have to say, each once.
func (pr *Provider) note(notes ...string) {
	pr.notesMu.Lock()
	defer pr.notesMu.Unlock()
	for _, n := range notes {
		if !pr.noted[n] {
			if pr.noted == nil {
				pr.noted = map[string]bool{}
			}
			pr.noted[n], pr.notes = true, append(pr.notes, n)
		}
	}
}

// Notes returns what policies that only observe would have refused, each once.
func (pr *Provider) Notes() []string {
	pr.notesMu.Lock()
	defer pr.notesMu.Unlock()
	notes := pr.notes
	pr.notes = nil
	return notes
}
