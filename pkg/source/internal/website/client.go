package website

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/source/internal/memo"
)

// Options configure a [Client].
type Options struct {
	Transport http.RoundTripper // nil for one that honors the proxies and certificates of the environment
	UserAgent string
	Limits    bundle.Limits
}

// Client reads packs from websites. It reads each website once. Several goroutines may use it at a time.
type Client struct {
	options Options
	http    *http.Client
	sites   memo.Map[string, *site]
}

// site is a website that was read.
type site struct {
	index    *url.URL
	entries  []entry
	warnings []string

	artifacts memo.Map[string, *artifact] // by the name of the skill
	bytes     atomic.Int64                // that were read
}

// New returns a client. It does not access the network yet.
func New(o Options) *Client {
	if o.Transport == nil {
		o.Transport = httpx.NewTransport()
	}
	o.Limits = o.Limits.OrDefault()
	return &Client{
		options: o,
		http: &http.Client{
			Transport:     httpx.Patient(httpx.Confine(o.Transport, nil), httpx.Retries),
			CheckRedirect: httpx.CheckRedirect,
		},
	}
}

// Versions returns no versions: a website only has a current state.
func (c *Client) Versions(context.Context, pack.Ref) ([]string, error) { return nil, nil }

// Open describes the skills of a website. The digest of the pack is that of the skills that [pack.WithSkills] selects.
// A pinned reference keeps its digest, which [Client.Fetch] compares.
func (c *Client) Open(ctx context.Context, ref pack.Ref) (_ *pack.Pack, err error) {
	defer func() { err = httpx.PreferContext(ctx, err) }()
	s, err := c.site(ctx, ref)
	if err != nil {
		return nil, err
	}
	id, err := ref.DefaultID()
	if err != nil {
		return nil, err
	}
	if ref.Digest == "" {
		skills, _ := pack.SkillsOf(ctx)
		if ref.Digest, err = c.digest(ctx, s, skills); err != nil {
			return nil, err
		}
	}
	p := &pack.Pack{
		ID: id, Version: pack.DefaultVersion("", ref.Digest), Ref: ref, Warnings: slices.Clone(s.warnings),
		Skills: make([]pack.Skill, len(s.entries)),
	}
	for i, e := range s.entries {
		p.Skills[i] = pack.Skill{Name: e.name, Description: e.description}
	}
	return p, nil
}

// Fetch streams the files of the named skills of a pinned pack, or of all its skills if there are no names. Content
// that differs from the pinned digest has the code [diag.Integrity].
func (c *Client) Fetch(ctx context.Context, p *pack.Pack, skills []string, sink bundle.Sink) (err error) {
	defer func() { err = httpx.PreferContext(ctx, err) }()
	s, err := c.site(ctx, p.Ref)
	if err != nil {
		return err
	}
	entries, err := s.choose(p.Ref, skills)
	if err != nil {
		return err
	}
	if err := c.checkPinned(ctx, s, p, skills); err != nil {
		return err
	}
	bad := &pack.BadSkillsError{Pack: p.ID}
	for _, e := range entries {
		a, err := c.artifact(ctx, s, e)
		if err == nil {
			err = a.unpack(e, c.options.Limits, sink)
		}
		if _, ok := errors.AsType[*bundle.EntryError](err); ok {
			bad.Skills = append(bad.Skills, pack.BadSkill{Name: e.name, Err: err})
		} else if err != nil {
			return fmt.Errorf("cannot read skill %s of %s: %w", e.name, p.ID, err)
		}
	}
	if len(bad.Skills) > 0 {
		return bad
	}
	return nil
}

// checkPinned compares the skills with the digest that a pack is pinned to: that of the selected skills, or of all.
func (c *Client) checkPinned(ctx context.Context, s *site, p *pack.Pack, skills []string) error {
	got, err := c.digest(ctx, s, skills)
	if err != nil || got == p.Ref.Digest {
		return err
	}
	if all, err := c.digest(ctx, s, nil); err != nil || all == p.Ref.Digest {
		return err
	}
	return diag.Errorf(diag.Integrity, "the skills at %s changed: expected %s, got %s", p.Ref.URL, p.Ref.Digest, got).
		WithHint(
			"a website does not keep earlier versions; review the current one, and install it with: skillpm update %s", p.ID)
}

// choose returns the entries with these names, or all.
func (s *site) choose(ref pack.Ref, names []string) ([]entry, error) {
	if len(names) == 0 {
		return s.entries, nil
	}
	for _, name := range names {
		if !slices.ContainsFunc(s.entries, func(e entry) bool { return e.name == name }) {
			return nil, diag.Errorf(diag.NotFound, "%s does not contain a skill %q", ref.URL, name).
				WithHint("available skills: %s", textx.First(s.names(), 20))
		}
	}
	isOther := func(e entry) bool { return !slices.Contains(names, e.name) }
	return slices.DeleteFunc(slices.Clone(s.entries), isOther), nil
}

func (s *site) names() []string {
	names := make([]string, len(s.entries))
	for i, e := range s.entries {
		names[i] = e.name
	}
	return names
}

// digest returns a digest of the content of the named skills, or of all: of a line for each skill with its name and the
// digest of its artifact.
func (c *Client) digest(ctx context.Context, s *site, names []string) (string, error) {
	text := strings.Builder{}
	text.WriteString("skillpm-well-known-v1\n")
	for _, e := range s.entries {
		if len(names) > 0 && !slices.Contains(names, e.name) {
			continue
		}
		digest := e.digest
		if digest == "" {
			a, err := c.artifact(ctx, s, e)
			if err != nil {
				return "", err
			}
			digest = a.digest
		}
		text.WriteString(e.name + " " + digest + "\n")
	}
	return "sha256:" + textx.SHA256(text.String()), nil
}

// site reads the index of a website, in the directories of both versions of the draft.
func (c *Client) site(ctx context.Context, ref pack.Ref) (*site, error) {
	base, err := url.Parse(ref.URL)
	if err != nil || ref.Kind != pack.KindWebsite || base.Host == "" {
		return nil, diag.Errorf(diag.Internal, "invalid website %q", ref)
	}
	return c.sites.Get(ctx, ref.URL, func(ctx context.Context) (*site, error) { return c.readSite(ctx, ref, base) })
}

// readSite downloads the index of a website.
func (c *Client) readSite(ctx context.Context, ref pack.Ref, base *url.URL) (*site, error) {
	for _, dir := range pack.WebsiteDirs() {
		at := base.JoinPath(dir, "index.json")
		data, _, err := c.get(ctx, at, maxIndex)
		if diag.CodeOf(err) == diag.NotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		s := &site{index: at}
		if s.entries, s.warnings, err = parseIndex(at, data); err != nil {
			return nil, err
		}
		if len(s.entries) == 0 {
			return nil, diag.Errorf(diag.NotFound, "no skills found in %s", at)
		}
		return s, nil
	}
	return nil, diag.Errorf(diag.NotFound, "%s does not publish skills: neither %s/index.json nor %s/index.json exists",
		ref.URL, pack.WebsiteDirs()[0], pack.WebsiteDirs()[1]).
		WithHint("for a git repository, use git+%s", ref.URL)
}
