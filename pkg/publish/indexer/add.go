package indexer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// AddOptions configure [Client.Add].
type AddOptions struct {
	Dir string // of the index; "" means the client's directory
	// References are sources in the syntax of install: oci://…:version, git+https://…#tag,
	// oci-layout:DIR//owner/name:version.
	References []string
	DryRun     bool // write nothing
}

// AddReport is the result of [Client.Add].
type AddReport struct {
	Index    string   `json:"index"`
	Packs    []Added  `json:"packs"`
	Warnings []string `json:"warnings"`
	DryRun   bool     `json:"dryRun"`
}

// Added is one version of a pack in an index.
type Added struct {
	Pack      string   `json:"pack"`
	Version   string   `json:"version"`
	Source    string   `json:"source"`
	Digest    string   `json:"digest"`
	Integrity string   `json:"integrity"`
	Skills    []string `json:"skills"`
	File      string   `json:"file"`  // that has its line, relative to the index
	Added     bool     `json:"added"` // false if the line already existed
}

// Add appends a line for the pack of each source. It writes nothing unless all succeed.
func (c *Client) Add(ctx context.Context, o AddOptions) (*AddReport, error) {
	defer c.Progress(skillpm.Event{Done: true})
	dir, err := c.open(o.Dir)
	if err != nil {
		return nil, err
	}
	defer dir.close()
	a := &adder{client: c, dir: dir, files: map[string][]byte{}}
	r := &AddReport{Index: dir.display, Packs: []Added{}, Warnings: []string{}, DryRun: o.DryRun}
	for _, reference := range o.References {
		one, err := a.reference(ctx, reference)
		if err != nil {
			return nil, err
		}
		r.Packs = append(r.Packs, one)
	}
	r.Warnings = append(r.Warnings, a.warnings...)
	if o.DryRun {
		return r, nil
	}
	for _, one := range r.Packs {
		if !one.Added {
			continue
		}
		if _, err := dir.write(one.File, a.files[one.File]); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// adder is a call of [Client.Add].
type adder struct {
	client   *Client
	dir      *indexDir
	files    map[string][]byte // to write at the end
	warnings []string
}

func (a *adder) reference(ctx context.Context, reference string) (Added, error) {
	p, err := a.client.read(ctx, reference)
	if err != nil {
		return Added{}, err
	}
	l, err := a.line(p)
	if err != nil {
		return Added{}, fmt.Errorf("%s: %w", reference, err)
	}
	name := index.Path(p.ID)
	r := Added{
		Pack: l.Name, Version: l.Version, Source: l.Source, Digest: l.Digest, Integrity: l.Integrity,
		Skills: p.SkillNames(), File: name,
	}
	data, err := a.file(name)
	if err != nil {
		return r, err
	}
	listed, err := a.isListed(name, data, l)
	if listed || err != nil {
		return r, err
	}
	if a.files[name], err = index.Append(name, data, l); err != nil {
		return r, err
	}
	r.Added = true
	a.warnings = append(a.warnings, p.Warnings...)
	return r, a.status(ctx, p)
}

// status warns about a version that is yanked in its source, and about a deprecated pack, because the index would not
// show it.
func (a *adder) status(ctx context.Context, p *pack.Pack) error {
	if p.Ref.Kind == pack.KindGit {
		return nil
	}
	sources, err := a.client.UserSources()
	if err != nil {
		return err
	}
	s, err := sources.OCI().Status(ctx, p.Ref)
	if ended := httpx.EndOfContext(err); ended != nil {
		return ended
	}
	if err != nil {
		a.warnings = append(a.warnings, fmt.Sprintf("cannot check whether %s %s is yanked: %v", p.ID, p.Version,
			err))
	}
	if why, ok := s.Yanked[p.Version]; ok {
		a.warnings = append(a.warnings, fmt.Sprintf("%s %s is yanked at its source: %s; "+
			"yank the version in the index too with: skillpm yank %s@%s --reason … --registry %s",
			p.ID, p.Version, why, p.ID, p.Version, a.dir.display))
	}
	if s.Deprecated != "" {
		a.warnings = append(a.warnings, fmt.Sprintf("%s is deprecated at its source: %s; "+
			"deprecate the pack in the index too with: skillpm yank %s --deprecate … --registry %s",
			p.ID, s.Deprecated, p.ID, a.dir.display))
	}
	return nil
}

// file returns a pack's file, with pending changes.
func (a *adder) file(name string) ([]byte, error) {
	if data, ok := a.files[name]; ok {
		return data, nil
	}
	data, err := safefile.ReadIn(a.dir.fsys, name, index.MaxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// isListed reports whether a file already has a line. A contradicting line is an error.
func (a *adder) isListed(name string, data []byte, l index.Line) (bool, error) {
	if len(data) == 0 {
		return false, nil
	}
	entry, err := index.Parse(name, data)
	if err != nil {
		return false, err
	}
	if entry.ID.String() != l.Name {
		return false, diag.Errorf(diag.Invalid, "%s describes the pack %s instead of %s", name, entry.ID, l.Name).
			WithHint("move the file to %s", index.Path(entry.ID))
	}
	old, ok := entry.Line(l.Version)
	switch {
	case !ok:
		if last := entry.Versions[0]; last.Source != l.Source {
			a.warnings = append(a.warnings, fmt.Sprintf("the source of %s %s is %s, but the source of version %s is %s; "+
				"check that the publisher moved the pack", l.Name, l.Version, l.Source, last.Version, last.Source))
		}
		return false, nil
	case old.Source == l.Source && old.Digest == l.Digest && (old.Integrity == "" || old.Integrity == l.Integrity):
		return true, nil
	}
	const hint = "publish the new content as a new version; published versions never change"
	if old.Source == l.Source && old.Digest == l.Digest {
		return false, diag.Errorf(diag.Conflict, "%s %s is already in the index with the integrity %s instead of %s",
			l.Name, l.Version, old.Integrity, l.Integrity).WithHint(hint)
	}
	return false, diag.Errorf(diag.Conflict, "%s %s is already in the index as %s at %s, not as %s at %s",
		l.Name, l.Version, old.Digest, old.Source, l.Digest, l.Source).
		WithHint(hint)
}

// line formats the index line of a pack.
func (a *adder) line(p *pack.Pack) (index.Line, error) {
	l := index.Line{
		Name: p.ID.String(), Version: p.Version, Published: a.client.Now().UTC().Format(time.RFC3339),
		Source: p.Ref.Source(), Digest: p.Ref.Digest, Integrity: p.Integrity,
		Description: p.Description, License: p.License, Tags: p.Tags, Requires: p.Requires,
	}
	if p.ID.Owner == string(pack.KindLocal) {
		return l, diag.Errorf(diag.Invalid, "cannot add the pack %s: the owner %q is reserved", p.ID, p.ID.Owner).
			WithHint("change the owner under name in the skillpm.yaml of the pack")
	}
	if p.Ref.Kind == pack.KindLayout {
		rel, ok := pathx.Rel(a.dir.dir, filepath.FromSlash(p.Ref.URL))
		if !ok {
			return l, diag.Errorf(diag.Invalid, "an index can refer only to OCI layouts in the directory of the index").
				WithHint("publish the pack to a registry, or to an OCI layout in %s", a.dir.display)
		}
		l.Source = string(pack.KindLayout) + ":" + filepath.ToSlash(rel)
		if err := index.CheckLayout(a.dir.fsys, l.Source); err != nil {
			return l, err
		}
	}
	var err error
	if l.Dependencies, err = index.NewDependencies(p.Dependencies); err != nil {
		return l, err
	}
	for _, s := range p.Skills {
		l.Skills = append(l.Skills, index.Skill{Name: s.Name, Description: s.Description, Tree: s.Tree})
	}
	if problems := index.Check("the line", l.Encode()); len(problems) > 0 {
		return l, diag.Errorf(diag.Invalid, "%s", problems[0].Message).WithHint("%s", problems[0].Hint)
	}
	return l, nil
}

// read opens the pack of a source and hashes its files.
func (c *Client) read(ctx context.Context, reference string) (*pack.Pack, error) {
	ref, err := pack.Parse(reference)
	if err != nil {
		return nil, err
	}
	switch {
	case ref.Kind == pack.KindLayout:
		ref.URL = filepath.ToSlash(c.Machine.Abs(filepath.FromSlash(ref.URL)))
	case ref.Kind != pack.KindOCI && ref.Kind != pack.KindGit || strings.HasPrefix(ref.URL, "file:"):
		return nil, diag.Errorf(diag.Usage, "other machines cannot fetch from %s", reference).
			WithHint("use the published pack: oci://REGISTRY/OWNER/NAME:VERSION or git+https://HOST/OWNER/NAME.git#TAG")
	}
	c.Progress(skillpm.Event{Text: "reading " + ref.String()})
	fetcher, err := c.fetcher(ref.Kind)
	if err != nil {
		return nil, err
	}
	p, err := fetcher.Open(ctx, ref)
	if err != nil {
		return nil, err
	}
	trees, err := hash(ctx, fetcher, p)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", reference, err)
	}
	if err := describe(p, trees); err != nil {
		return nil, fmt.Errorf("%s: %w", reference, err)
	}
	return p, nil
}

// fetcher reads packs from a source.
type fetcher interface {
	Open(ctx context.Context, ref pack.Ref) (*pack.Pack, error)
	Fetch(ctx context.Context, p *pack.Pack, skills []string, sink bundle.Sink) error
}

// fetcher returns the client for sources of a kind.
func (c *Client) fetcher(kind pack.Kind) (fetcher, error) {
	sources, err := c.UserSources()
	if err != nil {
		return nil, err
	}
	if kind == pack.KindGit {
		return sources.Git(), nil
	}
	return sources.OCI(), nil
}

// hash fetches and hashes all files of a pack without storing them, and returns the tree digests of its skills. Skills
// that cannot be part of a pack are left out of p.
func hash(ctx context.Context, f fetcher, p *pack.Pack) (map[string]string, error) {
	hasher := bundle.NewHasher(bundle.DefaultLimits())
	err := f.Fetch(ctx, p, nil, hasher)
	if bad, ok := errors.AsType[*pack.BadSkillsError](err); ok && p.LeaveOut(bad.Skills) {
		hasher = bundle.NewHasher(bundle.DefaultLimits())
		err = f.Fetch(ctx, p, p.SkillNames(), hasher)
	}
	if err != nil {
		return nil, err
	}
	trees := map[string]string{}
	for name, inventory := range hasher.Inventories() {
		trees[name] = inventory.Digest()
	}
	return trees, nil
}

// describe adds the metadata from a pack's files. It fails if the source's metadata differs.
func describe(p *pack.Pack, trees map[string]string) error {
	p.Skills = slices.Clone(p.Skills)
	for i, s := range p.Skills {
		sum, ok := trees[s.Name]
		if !ok || s.Tree != "" && s.Tree != sum {
			return &bundle.MismatchError{
				What: "skill " + s.Name + " of " + p.ID.String() + " " + p.Version,
				Want: s.Tree, Got: sum,
			}
		}
		p.Skills[i].Tree = sum
	}
	integrity := bundle.Integrity(trees)
	if p.Integrity != "" && p.Integrity != integrity || len(trees) != len(p.Skills) {
		return &bundle.MismatchError{What: p.ID.String() + " " + p.Version, Want: p.Integrity, Got: integrity}
	}
	p.Integrity = integrity
	return nil
}
