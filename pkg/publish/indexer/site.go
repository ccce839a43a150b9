package indexer

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/pkg/publish/internal/site"
	"github.com/skillpm/skillpm/pkg/sign"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// SiteOptions configure [Client.Site].
type SiteOptions struct {
	Dir         string   // of the index; "" means the client's directory
	Out         string   // output directory of the website
	Title       string   // "" for the index's title
	BaseURL     string   // URL where the website will be published; "" if unknown
	Registry    string   // the index's address for skillpm; "" leaves it out
	Keys        []string // public key files, trusted in addition to the user's settings
	NoWellKnown bool     // omit the discovery files of other tools
	Marketplace string   // directory for a Claude Code marketplace; "" for none
	KeepGoing   bool     // write the website although packs cannot be read
}

// SiteReport is the result of [Client.Site].
type SiteReport struct {
	Index       string      `json:"index"`
	Out         string      `json:"out"`
	Marketplace string      `json:"marketplace,omitempty"`
	Packs       int         `json:"packs"`
	Skills      int         `json:"skills"`
	Written     int         `json:"written"`   // written files that were missing or different
	Unchanged   int         `json:"unchanged"` // unchanged files
	Removed     int         `json:"removed"`   // removed files of an earlier website
	Partial     bool        `json:"partial"`   // whether packs are missing in the website that was written
	Unfetched   []Unfetched `json:"unfetched"`
	Warnings    []string    `json:"warnings"`
}

// Unfetched is a pack that could not be read.
type Unfetched struct {
	Pack    string    `json:"pack"`
	Version string    `json:"version"`
	Problem string    `json:"problem"`
	Code    diag.Code `json:"code"`
	Hint    string    `json:"hint,omitempty"`
	Kept    string    `json:"kept,omitempty"` // version that the website still shows
}

// Code is the exit code: OK if every pack could be read, Integrity if content differs from the index, otherwise Remote.
func (r *SiteReport) Code() diag.Code {
	code := diag.OK
	for _, u := range r.Unfetched {
		if u.Code == diag.Integrity {
			return diag.Integrity
		}
		code = diag.Remote
	}
	return code
}

// Site writes a static website of an index: pages to read and search, and discovery files for other tools. It fetches
// and checks packs as an installation does. Site writes only changed files, and removes files of an earlier website
// that are no longer part of it.
//
// If a pack cannot be read, Site changes nothing, and the report names the pack. With [SiteOptions.KeepGoing], the
// website keeps the last pages of such a pack; the page of a pack without earlier pages says that it could not be read.
func (c *Client) Site(ctx context.Context, o SiteOptions) (*SiteReport, error) {
	defer c.Progress(skillpm.Event{Done: true})
	if err := checkSite(&o); err != nil {
		return nil, err
	}
	dir, err := c.open(o.Dir)
	if err != nil {
		return nil, err
	}
	defer dir.close()
	if err := c.checkSeparate(dir, o); err != nil {
		return nil, err
	}
	b := &siteBuilder{
		client: c, dir: dir, options: o,
		report: &SiteReport{
			Index: dir.display, Out: c.DisplayPath(c.Machine.Abs(o.Out)), Unfetched: []Unfetched{},
			Warnings: []string{},
		},
	}
	if err := b.read(); err != nil {
		return nil, err
	}
	if err := b.loadKeys(); err != nil {
		return nil, err
	}
	if err := b.fetchAll(ctx); err != nil {
		return nil, err
	}
	if len(b.report.Unfetched) > 0 && !o.KeepGoing {
		return b.report, nil
	}
	if err := b.openOutputs(); err != nil {
		return nil, err
	}
	defer b.closeOutputs()
	if err := b.keepAll(); err != nil {
		return nil, err
	}
	if err := b.write(ctx); err != nil {
		return nil, err
	}
	return b.report, b.finish()
}

// openOutputs opens the directories of the website and of the marketplace.
func (b *siteBuilder) openOutputs() (err error) {
	b.out, err = openOutput(b.client.Machine.Abs(b.options.Out), b.report.Out, site.Owns)
	if err != nil || b.options.Marketplace == "" {
		return err
	}
	dir := b.client.Machine.Abs(b.options.Marketplace)
	b.report.Marketplace = b.client.DisplayPath(dir)
	if b.market, err = openOutput(dir, b.report.Marketplace, site.OwnsPlugin); err != nil {
		b.out.close()
	}
	return err
}

func (b *siteBuilder) closeOutputs() {
	b.out.close()
	if b.market != nil {
		b.market.close()
	}
}

func checkSite(o *SiteOptions) error {
	if o.Out == "" {
		return diag.Errorf(diag.Usage, "skillpm index site requires --output").WithHint("use --output DIR")
	}
	if o.BaseURL == "" {
		return nil
	}
	u, err := url.Parse(o.BaseURL)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" ||
		u.Fragment != "" {
		return diag.Errorf(diag.Usage, "invalid --base-url %q: use an address such as https://skills.example/packs",
			o.BaseURL)
	}
	return nil
}

// siteBuilder is a call of [Client.Site].
type siteBuilder struct {
	client     *Client
	dir        *indexDir
	options    SiteOptions
	packs      []site.Pack
	lines      map[pack.ID]index.Line // of the displayed versions
	site       *site.Site
	names      map[pack.SkillKey]string
	plugins    map[pack.ID]string
	skillNames map[string]bool // names of all skills
	keys       []*sign.PublicKey
	verifier   finder
	lint       *lint.Linter
	out        *output
	market     *output // nil for none

	mu         sync.Mutex
	report     *SiteReport
	signed     map[pack.ID]site.Details // what is known about the signatures
	failed     map[pack.ID]error        // why a pack cannot be read
	kept       map[pack.ID]bool         // packs that keep their last pages
	discovered []site.Discovered
	offered    []site.Plugin
}

