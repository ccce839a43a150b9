package fetch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
	"github.com/skillpm/skillpm/pkg/source"
	"github.com/skillpm/skillpm/pkg/source/oci"
	"github.com/skillpm/skillpm/pkg/source/registry"
	"github.com/skillpm/skillpm/pkg/source/trust"
)

// Event is a step of long work.
type Event struct {
	Text     string // what is being done, such as "fetching acme/deploy 1.4.0"
	Pack     string // the pack that is being fetched, such as "acme/deploy 1.4.0"; "" for other work
	Received int64  // bytes of it
	Size     int64  // bytes that there will be, 0 if that is not known
	Finished bool   // the pack is fetched
	Done     bool   // all work is over; Text is empty
}

// Options configure a [Fetcher].
type Options struct {
	Clients    *source.Clients
	Registries *Registries
	Gate       *Gate
	Verifier   *trust.Verifier
	Machine    *workspace.Machine
	Root       string // the directory that references of the manifest are relative to
	Offline    bool
	Progress   func(Event)
}

// Fetcher opens sources, and fetches the content of packs into the store.
type Fetcher struct {
	Options
	pinsMu sync.Mutex
	pins   map[string]string // digests of tags, by source and tag

	fetchedMu sync.Mutex
	fetched   map[string]bool // see HasFetched
}

// New returns a fetcher.
func New(o Options) *Fetcher {
	return &Fetcher{Options: o, pins: map[string]string{}, fetched: map[string]bool{}}
}

// Remote reports whether a source is reached over the network.
func Remote(ref pack.Ref) bool {
	if ref.Kind == pack.KindGit {
		return !strings.HasPrefix(ref.URL, "file://")
	}
	return ref.Kind == pack.KindOCI || ref.Kind == pack.KindWebsite || pack.IsHub(ref.Kind)
}

// Location returns a source for the progress display. Unlike [pack.Ref.Source], it has the paths of this machine.
func Location(ref pack.Ref) string {
	switch {
	case ref.URL == "":
		return ref.Source()
	case ref.Kind == pack.KindPath:
		return ref.URL
	case ref.Kind == pack.KindLayout:
		return "oci-layout:" + ref.URL
	case ref.Kind == pack.KindGit && !Remote(ref):
		return "git+" + ref.URL
	}
	return ref.Source()
}

// IsOCI reports whether sources of a kind are OCI repositories, which can withdraw versions.
func IsOCI(kind pack.Kind) bool {
	return kind == pack.KindOCI || kind == pack.KindLayout || kind == pack.KindLocal || kind == pack.KindEmbedded
}

// IsDirectory reports whether a locked source is a directory of this machine, whose content may change at any time.
func IsDirectory(lockedSource string) bool {
	return lockedSource == "path" || strings.HasPrefix(lockedSource, "path:")
}

// client returns the client for a source, and the context to call it in. All access to sources goes through it: a
// source that a policy does not allow, or that is remote in an offline call, is not contacted.
func (f *Fetcher) client(ctx context.Context, ref pack.Ref) (source.Client, context.Context, error) {
	if err := f.Gate.Allow(ref); err != nil {
		return nil, ctx, err
	}
	if f.Offline && Remote(ref) {
		return nil, ctx, diag.Errorf(diag.Remote, "%s is not in the store, and skillpm is offline", ref.Source()).
			WithHint("run the command once without --offline; " +
				"for machines without a network, commit the copy that \"skillpm vendor\" makes")
	}
	c, err := f.Clients.Of(ref.Kind, f.Root)
	return c, f.Gate.Watch(ctx, ref.Kind), err
}

// anchored returns the reference with a layout's directory made absolute.
func (f *Fetcher) anchored(ref pack.Ref) pack.Ref {
	if ref.Kind == pack.KindLayout && !filepath.IsAbs(filepath.FromSlash(ref.URL)) {
		ref.URL = filepath.Join(f.Root, filepath.FromSlash(ref.URL))
	}
	return ref
}

// Open opens the pack at a source.
func (f *Fetcher) Open(ctx context.Context, ref pack.Ref) (*pack.Pack, error) {
	c, ctx, err := f.client(ctx, ref)
	if err != nil {
		return nil, err
	}
	f.Progress(Event{Text: "reading " + Location(ref)})
	p, err := c.Open(ctx, f.anchored(ref))
	if err != nil {
		return nil, err
	}
	if ref.Kind == pack.KindLayout {
		p.Ref.URL = ref.URL
	}
	for _, named := range pack.References(p) {
		if err := f.Clients.Named().Add(ref.URL, named.URL); err != nil {
			return nil, diag.Errorf(diag.CodeOf(err), "%s depends on %s: %w", p.ID, named.Source(), err)
		}
	}
	return p, nil
}

// Pin returns the digest or commit that a tag leads to, without opening it; "" if that can't be known. It asks once for
// each tag.
func (f *Fetcher) Pin(ctx context.Context, ref pack.Ref) string {
	key := ref.Source() + " " + ref.Rev + " " + ref.Constraint
	f.pinsMu.Lock()
	digest, known := f.pins[key]
	f.pinsMu.Unlock()
	if known {
		return digest
	}
	c, ctx, err := f.client(ctx, ref)
	if err != nil {
		return ""
	}
	pinner, ok := c.(interface {
		Pin(ctx context.Context, ref pack.Ref) (string, error)
	})
	if !ok {
		return ""
	}
	if digest, err = pinner.Pin(ctx, f.anchored(ref)); err != nil {
		return "" // whoever opens the source gets the error
	}
	f.pinsMu.Lock()
	defer f.pinsMu.Unlock()
	f.pins[key] = digest
	return digest
}

