package indexer

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/internal/httpx"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// maxSources is the number of versions that are checked concurrently.
const maxSources = 8

// sources checks the source of each version.
func (k *checker) sources(ctx context.Context) error {
	if k.options.Offline {
		k.report.Notes = append(k.report.Notes, "skillpm is offline and did not verify the sources")
		return nil
	}
	var mu sync.Mutex
	group, ctx := bug.WithContext(ctx)
	group.SetLimit(maxSources)
	for _, entry := range k.entries {
		name := index.Path(entry.ID)
		for _, l := range entry.Versions {
			if k.options.New && k.isListed(name, l.Version) {
				continue
			}
			k.report.Fetched++
			group.Go(func() error {
				k.client.Progress(skillpm.Event{Text: "checking " + l.Name + " " + l.Version})
				f, code, err := k.source(ctx, l)
				if err != nil || f == nil {
					return err
				}
				mu.Lock()
				defer mu.Unlock()
				f.Path, f.Line = name, k.lines[name][l.Version]
				k.find(code, *f)
				return nil
			})
		}
	}
	return group.Wait()
}

// isListed reports whether the earlier commit already has a version.
func (k *checker) isListed(name, version string) bool {
	if k.changed == nil {
		return false
	}
	if !k.changed[name] {
		return true
	}
	if before := k.before[name]; before != nil {
		_, ok := before.Line(version)
		return ok
	}
	return false
}

// source checks one version. It returns an error only if the whole check must stop.
func (k *checker) source(ctx context.Context, l index.Line) (*diag.Finding, diag.Code, error) {
	p, err := l.Pack(pack.Ref{Kind: pack.KindPath, URL: filepath.ToSlash(k.dir.dir)})
	if err != nil {
		return nil, 0, nil //nolint:nilerr // already reported with the file
	}
	found, err := k.client.fetch(ctx, p)
	if ended := httpx.EndOfContext(err); ended != nil {
		return nil, 0, ended
	}
	if err != nil {
		f, code := sourceFinding(l, err)
		return f, code, nil
	}
	if wrong := disagreement(l, p, found); wrong != "" {
		return &diag.Finding{
			Rule: ruleContent, Message: fmt.Sprintf("%s %s at %s %s", l.Name, l.Version, l.Source, wrong),
			Fix: "regenerate the line from the published pack with: skillpm index add",
		}, diag.Integrity, nil
	}
	return nil, 0, nil
}

// fetch opens a pinned pack. If the source does not state the skills' tree digests, it fetches and hashes them.
func (c *Client) fetch(ctx context.Context, p *pack.Pack) (*pack.Pack, error) {
	sources, err := c.UserSources()
	if err != nil {
		return nil, err
	}
	// The lines may be a stranger's. They may name this machine, as an index on it, but not a cloud's metadata server.
	if err := sources.Named().Add("http://localhost", p.Ref.URL); err != nil {
		return nil, err
	}
	fetcher, err := c.fetcher(p.Ref.Kind)
	if err != nil {
		return nil, err
	}
	found, err := fetcher.Open(ctx, p.Ref)
	if err != nil {
		return nil, err
	}
	if found.Integrity != "" && !slices.ContainsFunc(found.Skills, func(s pack.Skill) bool { return s.Tree == "" }) {
		return found, nil
	}
	trees, err := hash(ctx, fetcher, found)
	if err != nil {
		return nil, err
	}
	return found, describe(found, trees)
}

// sourceFinding describes why a version cannot be fetched from its source.
func sourceFinding(l index.Line, err error) (*diag.Finding, diag.Code) {
	f := &diag.Finding{
		Rule: ruleSource, Message: fmt.Sprintf("%s %s: %v", l.Name, l.Version, err),
		Fix: diag.HintOf(err),
	}
	switch code := diag.CodeOf(err); code {
	case diag.Remote, diag.Denied:
		return f, diag.Remote
	case diag.NotFound:
		f.Message = fmt.Sprintf("%s %s: %s does not contain %s", l.Name, l.Version, l.Source, l.Digest)
		f.Fix = "publish the version again with the same content, or yank the version"
		return f, diag.Integrity
	case diag.Integrity:
		return f, diag.Integrity
	default:
		return f, diag.Invalid
	}
}

// disagreement describes how published content differs from its line, or returns "".
func disagreement(l index.Line, p, found *pack.Pack) string {
	switch {
	case found.ID != p.ID && p.Ref.Kind != pack.KindGit:
		return fmt.Sprintf("has the name %s", found.ID)
	case found.Version != l.Version && !strings.HasPrefix(found.Version, "0.0.0-g"):
		return fmt.Sprintf("has the version %s", found.Version)
	case l.Integrity != "" && found.Integrity != l.Integrity:
		return fmt.Sprintf("has the integrity %s, but the index has the integrity %s", found.Integrity, l.Integrity)
	}
	for _, s := range p.Skills {
		real, ok := found.Skill(s.Name)
		switch {
		case !ok:
			return fmt.Sprintf("does not contain the skill %s", s.Name)
		case real.Tree != s.Tree:
			return fmt.Sprintf("has the skill %s with the digest %s, but the index has the digest %s", s.Name, real.Tree, s.Tree)
		}
	}
	if len(found.Skills) != len(p.Skills) {
		return fmt.Sprintf("has %s, but the index lists %d", textx.Count(len(found.Skills), "skill"), len(p.Skills))
	}
	if want, has := p.Requires.Table(), found.Requires.Table(); !maps.Equal(want, has) {
		return fmt.Sprintf("requires of the machine: %s; the index has: %s", tableText(has), tableText(want))
	}
	return dependencies(p, found)
}

// tableText returns a table of requirements as text.
func tableText(table map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(table)) {
		parts = append(parts, name+" "+table[name])
	}
	return cmp.Or(strings.Join(parts, ", "), "nothing")
}

// dependencies names a dependency that differs between a version and its line, or returns "".
func dependencies(p, found *pack.Pack) string {
	for _, pair := range []struct {
		a, b *pack.Pack
		what string
	}{
		{found, p, "requires %s %s, but the index does not contain exactly this dependency"},
		{p, found, "does not require %s %s, but the index contains this dependency"},
	} {
		for _, d := range pair.a.Dependencies {
			same := func(o pack.Dependency) bool {
				return o.ID == d.ID && o.Constraint == d.Constraint && slices.Equal(o.Skills, d.Skills)
			}
			if !slices.ContainsFunc(pair.b.Dependencies, same) {
				return fmt.Sprintf(pair.what, d.ID, d.Constraint)
			}
		}
	}
	return ""
}
