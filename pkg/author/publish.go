package author

import (
	"context"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/bundle"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/project"
	"github.com/skillpm/skillpm/pkg/provider"
	"github.com/skillpm/skillpm/pkg/registry"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/source"
	"github.com/skillpm/skillpm/pkg/source/oci"
	"github.com/skillpm/skillpm/pkg/store"
)

// PublishOptions says what to publish where.
type PublishOptions struct {
	Dir    string // of the pack; "" means the client's directory
	To     string // oci://host/namespace or oci-layout:DIR; "" means the user's local layout
	DryRun bool   // list the files, look whether the version is there already, and publish nothing
}

// PublishReport says what was published, or why not.
type PublishReport struct {
	Pack     string            `json:"pack"`
	Version  string            `json:"version"`
	Target   string            `json:"target"` // the place, as install takes it
	Digest   string            `json:"digest,omitempty"`
	Existed  bool              `json:"existed"` // the same content was there already
	DryRun   bool              `json:"dryRun"`
	Valid    bool              `json:"valid"`
	Root     string            `json:"root"`
	Requires map[string]string `json:"requires"` // pack -> range of versions, as published
	Findings []diag.Finding    `json:"findings"`
	Files    []PublishedFile   `json:"files"`
	Size     int64             `json:"size"` // bytes of all files
	Check    lint.Report       `json:"-"`    // Findings with the lines that they are about
}

// PublishedFile is a file that goes into the pack.
type PublishedFile struct {
	Path string `json:"path"` // skill/path
	Mode string `json:"mode"` // 644 or 755
	Size int64  `json:"size"`
}

// Publish checks a pack and pushes it. A pack with errors is not published: the report has Valid false and the findings.
func (c *Client) Publish(ctx context.Context, o PublishOptions) (*PublishReport, error) {
	defer c.Progress(provider.Event{Done: true})
	dir := c.packDir(o.Dir)
	m, err := c.publishable(dir)
	if err != nil {
		return nil, err
	}
	to, err := c.publishTarget(o.To, m.Name)
	if err != nil {
		return nil, err
	}
	r := &PublishReport{
		Pack: m.Name.String(), Version: m.Version, Target: to.String(), DryRun: o.DryRun, Root: dir,
		Requires: map[string]string{}, Findings: []diag.Finding{}, Files: []PublishedFile{},
	}
	for _, d := range m.Dependencies {
		r.Requires[d.ID.String()] = project.Required(d)
	}
	if r.Check, err = c.checkSkills(ctx, dir); err != nil {
		return nil, err
	}
	r.Findings, r.Valid = append(r.Findings, r.Check.Findings...), r.Check.OK()
	if !r.Valid {
		return r, nil
	}
	p, trees, err := c.collect(ctx, dir)
	if err != nil {
		return nil, err
	}
	for _, t := range trees {
		r.addFiles(t)
	}
	from, err := c.UserSources()
	if err != nil {
		return nil, err
	}
	push, doing := from.OCI().Push, "publishing "
	if o.DryRun {
		push, doing = from.OCI().CheckPush, "looking for "
	}
	c.Progress(provider.Event{Text: doing + r.Pack + " " + r.Version})
	pushed, err := push(ctx, to, release(m, p, trees), trees, oci.PushOptions{})
	if err != nil {
		return nil, err
	}
	r.Digest, r.Existed = pushed.Digest, pushed.Existed
	return r, nil
}

