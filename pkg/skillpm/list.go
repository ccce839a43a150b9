package skillpm

import (
	"cmp"
	"context"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/base"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
	"github.com/skillpm/skillpm/pkg/source/registry"
	registryindex "github.com/skillpm/skillpm/registry-index"
)

// ListReport is what a scope has installed.
type ListReport struct {
	Scope     string               `json:"scope"`
	Root      string               `json:"root"`
	Packs     []PackReport         `json:"packs"`
	Agents    []workspace.AgentDir `json:"agents"`
	Named     []string             `json:"namedAgents,omitempty"` // ids of the agents that the manifest names
	Conflicts []NameConflict       `json:"conflicts"`

	Manifest     string `json:"-"` // path of skillpm.yaml
	ManifestData []byte `json:"-"` // its content
}

// List lists what the lockfile of a scope has.
func (c *Client) List(ctx context.Context, scopeKind string) (*ListReport, error) {
	w, l, err := c.installed(scopeKind)
	if err != nil {
		return nil, err
	}
	r := &ListReport{
		Scope: w.Scope.Kind, Root: w.Scope.Root, Agents: l.Dirs, Named: w.Manifest.Agents, Packs: []PackReport{},
		Conflicts: nameConflicts(l), Manifest: w.Scope.Manifest(), ManifestData: w.Manifest.Bytes(),
	}
	denied, known := c.denials(w), c.knownAdvisories(ctx, w)
	for _, id := range sortedIDs(l.Packs) {
		p := packReport(w, w.Manifest, id, l.Packs[id], l, statusNow(w, l))
		denied.markPack(ctx, w, l, id, &p)
		if found := affected(known, id, l.Packs[id]); found != nil {
			p.Advisories = found.Advisories
		}
		r.Packs = append(r.Packs, p)
	}
	return r, nil
}

// installed opens a scope and computes the layout of its lockfile.
func (c *Client) installed(scopeKind string) (*workspace.Workspace, *workspace.Layout, error) {
	w, err := c.Machine.Open(scopeKind, false)
	if err != nil {
		return nil, nil, err
	}
	l, err := w.InstalledLayout()
	return w, l, err
}

// PackInfo describes an installed or offered pack.
type PackInfo struct {
	Pack        string   `json:"pack"`
	Version     string   `json:"version"`
	Description string   `json:"description,omitempty"`
	License     string   `json:"license,omitempty"`
	Source      string   `json:"source"`
	Demo        bool     `json:"demo,omitempty"` // it comes with skillpm, to try commands without a registry
	Resolved    string   `json:"resolved,omitempty"`
	Versions    []string `json:"versions,omitempty"`   // offered versions, newest first
	Yanked      string   `json:"yanked,omitempty"`     // why the version was yanked
	Deprecated  string   `json:"deprecated,omitempty"` // why not to use the pack
	// Advisories are about the described version, as far as this machine knows.
	Advisories []AdvisoryRef `json:"advisories,omitempty"`
	PackDenial
	Dependencies map[string]string `json:"dependencies,omitempty"`
	Installed    *PackReport       `json:"installed,omitempty"`
	Skills       []SkillInfo       `json:"skills"`
	Tests        []Tests           `json:"tests,omitempty"` // that the publisher or others attached
}

// SkillInfo describes a skill of a pack.
type SkillInfo struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Denied      string `json:"denied,omitempty"` // why the policies deny it

	Capabilities *Capabilities `json:"capabilities,omitempty"` // if it is installed or in the store
}

// Info is what a name stands for: owner/name[@constraint] for a pack, skill or skill@owner/name for an installed skill.
type Info struct {
	Pack  *PackInfo        `json:"pack,omitempty"`
	Skill *InstalledSkill  `json:"skill,omitempty"`
	Also  []InstalledSkill `json:"also,omitempty"` // other skills of that name
}

// InstalledSkill is a skill in its pack.
type InstalledSkill struct {
	Pack        string `json:"pack"`
	Version     string `json:"version"`
	Source      string `json:"source"`
	Demo        bool   `json:"demo,omitempty"` // its pack is a demo pack
	Description string `json:"description,omitempty"`
	BareOwner   string `json:"bareOwner,omitempty"` // the pack whose skill has its bare name, if another has it
	SkillReport
}

