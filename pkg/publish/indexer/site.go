package indexer

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/pkg/publish/internal/site"
	"github.com/skillpm/skillpm/pkg/sign"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// SiteOptions say what catalogue to make of which index.
type SiteOptions struct {
	Dir         string   // of the index; "" means the directory that the verbs work in
	Out         string   // the directory that the catalogue is written to
	Title       string   // "" for the index's own
	BaseURL     string   // where it will be published, "" where that is not known
	Registry    string   // how the index is named to skillpm, "" to leave it out
	Keys        []string // files of public keys: their signatures count as verified, with those of the user's settings
	NoWellKnown bool     // without what other tools discover skills by
	Marketplace string   // a directory for a Claude Code marketplace, "" for none
}

// SiteReport says what was made.
type SiteReport struct {
	Index       string      `json:"index"`
	Out         string      `json:"out"`
	Marketplace string      `json:"marketplace,omitempty"`
	Packs       int         `json:"packs"`
	Skills      int         `json:"skills"`
	Written     int         `json:"written"`   // files that were not there, or other
	Unchanged   int         `json:"unchanged"` // files that were as they are
	Removed     int         `json:"removed"`   // files of an earlier catalogue
	Unfetched   []Unfetched `json:"unfetched"`
	Warnings    []string    `json:"warnings"`
}

// Unfetched is a pack whose page says that it could not be fetched.
type Unfetched struct {
	Pack    string `json:"pack"`
	Version string `json:"version"`
	Problem string `json:"problem"`
}

// Site writes a static catalogue of an index: pages to read and search, and what other tools discover skills by. Packs
// are fetched and checked as for an install. A pack that cannot be fetched has a page that says so. Files are written
// where they changed, and those of an earlier catalogue removed that are not part of it any more.
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
		report: &SiteReport{Index: dir.display, Unfetched: []Unfetched{}, Warnings: []string{}},
	}
	if err := b.read(); err != nil {
		return nil, err
	}
	if err := b.loadKeys(); err != nil {
		return nil, err
	}
	if b.out, err = openOutput(c.Machine.Abs(o.Out), c.DisplayPath(c.Machine.Abs(o.Out)), site.Owns); err != nil {
		return nil, err
	}
	defer b.out.close()
	if o.Marketplace != "" {
		dir := c.Machine.Abs(o.Marketplace)
		if b.market, err = openOutput(dir, c.DisplayPath(dir), site.OwnsPlugin); err != nil {
			return nil, err
		}
		defer b.market.close()
		b.report.Marketplace = b.market.display
	}
	b.report.Out = b.out.display
	if err := b.write(ctx); err != nil {
		return nil, err
	}
	return b.report, b.finish()
}

func checkSite(o *SiteOptions) error {
	if o.Out == "" {
		return diag.Errorf(diag.Usage, "the catalogue needs a directory").WithHint("name one with --out DIR")
	}
	if o.BaseURL == "" {
		return nil
	}
	u, err := url.Parse(o.BaseURL)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" ||
		u.Fragment != "" {
		return diag.Errorf(diag.Usage, "--base-url %q is not an address such as https://skills.example/catalogue",
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
	lines      map[pack.ID]index.Line // of the versions that are shown
	site       *site.Site
	names      map[site.SkillKey]string
	plugins    map[pack.ID]string
	skillNames map[string]bool // names of skills in the catalogue
	keys       []*sign.PublicKey
	verifier   finder
	lint       *lint.Linter
	out        *output
	market     *output // nil for none

	mu         sync.Mutex
	report     *SiteReport
	discovered []site.Discovered
	offered    []site.Plugin
}

// read turns the index into the packs of the catalogue.
func (b *siteBuilder) read() error {
	b.client.Progress(skillpm.Event{Text: "reading " + b.dir.display})
	b.lines, b.skillNames = map[pack.ID]index.Line{}, map[string]bool{}
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
	}, b.packs)
	if err != nil {
		return err
	}
	b.names, b.plugins = b.site.SkillNames(), b.site.PluginNames()
	return nil
}

// sitePack returns what an index says of a pack, and the line of the version that is shown.
func sitePack(entry *index.Entry) (site.Pack, index.Line, error) {
	p := site.Pack{ID: entry.ID, Deprecated: entry.Deprecated}
	for _, l := range entry.Versions {
		p.Versions = append(p.Versions, site.Version{
			Version: l.Version, Published: l.Published, Yanked: l.Yanked, Source: l.Source, Digest: l.Digest,
			Integrity: l.Integrity,
		})
	}
	line := entry.Versions[site.Displayed(p.Versions)]
	p.Description, p.License, p.Tags = line.Description, line.License, line.Tags
	for _, s := range line.Skills {
		p.Skills = append(p.Skills, site.Skill{Name: s.Name, Description: s.Description, Tree: s.Tree})
	}
	slices.SortFunc(p.Skills, func(a, b site.Skill) int { return strings.Compare(a.Name, b.Name) })
	var err error
	p.Dependencies, err = line.Dependencies.List()
	return p, line, err
}

// loadKeys gets ready what packs are fetched and checked with.
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
			return diag.Errorf(diag.NotFound, "the public key %s: %w", b.client.DisplayPath(file), err)
		}
		key, err := sign.ParsePublic(data)
		if err != nil && i < required {
			return fmt.Errorf("%s: %w", b.client.DisplayPath(file), err)
		}
		if err == nil { // the settings may name keys of other kinds, which sign git tags
			b.keys = append(b.keys, key)
		}
	}
	return nil
}

// maxPacks is how many packs are fetched, checked and written at once.
const maxPacks = 4

func (b *siteBuilder) write(ctx context.Context) error {
	if err := b.site.Lists(b.out.write); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxPacks)
	for i := range b.packs {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return b.pack(ctx, &b.packs[i])
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return b.writeShared()
}

// writeShared writes what is for other tools.
func (b *siteBuilder) writeShared() error {
	// Servers of static pages that know Jekyll leave out what begins with a dot, unless this file is there.
	if err := b.out.write(".nojekyll", nil); err != nil {
		return err
	}
	if !b.options.NoWellKnown {
		if err := site.WriteDiscovery(b.discovered, b.out.write); err != nil {
			return err
		}
	}
	if b.market == nil {
		return nil
	}
	return b.site.WriteMarketplace(b.offered, b.market.write)
}

// finish removes what earlier catalogues had, and sums up.
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
	slices.SortFunc(b.report.Unfetched, func(a, b Unfetched) int { return strings.Compare(a.Pack, b.Pack) })
	slices.Sort(b.report.Warnings)
	return nil
}