// read converts the index to the packs of the website.
func (b *siteBuilder) read() error {
	b.client.Progress(skillpm.Event{Text: "reading " + b.dir.display})
	b.lines, b.skillNames = map[pack.ID]index.Line{}, map[string]bool{}
	b.signed, b.failed, b.kept = map[pack.ID]site.Details{}, map[pack.ID]error{}, map[pack.ID]bool{}
	for entry, err := range b.dir.entries() {
		if err != nil {
			return err
		}
		p, line, err := sitePack(entry)
		if err != nil {
			return fmt.Errorf("%s: %w", index.Path(entry.ID), err)
		}
		for _, s := range p.Skills {
			b.skillNames[s.Name] = true
			b.report.Skills++
		}
		b.lines[p.ID] = line
		b.packs = append(b.packs, p)
	}
	b.report.Packs = len(b.packs)
	var err error
	b.site, err = site.New(site.Options{
		Title: cmp.Or(b.options.Title, b.dir.config.Title), BaseURL: b.options.BaseURL, Registry: b.options.Registry,
		AICatalog: b.options.BaseURL != "" && !b.options.NoWellKnown,
	}, b.packs)
	return err
}

// sitePack returns the metadata of a pack, and the line of the displayed version.
func sitePack(entry *index.Entry) (site.Pack, index.Line, error) {
	p := site.Pack{ID: entry.ID, Deprecated: entry.Deprecated}
	for _, l := range entry.Versions {
		p.Versions = append(p.Versions, site.Version{
			Version: l.Version, Published: l.Published, Yanked: l.Yanked, Source: l.Source, Digest: l.Digest,
			Integrity: l.Integrity,
		})
	}
	line := entry.Versions[site.Displayed(p.Versions)]
	p.Description, p.License, p.Tags, p.Origin = line.Description, line.License, line.Tags, entry.Origin(line)
	for _, s := range line.Skills {
		p.Skills = append(p.Skills, site.Skill{Name: s.Name, Description: s.Description, Tree: s.Tree})
	}
	slices.SortFunc(p.Skills, func(a, b site.Skill) int { return strings.Compare(a.Name, b.Name) })
	var err error
	p.Dependencies, err = line.Dependencies.List()
	return p, line, err
}

// loadKeys opens the fetchers and verifiers.
func (b *siteBuilder) loadKeys() error {
	config, err := b.client.Machine.UserConfig()
	if err != nil {
		return err
	}
	b.verifier = b.client.Sources(config).Verifier(false)
	files := slices.Clone(b.options.Keys)
	for i := range files {
		files[i] = b.client.Machine.Abs(files[i])
	}
	required := len(files)
	for _, name := range config.TrustedKeys {
		files = append(files, config.File(name))
	}
	for i, file := range files {
		data, err := safefile.ReadFile(file, 1<<20)
		if err != nil {
			return diag.Errorf(diag.NotFound, "cannot read the public key %s: %w", b.client.DisplayPath(file), err)
		}
		key, err := sign.ParsePublic(data)
		if err != nil && i < required {
			return fmt.Errorf("%s: %w", b.client.DisplayPath(file), err)
		}
		if err == nil { // the settings may contain keys for git tags only
			b.keys = append(b.keys, key)
		}
	}
	return nil
}

// maxPacks is the number of packs that are fetched, checked, and written concurrently.
const maxPacks = 4

func (b *siteBuilder) write(ctx context.Context) error {
	if err := b.site.Lists(b.out.write); err != nil {
		return err
	}
	if err := b.eachPack(ctx, b.pack); err != nil {
		return err
	}
	return b.writeShared()
}

// eachPack calls f for all packs, several at once, until the first error.
func (b *siteBuilder) eachPack(ctx context.Context, f func(context.Context, *site.Pack) error) error {
	group, ctx := bug.WithContext(ctx)
	group.SetLimit(maxPacks)
	for i := range b.packs {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return f(ctx, &b.packs[i])
		})
	}
	return group.Wait()
}

// writeShared writes the files for other tools.
func (b *siteBuilder) writeShared() error {
	// Static file servers that use Jekyll ignore dot files unless this file exists.
	if err := b.out.write(".nojekyll", nil); err != nil {
		return err
	}
	if !b.options.NoWellKnown {
		if err := site.WriteDiscovery(b.discovered, b.out.write); err != nil {
			return err
		}
		if b.options.BaseURL != "" {
			if err := b.site.WriteCatalog(b.discovered, b.out.write); err != nil {
				return err
			}
		}
	}
	if b.market == nil {
		return nil
	}
	return b.site.WriteMarketplace(b.offered, b.market.write)
}

// finish removes the files of earlier websites, and completes the report.
func (b *siteBuilder) finish() error {
	for _, o := range []*output{b.out, b.market} {
		if o == nil {
			continue
		}
		if err := o.finish(); err != nil {
			return err
		}
		b.report.Written += o.written
		b.report.Unchanged += o.unchanged
		b.report.Removed += o.removed
		b.report.Warnings = append(b.report.Warnings, o.unowned...)
	}
	b.report.Partial = len(b.report.Unfetched) > 0
	slices.Sort(b.report.Warnings)
	return nil
}
