package indexer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/internal/overlayfs"
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/pkg/publish/internal/site"
	"github.com/skillpm/skillpm/pkg/sign"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skill/profile"
	"github.com/skillpm/skillpm/pkg/skillpm"
	"github.com/skillpm/skillpm/pkg/source/trust"
	"github.com/skillpm/skillpm/pkg/store"
)

// finder lists the statements about an artifact, as [trust.Verifier] does.
type finder interface {
	Find(ctx context.Context, ref pack.Ref, keys []*sign.PublicKey, identities []trust.Identity) ([]trust.Found, error)
}

// fetchAll fetches all packs into the store, and their signatures. It records packs that cannot be read, and returns
// only errors that must stop the whole run.
func (b *siteBuilder) fetchAll(ctx context.Context) error {
	if err := b.eachPack(ctx, b.fetchPack); err != nil {
		return err
	}
	for i := range b.packs {
		id := b.packs[i].ID
		if err := b.failed[id]; err != nil {
			b.report.Unfetched = append(b.report.Unfetched, Unfetched{
				Pack: id.String(), Version: b.lines[id].Version, Problem: err.Error(), Code: diag.CodeOf(err),
				Hint: diag.HintOf(err),
			})
		}
	}
	return nil
}

func (b *siteBuilder) fetchPack(ctx context.Context, p *site.Pack) error {
	var d site.Details
	err := b.store(ctx, p)
	if err == nil {
		err = b.signatures(ctx, p, &d)
	}
	if ended := httpx.EndOfContext(err); ended != nil {
		return ended
	}
	if err != nil && diag.CodeOf(err) == diag.Internal {
		return err // a failure of this machine, such as a full disk, and not of the pack
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err != nil {
		b.failed[p.ID] = err
	} else {
		b.signed[p.ID] = d
	}
	return nil
}

// pack writes the pages of a pack that is in the store.
func (b *siteBuilder) pack(ctx context.Context, p *site.Pack) error {
	if b.kept[p.ID] {
		return nil
	}
	if err := b.failed[p.ID]; err != nil {
		return b.site.Page(p.ID, site.Details{Problem: err.Error()}, b.out.write)
	}
	d := b.signed[p.ID]
	d.Profiles = []string{profile.Default}
	trees, err := b.readStored(p)
	if err != nil {
		return err
	}
	if err := b.describe(ctx, trees, &d); err != nil {
		return err
	}
	wrote := lastPack{Version: b.lines[p.ID].Version}
	if err := b.site.Page(p.ID, d, wrote.through(b.out)); err != nil {
		return err
	}
	if !b.options.NoWellKnown {
		if err := b.discover(p, trees, &wrote); err != nil {
			return err
		}
	}
	b.out.recordPack(p.ID, wrote)
	if b.market == nil {
		return nil
	}
	return b.exportPlugin(p, trees)
}

// content is the files of one skill.
type content struct {
	name  string
	inv   bundle.Inventory
	files []site.File
}

// store stores the skills of a pack, verified against the index.
func (b *siteBuilder) store(ctx context.Context, p *site.Pack) error {
	s, err := b.client.Machine.Store()
	if err != nil {
		return err
	}
	pinned, err := b.pinnedPack(p.ID)
	if err != nil {
		return err
	}
	want := map[string]string{}
	for _, sk := range p.Skills {
		if bundle.CheckPath(sk.Name) != nil || strings.Contains(sk.Name, "/") {
			return diag.Errorf(diag.Invalid, "invalid skill name %q", sk.Name)
		}
		want[sk.Name] = sk.Tree
	}
	if pinned.Integrity != "" && bundle.Integrity(want) != pinned.Integrity {
		return &bundle.MismatchError{
			What: "the digest of all skills in the index", Want: pinned.Integrity,
			Got: bundle.Integrity(want),
		}
	}
	if slices.ContainsFunc(p.Skills, func(sk site.Skill) bool { return !s.Has(sk.Tree) }) {
		return b.download(ctx, s, pinned, want)
	}
	return nil
}

// readStored reads the skills of a pack that is in the store.
func (b *siteBuilder) readStored(p *site.Pack) ([]content, error) {
	s, err := b.client.Machine.Store()
	if err != nil {
		return nil, err
	}
	all := make([]content, 0, len(p.Skills))
	for _, sk := range p.Skills {
		c, err := readSkill(s, sk)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// pinnedPack returns the source of a pack's displayed version.
func (b *siteBuilder) pinnedPack(id pack.ID) (*pack.Pack, error) {
	if err := index.CheckLayout(b.dir.fsys, b.lines[id].Source); err != nil {
		return nil, err
	}
	return b.lines[id].Pack(pack.Ref{Kind: pack.KindPath, URL: filepath.ToSlash(b.dir.dir)})
}

func (b *siteBuilder) download(ctx context.Context, s *store.Store, p *pack.Pack, want map[string]string) error {
	b.client.Progress(skillpm.Event{Text: fmt.Sprintf("fetching %s %s from %s", p.ID, p.Version, p.Ref.Source())})
	fetcher, err := b.client.fetcher(p.Ref.Kind)
	if err != nil {
		return err
	}
	w, err := s.Writer(bundle.DefaultLimits())
	if err != nil {
		return err
	}
	defer w.Close()
	if err := fetcher.Fetch(ctx, p, nil, w); err != nil {
		return err
	}
	_, err = w.Commit(want)
	return err
}

// readSkill reads a skill from the store, and verifies each file.
func readSkill(s *store.Store, sk site.Skill) (content, error) {
	inv, err := s.Inventory(sk.Tree)
	if err != nil {
		return content{}, err
	}
	c := content{name: sk.Name, inv: inv, files: make([]site.File, 0, len(inv))}
	for _, e := range inv {
		data, err := s.ReadFile(sk.Tree, e.Path)
		if err != nil {
			return content{}, err
		}
		c.files = append(c.files, site.File{Path: e.Path, Executable: e.Executable, Data: data})
	}
	return c, nil
}

// describe adds the metadata from a pack's files, and its findings.
func (b *siteBuilder) describe(ctx context.Context, skills []content, d *site.Details) error {
	findings, err := b.check(ctx, skills)
	if err != nil {
		return err
	}
	for _, c := range skills {
		one := site.Content{Name: c.name, Files: c.inv, Findings: findings[c.name]}
		if i := slices.IndexFunc(c.files, func(f site.File) bool { return f.Path == "SKILL.md" }); i >= 0 {
			one.Markdown = c.files[i].Data
		}
		d.Skills = append(d.Skills, one)
	}
	return nil
}

// check validates the skills of a pack and returns the findings by skill.
func (b *siteBuilder) check(ctx context.Context, skills []content) (map[string][]diag.Finding, error) {
	files, targets := map[string][]byte{}, make([]string, 0, len(skills))
	for _, c := range skills {
		targets = append(targets, c.name)
		for _, f := range c.files {
			files[c.name+"/"+f.Path] = f.Data
		}
	}
	fsys, err := overlayfs.New(emptyFS{}, files)
	if err != nil {
		return nil, err
	}
	linter, err := b.linter()
	if err != nil {
		return nil, err
	}
	report, err := linter.Run(ctx, fsys, targets)
	if err != nil {
		return nil, err
	}
	found := map[string][]diag.Finding{}
	for _, f := range report.Findings {
		name, rest, _ := strings.Cut(f.Path, "/")
		f.Path = rest
		found[name] = append(found[name], f)
	}
	return found, nil
}

// linter returns the linter, which all packs share.
func (b *siteBuilder) linter() (*lint.Linter, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lint == nil {
		l, err := lint.New(lint.Options{
			NoModes: true, Parallel: 1,
			SkillExists: func(name string) bool { return b.skillNames[name] },
		})
		if err != nil {
			return nil, err
		}
		b.lint = l
	}
	return b.lint, nil
}

// emptyFS is an empty file system.
type emptyFS struct{}

func (emptyFS) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// signatures adds the signers of a pack and its provenance.
func (b *siteBuilder) signatures(ctx context.Context, p *site.Pack, d *site.Details) error {
	pinned, err := b.pinnedPack(p.ID)
	if err != nil {
		return err
	}
	if pinned.Ref.Kind == pack.KindGit {
		d.Signed = "This page does not show signatures of git tags. " +
			"skillpm install verifies the signatures if a policy requires them."
		return nil
	}
	found, err := b.verifier.Find(ctx, pinned.Ref, b.keys, nil)
	if httpx.EndOfContext(err) != nil || diag.CodeOf(err) == diag.Remote {
		return err
	}
	if err != nil {
		d.Signed = "skillpm could not read the signatures when it generated this page."
		b.warn("cannot read the signatures of %s %s: %v", p.ID, pinned.Version, err)
		return nil
	}
	for _, f := range found {
		switch f.Kind {
		case trust.KindSignature:
			d.Signatures = append(d.Signatures,
				site.Signature{Signer: signer(f), Verified: f.Verified, Digest: f.Digest})
		case trust.KindProvenance:
			d.Provenance = append(d.Provenance, provenance(f)...)
		}
	}
	return nil
}

// signer returns the verified signer of a signature, or the one that it claims.
func signer(f trust.Found) string {
	switch {
	case f.Identity != "":
		return f.Identity
	case f.Key != "":
		return f.Key
	default:
		return f.Claims
	}
}

func provenance(f trust.Found) []site.Provenance {
	proof := " (not checked)"
	if f.Verified {
		proof = ""
	}
	var out []site.Provenance
	for _, p := range []site.Provenance{
		{Label: "Repository", Value: f.Source.Repository},
		{Label: "Ref", Value: f.Source.Ref},
		{Label: "Commit", Value: f.Source.Commit},
		{Label: "Builder", Value: f.Source.Builder},
		{Label: "Run", Value: f.Source.Run},
	} {
		if p.Value != "" {
			p.Label += proof
			out = append(out, p)
		}
	}
	return out
}

func (b *siteBuilder) warn(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.report.Warnings = append(b.report.Warnings, fmt.Sprintf(format, args...))
}

// exportPlugin writes the skills of a pack for the marketplace.
func (b *siteBuilder) exportPlugin(p *site.Pack, skills []content) error {
	plugin := b.site.Plugin(p.ID, b.plugins[p.ID])
	wrote := lastPack{Version: plugin.Version, Plugin: plugin.Name}
	if err := site.WritePlugin(plugin, wrote.through(b.market)); err != nil {
		return err
	}
	for _, c := range skills {
		for _, f := range c.files {
			name := strings.TrimPrefix(plugin.Source, "./") + "/skills/" + c.name + "/" + f.Path
			wrote.Files = append(wrote.Files, name)
			if err := b.market.file(name, f.Data, f.Executable); err != nil {
				return err
			}
		}
	}
	b.market.recordPack(p.ID, wrote)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.offered = append(b.offered, plugin)
	return nil
}

// discover writes the artifacts of a pack's skills. If another pack has a skill with the same name, it renames the
// skill in its SKILL.md.
func (b *siteBuilder) discover(p *site.Pack, skills []content, wrote *lastPack) error {
	for i, c := range skills {
		name, ok := b.names[pack.SkillKey{Pack: p.ID, Skill: c.name}]
		description := p.Skills[i].Description
		if !ok || description == "" {
			b.warn("skill %s of %s is not in %sindex.json, because the name is invalid or the description is missing",
				c.name, p.ID, site.WellKnown)
			continue
		}
		files, err := withName(c, name)
		if err != nil {
			b.warn("skill %s of %s is not in %sindex.json: %v", c.name, p.ID, site.WellKnown, err)
			continue
		}
		d, err := site.Discover(name, description, files, wrote.through(b.out))
		if err != nil {
			return err
		}
		d.Pack, d.Skill, d.Version = p.ID, c.name, wrote.Version
		wrote.Skills = append(wrote.Skills, lastSkill{c.name, d.Name, d.Type, d.Description})
		b.mu.Lock()
		b.discovered = append(b.discovered, d)
		b.mu.Unlock()
	}
	return nil
}

// withName returns the files of a skill with another name.
func withName(c content, name string) ([]site.File, error) {
	if name == c.name {
		return c.files, nil
	}
	files := slices.Clone(c.files)
	i := slices.IndexFunc(files, func(f site.File) bool { return f.Path == "SKILL.md" })
	if i < 0 {
		return nil, errors.New("the skill does not contain SKILL.md")
	}
	data, err := skill.SpliceName(files[i].Data, name)
	files[i].Data = data
	return files, err
}