// Info describes a pack or an installed skill.
func (c *Client) Info(ctx context.Context, name, scopeKind, registry string) (*Info, error) {
	beforeAt, _, _ := strings.Cut(name, "@")
	if !strings.Contains(beforeAt, "/") {
		return c.skillInfo(ctx, name, beforeAt, scopeKind)
	}
	ref, err := pack.Parse(name)
	if err != nil {
		return nil, err
	}
	if ref.Kind != pack.KindName {
		return nil, diag.Errorf(diag.Usage, "%s is a source, not the name of a pack or of an installed skill",
			name).
			WithHint("list installed packs with \"skillpm list\", or show what is known about the source with --signatures")
	}
	if _, l, err := c.installed(scopeKind); err == nil && l.Packs[ref.ID] == nil && name == ref.ID.String() {
		if skills, err := skillsNamed(name, l); err != nil || len(skills) > 0 {
			return c.skillInfo(ctx, name, ref.ID.Name, scopeKind)
		}
	}
	p, err := c.packInfo(ctx, ref, scopeKind, registry)
	if err != nil {
		return nil, err
	}
	return &Info{Pack: p}, nil
}

// skillInfo finds installed skills: one of a certain pack, or all of a name, with the one that has the name first.
func (c *Client) skillInfo(ctx context.Context, name, skill, scopeKind string) (*Info, error) {
	w, l, err := c.installed(scopeKind)
	if err != nil {
		return nil, err
	}
	skills, err := skillsNamed(name, l)
	if err != nil {
		return nil, err
	}
	if len(skills) == 0 {
		return nil, noSuchSkill(name, skill, l)
	}
	var found []InstalledSkill
	denied := c.denials(w)
	for _, n := range skills {
		found = append(found, installedSkill(ctx, w, l, n, denied))
	}
	rank := func(s InstalledSkill) int {
		switch {
		case s.Link == skill:
			return 0
		case s.OwnName:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(found, func(a, b InstalledSkill) int { return cmp.Compare(rank(a), rank(b)) })
	return &Info{Skill: &found[0], Also: found[1:]}, nil
}

func installedSkill(
	ctx context.Context, w *workspace.Workspace, l *workspace.Layout, n pack.NamedSkill, denied *denials,
) InstalledSkill {
	locked := l.Packs[n.Pack]
	report := packReport(w, w.Manifest, n.Pack, locked, l, statusNow(w, l))
	denied.markPack(ctx, w, l, n.Pack, &report)
	i := slices.IndexFunc(report.Skills, func(s SkillReport) bool { return s.Name == n.Skill })
	s := InstalledSkill{
		Pack: n.Pack.String(), Version: locked.Version, Source: locked.Source, Demo: report.Demo,
		SkillReport: report.Skills[i],
		Description: describe(w.Scope.PluginSkill(n.Pack, n.Skill)),
	}
	if s.Installed {
		s.Capabilities = capabilitiesIn(safefile.Dir(w.Scope.PluginSkill(n.Pack, n.Skill)))
	}
	for _, other := range l.Named {
		if other.Link == n.Skill && other.Pack != n.Pack {
			s.BareOwner = other.Pack.String()
		}
	}
	return s
}

func noSuchSkill(name, skill string, l *workspace.Layout) error {
	var have []string
	for _, n := range l.Named {
		have = append(have, n.Link, n.Skill+"@"+n.Pack.String())
	}
	err := diag.Errorf(diag.NotFound, "skill %q is not installed", name)
	if near := diag.Nearest(skill, have); near != "" {
		return err.WithHint("did you mean %s?", near)
	}
	return err.WithHint("list installed packs with: skillpm list")
}

// packInfo describes a pack as installed and as offered or, with a constraint, the highest offered version that it
// allows. An unreachable registry does not hide what is installed.
func (c *Client) packInfo(ctx context.Context, ref pack.Ref, scopeKind, from string) (*PackInfo, error) {
	w, l, err := c.installed(scopeKind)
	if err != nil {
		if diag.CodeOf(err) != diag.NotFound {
			return nil, err
		}
		if w, err = c.Machine.Open(scopeKind, true); err != nil {
			return nil, err
		}
		l = &workspace.Layout{}
	}
	info, denied := &PackInfo{Pack: ref.ID.String(), Skills: []SkillInfo{}}, c.denials(w)
	locked, have := w.Lock.Packs[ref.ID]
	if have {
		report := packReport(w, w.Manifest, ref.ID, locked, l, statusNow(w, l))
		denied.markPack(ctx, w, l, ref.ID, &report)
		info.Installed, info.Version, info.Source, info.Resolved = &report, locked.Version, locked.Source,
			locked.Resolved
		for _, s := range report.Skills {
			one := SkillInfo{Name: s.Name, Description: describe(w.Scope.PluginSkill(ref.ID, s.Name))}
			if s.Installed {
				one.Capabilities = capabilitiesIn(safefile.Dir(w.Scope.PluginSkill(ref.ID, s.Name)))
			}
			info.Skills = append(info.Skills, one)
		}
		info.Dependencies = map[string]string{}
		maps.Copy(info.Dependencies, locked.Dependencies)
	}
	offered, err := c.onOffer(ctx, w, ref, from, info)
	if err != nil && (!have || ref.Constraint != "") {
		return nil, err
	}
	if offered != nil {
		if !have || offered.Version != locked.Version {
			if err := c.describeOffered(info, offered); err != nil {
				return nil, err
			}
		}
		info.fill(offered)
		info.Tests = c.testsOf(ctx, offered.Ref)
	}
	info.Demo = registry.IsDemo(ref.ID, info.Source)
	info.markDenied(denied, ref.ID)
	described := &pack.LockedPack{Version: info.Version}
	if have && locked.Version == info.Version {
		described = locked
	} else if offered != nil {
		described.Skills = offeredTrees(offered)
	}
	if found := affected(c.currentAdvisories(ctx, w), ref.ID, described); found != nil {
		info.Advisories = found.Advisories
	}
	return info, nil
}

// markDenied adds what the policies deny of the pack. If the described version is installed, its files were checked,
// too.
func (i *PackInfo) markDenied(denied *denials, id pack.ID) {
	names, reasons := []string{}, map[string]string{}
	for at := range i.Skills {
		s := &i.Skills[at]
		s.Denied = denied.skillDenial(s.Name, "", id, i.Source)
		if i.Installed != nil && i.Installed.Version == i.Version {
			for _, have := range i.Installed.Skills {
				if have.Name == s.Name {
					s.Denied = cmp.Or(s.Denied, have.Denied)
				}
			}
		}
		names, reasons[s.Name] = append(names, s.Name), s.Denied
	}
	i.PackDenial = packDenial(names, func(name string) string { return reasons[name] })
}

// onOffer asks the registries for a pack's versions and describes the installed version, or else the highest that the
// constraint allows. It describes a yanked version only if no other fits.
func (c *Client) onOffer(
	ctx context.Context, w *workspace.Workspace, ref pack.Ref, registry string, info *PackInfo,
) (*pack.Pack, error) {
	services, err := c.Services(ctx, w, base.ServiceOptions{Registry: registry})
	if err != nil {
		return nil, err
	}
	reg, err := services.Backend.Find(ctx, ref.ID)
	if err != nil {
		return nil, err
	}
	list, err := reg.Versions(ctx, ref.ID)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, v := range list {
		all = append(all, v.Version)
		info.Deprecated = cmp.Or(info.Deprecated, v.Deprecated)
		if !v.Yanked {
			info.Versions = append(info.Versions, v.Version)
		}
	}
	version := info.Version
	if version == "" || ref.Constraint != "" {
		if version, err = highest(info.Versions, ref); err != nil {
			if version, _ = highest(all, ref); version == "" {
				return nil, err
			}
		}
	}
	for _, v := range list {
		if v.Version == version && v.Yanked {
			info.Yanked = cmp.Or(v.Reason, "no reason given")
		}
	}
	return reg.Pack(ctx, ref.ID, version)
}

// describeOffered describes the skills of a version that is not installed.
func (c *Client) describeOffered(info *PackInfo, p *pack.Pack) error {
	store, err := c.Machine.Store()
	if err != nil {
		return err
	}
	info.Skills = []SkillInfo{}
	for _, s := range p.Skills {
		one := SkillInfo{Name: s.Name, Description: s.Description}
		if s.Tree != "" && store.Has(s.Tree) {
			if files, err := store.FS(s.Tree); err == nil {
				one.Capabilities = capabilitiesIn(files)
			}
		}
		info.Skills = append(info.Skills, one)
	}
	return nil
}

// fill completes the description from what a source states of a version.
func (i *PackInfo) fill(p *pack.Pack) {
	i.Version, i.Description, i.License = p.Version, p.Description, p.License
	i.Source, i.Resolved = p.Ref.Source(), p.Ref.Digest
	i.Dependencies = map[string]string{}
	for _, d := range p.Dependencies {
		i.Dependencies[d.ID.String()] = pack.FormatRequirement(d)
	}
}

// highest returns the highest of the versions that the reference's constraint allows, and prefers releases to pre-
// releases.
func highest(versions []string, ref pack.Ref) (string, error) {
	text := ref.Constraint
	if text == "latest" {
		text = ""
	}
	for _, try := range []string{cmp.Or(text, "*"), cmp.Or(text, "*-0")} {
		allowed, err := semver.NewConstraint(try)
		if err != nil {
			return "", diag.Errorf(diag.Usage, "invalid version range %q: %v", text, err)
		}
		best := (*semver.Version)(nil)
		for _, v := range versions {
			if parsed, err := semver.StrictNewVersion(v); err == nil && allowed.Check(parsed) &&
				(best == nil || parsed.GreaterThan(best)) {
				best = parsed
			}
		}
		if best != nil {
			return best.String(), nil
		}
	}
	return "", diag.Errorf(diag.NotFound, "no version of %s matches %q", ref.ID, text).
		WithHint("available versions: %s", strings.Join(versions, ", "))
}

// describe returns the description of an installed skill, "" if it can't be read.
func describe(dir string) string {
	doc, _, err := skill.Load(os.DirFS(dir), ".")
	if err != nil {
		return ""
	}
	if d := doc.Description(); d != "" {
		return d
	}
	return skill.FirstParagraph(doc.Body())
}

// AgentDir is a directory that agents read skills from.
type AgentDir = workspace.AgentDir

// KnownPacks returns the names of the packs of the embedded index, for completion and suggestions: without the demo
// packs if a registry is configured.
func (c *Client) KnownPacks() []string {
	var names []string
	settings, settingsErr := c.Registries(context.Background())
	areConfigured := settingsErr == nil && settings.areConfigured()
	// the embedded index is always readable
	_ = fs.WalkDir(registryindex.FS, "packs", func(file string, _ fs.DirEntry, err error) error {
		name, ok := strings.CutSuffix(path.Base(file), ".ndjson")
		owner := path.Base(path.Dir(file))
		if ok && err == nil && (owner == registry.OfficialOwner || !areConfigured) {
			names = append(names, owner+"/"+name)
		}
		return nil
	})
	slices.Sort(names)
	return names
}

// InstalledNames returns the packs that a scope's manifest requires and its installed skills, under the names that
// agents see and with their packs. It is for completion: what can't be read has no names.
func (c *Client) InstalledNames(scopeKind string) (packs, skills []string) {
	return c.completions(scopeKind, func(w *workspace.Workspace, _ *workspace.Layout) (ids []pack.ID) {
		for _, d := range w.Manifest.Dependencies {
			ids = append(ids, d.ID)
		}
		return ids
	})
}

// LockedNames is [Client.InstalledNames] with all installed packs, also those that only other packs require.
func (c *Client) LockedNames(scopeKind string) (packs, skills []string) {
	return c.completions(scopeKind, func(_ *workspace.Workspace, l *workspace.Layout) []pack.ID {
		return sortedIDs(l.Packs)
	})
}

func (c *Client) completions(
	scopeKind string, packsOf func(*workspace.Workspace, *workspace.Layout) []pack.ID,
) (packs, skills []string) {
	w, l, err := c.installed(scopeKind)
	if err != nil {
		return nil, nil
	}
	for _, id := range packsOf(w, l) {
		packs = append(packs, id.String())
	}
	for _, n := range l.Named {
		skills = append(skills, n.Link, n.Skill+"@"+n.Pack.String())
	}
	slices.Sort(skills)
	return packs, slices.Compact(skills)
}

// LinkedNames returns the linked packs of a scope, for completion.
func (c *Client) LinkedNames(scopeKind string) []string {
	w, err := c.Machine.Open(scopeKind, false)
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(w.Linked()))
}