// publishable reads the manifest of a pack that can be published. Dependencies at a path are by version in it.
func (c *Client) publishable(dir string) (*project.Manifest, error) {
	file := filepath.Join(dir, project.ManifestName)
	m, err := c.readManifest(file)
	if err != nil {
		return nil, err
	}
	switch {
	case m.Name.IsZero() && len(m.Workspace) > 0:
		return nil, diag.Errorf(diag.Invalid, "%s has no name: it is the root of a workspace", file).
			WithHint("skillpm publish --workspace publishes its packs")
	case m.Name.IsZero():
		return nil, diag.Errorf(diag.Invalid, "%s has no name", file).WithHint("add a line: name: owner/%s", skill.Slug(filepath.Base(dir)))
	case m.Version == "":
		return nil, diag.Errorf(diag.Invalid, "%s has no version", file).WithHint("add a line: version: \"0.1.0\"")
	case strings.Contains(m.Version, "+"):
		return nil, diag.Errorf(diag.Invalid, "version %s has build metadata, which tags of OCI registries can't have", m.Version).
			WithHint("drop the part from +")
	}
	m = m.Clone()
	for i, d := range m.Dependencies {
		if m.Dependencies[i], err = c.byVersion(dir, m, d); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// publishTarget returns the place that a pack is published at.
func (c *Client) publishTarget(to string, id source.ID) (source.Ref, error) {
	switch {
	case to == "" || to == "local":
		return source.Ref{Kind: source.KindLocal, ID: id}, nil
	case strings.HasPrefix(to, "oci://"):
		return source.Parse(registry.Repository(strings.TrimSuffix(to, "/"), id))
	case strings.HasPrefix(to, "oci-layout:"):
		dir := strings.TrimPrefix(to, "oci-layout:")
		if dir == "" {
			return source.Ref{}, diag.Errorf(diag.Usage, "--to oci-layout: names no directory").WithHint("write oci-layout:DIR")
		}
		return source.Ref{Kind: source.KindLayout, URL: filepath.ToSlash(c.Machine.Abs(dir)), ID: id}, nil
	default:
		return source.Ref{}, diag.Errorf(diag.Usage, "%q is not a place to publish to", to).
			WithHint("write oci://HOST/NAMESPACE or oci-layout:DIR")
	}
}

// checkSkills lints the skills that the pack has: those that its manifest names, not every one below its directory.
func (c *Client) checkSkills(ctx context.Context, dir string) (lint.Report, error) {
	content, err := project.Describe(os.DirFS(dir), source.Ref{Kind: source.KindPath, URL: filepath.ToSlash(dir)})
	if err != nil {
		return lint.Report{}, err
	}
	var paths []string
	for _, s := range content.Skills {
		at := filepath.Join(dir, filepath.FromSlash(s.Dir))
		if rel, err := filepath.Rel(c.Dir, at); err == nil && filepath.IsLocal(rel) {
			at = rel // findings name paths as the user would
		}
		paths = append(paths, at)
	}
	return c.Validate(ctx, ValidateOptions{Paths: paths})
}

// collect reads a pack's files into the store, as installing it would, so that what is published is what was hashed.
func (c *Client) collect(ctx context.Context, dir string) (*source.Pack, []bundle.Tree, error) {
	from, err := c.UserSources()
	if err != nil {
		return nil, nil, err
	}
	files := from.File(dir)
	p, err := files.Open(ctx, source.Ref{Kind: source.KindPath, URL: filepath.ToSlash(dir)})
	if err != nil {
		return nil, nil, err
	}
	s, err := c.Machine.Store()
	if err != nil {
		return nil, nil, err
	}
	w, err := s.Writer(bundle.DefaultLimits())
	if err != nil {
		return nil, nil, err
	}
	defer w.Close()
	if err := files.Fetch(ctx, p, nil, w); err != nil {
		return nil, nil, err
	}
	digests, err := w.Commit(nil)
	if err != nil {
		return nil, nil, err
	}
	trees, err := storedTrees(s, digests)
	return p, trees, err
}

func storedTrees(s *store.Store, digests map[string]string) ([]bundle.Tree, error) {
	var trees []bundle.Tree
	for _, name := range slices.Sorted(maps.Keys(digests)) {
		t, err := s.Tree(name, digests[name])
		if err != nil {
			return nil, err
		}
		trees = append(trees, t)
	}
	return trees, nil
}

// release describes what is published.
func release(m *project.Manifest, p *source.Pack, trees []bundle.Tree) oci.Release {
	rel := oci.Release{ID: m.Name, Version: m.Version, Description: m.Description, License: m.License, Dependencies: m.Dependencies}
	for _, t := range trees {
		meta := oci.SkillMeta{Name: t.Name}
		if s, ok := p.Skill(t.Name); ok {
			meta.Description = s.Description
		}
		declared(&meta, t)
		rel.Skills = append(rel.Skills, meta)
	}
	return rel
}

// declared adds what a skill's frontmatter says of it.
func declared(meta *oci.SkillMeta, t bundle.Tree) {
	f, err := t.Open(skill.File)
	if err != nil {
		return // it was checked before
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, skill.MaxFile))
	if err != nil {
		return
	}
	doc, _ := skill.Parse(data)
	meta.License, meta.Compatibility = doc.License(), doc.Compatibility()
	switch _, tools := doc.Lookup("allowed-tools"); {
	case tools == nil:
	case tools.Kind == yaml.SequenceNode:
		for _, item := range tools.Content {
			meta.AllowedTools = append(meta.AllowedTools, skill.ScalarText(item))
		}
	case !strings.Contains(skill.ScalarText(tools), "("): // a tool with arguments may have spaces in them
		meta.AllowedTools = strings.Fields(skill.ScalarText(tools))
	default:
		meta.AllowedTools = []string{skill.ScalarText(tools)}
	}
	if _, table := doc.Lookup("metadata"); table != nil && table.Kind == yaml.MappingNode {
		meta.Metadata = map[string]string{}
		for i := 0; i+1 < len(table.Content); i += 2 {
			meta.Metadata[skill.ScalarText(table.Content[i])] = skill.ScalarText(table.Content[i+1])
		}
	}
}

func (r *PublishReport) addFiles(t bundle.Tree) {
	for _, e := range t.Inventory {
		mode := "644"
		if e.Executable {
			mode = "755"
		}
		r.Files = append(r.Files, PublishedFile{Path: path.Join(t.Name, e.Path), Mode: mode, Size: e.Size})
		r.Size += e.Size
	}
}