// Releases lists the releases of a source with their status, in the form in which registries list versions.
func (f *Fetcher) Releases(ctx context.Context, ref pack.Ref) ([]registry.Version, error) {
	c, ctx, err := f.client(ctx, ref)
	if err != nil {
		return nil, err
	}
	if o, ok := c.(*oci.Client); ok {
		tags, status, err := o.Listing(ctx, f.anchored(ref))
		return releases(ref, tags, status), err
	}
	tags, err := c.Versions(ctx, f.anchored(ref))
	return releases(ref, tags, oci.Status{}), err
}

// Release is Releases for a source of which one version was opened.
func (f *Fetcher) Release(ctx context.Context, ref pack.Ref, version string) []registry.Version {
	var status oci.Status
	if c, ctx, err := f.client(ctx, ref); err == nil {
		if o, ok := c.(*oci.Client); ok {
			status, _ = o.Status(ctx, f.anchored(ref)) // only warnings come of it
		}
	}
	return releases(ref, []string{version}, status)
}

func releases(ref pack.Ref, tags []string, status oci.Status) []registry.Version {
	versions := make([]registry.Version, len(tags))
	for i, tag := range tags {
		reason, yanked := status.Yanked[tag]
		versions[i] = registry.Version{
			Version: tag, Source: ref.Source(), Yanked: yanked, Reason: reason, Deprecated: status.Deprecated,
		}
	}
	return versions
}

// Fetch puts the named skills of a pack into the store, unless they are there, and returns their digests. They must be
// those that the lock has, or else those that the source gave. Without names it fetches all skills, and leaves out
// those that cannot be part of a pack, unless the lock has them.
func (f *Fetcher) Fetch(ctx context.Context, p *pack.Pack, skills []string, locked map[string]string,
) (Fetched, error) {
	got, err := f.fetchSkills(ctx, p, skills, locked)
	bad, ok := errors.AsType[*pack.BadSkillsError](err)
	if !ok || len(skills) > 0 {
		return Fetched{Trees: got}, err
	}
	for _, s := range bad.Skills {
		if _, ok := locked[s.Name]; ok {
			return Fetched{}, err
		}
	}
	rest := *p
	if !rest.LeaveOut(bad.Skills) {
		return Fetched{}, err
	}
	got, err = f.fetchSkills(ctx, p, rest.SkillNames(), locked)
	return Fetched{Trees: got, Bad: bad.Skills}, err
}

// Fetched are the skills of a pack that were fetched.
type Fetched struct {
	Trees map[string]string // their digests by name
	Bad   []pack.BadSkill   // those that were left out
}

// fetchSkills is Fetch without leaving out any skills.
func (f *Fetcher) fetchSkills(ctx context.Context, p *pack.Pack, skills []string, locked map[string]string,
) (map[string]string, error) {
	c, ctx, err := f.client(ctx, p.Ref)
	if err != nil {
		return nil, err
	}
	s, err := f.Machine.Store()
	if err != nil {
		return nil, err
	}
	writer, err := s.Writer(bundle.DefaultLimits())
	if err != nil {
		return nil, err
	}
	defer writer.Close()
	pinned := *p
	pinned.Ref = f.anchored(p.Ref)
	if err := c.Fetch(f.withProgress(ctx, p), &pinned, skills, writer); err != nil {
		return nil, fmt.Errorf("%s %s: %w", p.ID, p.Version, err)
	}
	want, unknown := map[string]string{}, false
	for _, s := range p.Skills {
		if s.Tree == "" {
			unknown = true
		} else if len(skills) == 0 || slices.Contains(skills, s.Name) {
			want[s.Name] = s.Tree
		}
	}
	maps.Copy(want, locked)
	got, err := writer.Commit(want)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", p.ID, p.Version, err)
	}
	f.Progress(Event{Pack: p.ID.String() + " " + p.Version, Finished: true})
	f.fetchedMu.Lock()
	for name, tree := range got {
		f.fetched[fetchedKey(p.ID, p.Ref.Digest, name, tree)] = true
	}
	f.fetchedMu.Unlock()
	if p.Ref.Digest != "" && (unknown || !IsOCI(p.Ref.Kind)) { // a directory changes
		err := f.Verifier.Record(&pinned, got)
		if diag.CodeOf(err) == diag.Integrity || err != nil && f.Gate.Policies.Restricts() {
			return nil, err
		}
	}
	return got, nil
}

// fetchedKey identifies a skill that was fetched.
func fetchedKey(id pack.ID, digest, name, tree string) string {
	return fmt.Sprint(id, " ", digest, " ", name, " ", tree)
}

// HasFetched reports whether this fetcher received all skills of a locked pack from its source.
func (f *Fetcher) HasFetched(id pack.ID, locked *pack.LockedPack) bool {
	f.fetchedMu.Lock()
	defer f.fetchedMu.Unlock()
	for name, tree := range locked.Skills {
		if !f.fetched[fetchedKey(id, locked.Resolved, name, tree)] {
			return false
		}
	}
	return len(locked.Skills) > 0
}

// withProgress reports the progress of a pack's transfer.
func (f *Fetcher) withProgress(ctx context.Context, p *pack.Pack) context.Context {
	name := p.ID.String() + " " + p.Version
	e := Event{Text: "fetching " + name + " from " + Location(p.Ref), Pack: name}
	f.Progress(e)
	return pack.WithProgress(ctx, func(received, total int64) {
		e := e
		e.Received, e.Size = received, total
		f.Progress(e)
	})
}
