package publish

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/sign"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skillpm"
	"github.com/skillpm/skillpm/pkg/source/oci"
	"github.com/skillpm/skillpm/pkg/store"
)

// ReleaseOptions configure [Client.Publish].
type ReleaseOptions struct {
	Dir        string // the pack's directory; "" means the client's
	To         string // oci://host/namespace, oci-layout:DIR or local; "" means the registry that the owner is bound to
	DryRun     bool   // report what would be published and whether the version exists; publish nothing
	AllowDirty bool   // do not warn about uncommitted files
	KeepTags   bool   // do not move the tags 1.4, 1 and latest
	Format     string // the artifact's format, one of oci.Format…

	// Signer signs the release; nil leaves it unsigned.
	Signer sign.Signer

	// Test runs the offline tests, whose result the release records; nil if there is no test runner. A pack that
	// requires tests needs it.
	Test        OfflineTests
	Evaluations []Evaluation // evaluations of the pack's skills that the release records

	packOnly  bool       // the pack is written to a layout and not published yet
	checkouts *checkouts // the repositories that the packs of one workspace share
}

// ReleaseReport is the result of [Client.Publish].
type ReleaseReport struct {
	Pack     string            `json:"pack"`
	Version  string            `json:"version"`
	Target   string            `json:"target"` // the source, in the syntax of "skillpm install"
	Digest   string            `json:"digest,omitempty"`
	Existed  bool              `json:"existed"` // the same content was already published
	DryRun   bool              `json:"dryRun"`
	Valid    bool              `json:"valid"`
	Root     string            `json:"root"`
	Requires map[string]string `json:"requires"`           // pack -> range of versions, as published
	Source   string            `json:"source,omitempty"`   // the repository of the pack's files, as published
	Revision string            `json:"revision,omitempty"` // the commit in Source
	Words    []string          `json:"words"`              // search terms that find the pack
	Tags     []string          `json:"tags"`               // the registry's tags that refer to the version
	Signer   string            `json:"signer,omitempty"`   // fingerprint of the key, or the identity
	Warnings []string          `json:"warnings"`
	Findings []diag.Finding    `json:"findings"`
	Tests    []TestCounts      `json:"tests"` // that the release records: offline tests first
	Files    []PublishedFile   `json:"files"`
	Size     int64             `json:"size"`               // bytes of all files
	Manifest json.RawMessage   `json:"manifest,omitempty"` // of a dry run: what would be published
	Bound    bool              `json:"-"`                  // Target comes from the binding of the owner
	Registry string            `json:"-"`                  // the OCI registry with Target, "" if it is on this machine
	Check    lint.Report       `json:"-"`                  // findings with their lines
}

// PublishedFile is a file that goes into the pack.
type PublishedFile struct {
	Path string `json:"path"` // skill/path
	Mode string `json:"mode"` // 644 or 755
	Size int64  `json:"size"`
}

// Publish checks a pack and pushes it. A pack with errors is not published: the report has Valid false and the
// found.
func (c *Client) Publish(ctx context.Context, o ReleaseOptions) (*ReleaseReport, error) {
	defer c.Progress(skillpm.Event{Done: true})
	dir := c.packDir(o.Dir)
	m, err := c.releaseManifest(dir)
	if err != nil {
		return nil, err
	}
	target, err := c.publishTarget(o.To, m.Name)
	if err != nil {
		return nil, err
	}
	r, err := c.publishAt(ctx, m, dir, target.ref, o)
	if r != nil {
		r.setTarget(target)
	}
	return r, err
}

// publishAt publishes the pack of a manifest to target.
func (c *Client) publishAt(ctx context.Context, m *pack.Manifest, dir string, target pack.Ref,
	o ReleaseOptions,
) (*ReleaseReport, error) {
	r := newReport(m, dir)
	r.Target, r.DryRun = target.String(), o.DryRun
	if !o.packOnly {
		notes, err := c.MayPublish(target, r.Pack, o.Signer != nil)
		if err != nil {
			return nil, err
		}
		r.Warnings = append(r.Warnings, notes...)
	}
	artifact, err := c.assemble(ctx, m, dir, r, o)
	if err != nil {
		return nil, err
	}
	if !r.Valid {
		return r, nil
	}
	sources, err := c.UserSources()
	if err != nil {
		return nil, err
	}
	if o.Signer != nil && !o.DryRun {
		if r.Signer, err = signerName(ctx, o.Signer); err != nil { // before anything is stored
			return nil, err
		}
	}
	push, doing := sources.OCI().Push, "publishing "
	if o.DryRun {
		push, doing = sources.OCI().CheckPush, "looking for "
	}
	c.Progress(skillpm.Event{Text: doing + r.Pack + " " + r.Version})
	var pushed oci.Pushed
	send := func() (err error) {
		pushed, err = push(ctx, target, artifact.release, artifact.trees,
			oci.PushOptions{
				Format: o.Format, Moving: !o.KeepTags, Provenance: artifact.origin.provenance(),
				Attach: c.attachments(artifact, o.Signer, sources.Verifier(false), target),
			})
		return err
	}
	if o.DryRun || o.packOnly {
		err = send()
	} else {
		err = c.RecordPublish(target, artifact.record(r.Signer), send)
	}
	if err != nil {
		return nil, err
	}
	r.Digest, r.Existed = pushed.Digest, pushed.Existed
	r.Tags = append(r.Tags, pushed.Tags...)
	r.Source, r.Revision = pushed.Provenance.Source, pushed.Provenance.Revision
	if pushed.Existed {
		r.Warnings = append(r.Warnings, formatWarnings(pushed.Manifest, o.Format, len(artifact.trees))...)
	}
	if o.DryRun && json.Valid(pushed.Manifest) {
		r.Manifest = pushed.Manifest
	}
	return r, nil
}

// formatWarnings warns if an existing version has another format than the requested one.
func formatWarnings(manifest []byte, format string, skills int) []string {
	published := oci.FormatOf(manifest)
	if published == format || published == oci.FormatPack && format == oci.FormatAgentSkills && skills == 1 {
		return nil
	}
	return []string{"earlier versions of the pack have the format " + cmp.Or(published, "skillpm") +
		", and published versions keep their format"}
}

// setTarget records how the target was chosen.
func (r *ReleaseReport) setTarget(target publishTarget) {
	r.Bound, r.Registry = target.bound, target.registry
	if target.warning != "" {
		r.Warnings = append(r.Warnings, target.warning)
	}
}

// newReport returns a report with the data of the manifest.
func newReport(m *pack.Manifest, dir string) *ReleaseReport {
	r := &ReleaseReport{
		Pack: m.Name.String(), Version: m.Version, Root: dir, Requires: map[string]string{},
		Words: []string{}, Tags: []string{}, Warnings: []string{}, Findings: []diag.Finding{}, Files: []PublishedFile{},
		Tests: []TestCounts{},
	}
	for _, d := range m.Dependencies {
		r.Requires[d.ID.String()] = pack.FormatRequirement(d)
	}
	return r
}

// releaseArtifact is a checked pack with its files.
type releaseArtifact struct {
	release oci.Release
	trees   []bundle.Tree
	origin  *origin // nil for what is in no repository
	tests   []*sign.TestResult
}

// record returns the entry of a release in the audit log.
func (a *releaseArtifact) record(signer string) audit.Record {
	trees := map[string]string{}
	for _, t := range a.trees {
		trees[t.Name] = t.Inventory.Digest()
	}
	return audit.Record{
		Pack: a.release.ID.String(), Version: a.release.Version, Tree: bundle.Integrity(trees), Signer: signer,
	}
}

// assemble validates a pack, collects its files, and fills in the report. It returns nil if the pack is not valid.
func (c *Client) assemble(ctx context.Context, m *pack.Manifest, dir string, r *ReleaseReport,
	o ReleaseOptions,
) (*releaseArtifact, error) {
	var err error
	if r.Check, err = c.checkSkills(ctx, dir); err != nil {
		return nil, err
	}
	r.Findings, r.Valid = append(r.Findings, r.Check.Findings...), r.Check.OK()
	if !r.Valid {
		return nil, nil
	}
	p, trees, err := c.collect(ctx, dir)
	if err != nil {
		return nil, err
	}
	for _, t := range trees {
		r.addFiles(t)
	}
	artifact := &releaseArtifact{release: release(m, p, trees), trees: trees}
	r.Words = append(r.Words, artifact.release.Tags...)
	if artifact.tests, err = c.testResults(ctx, m, dir, trees, r, o); err != nil {
		return nil, err
	}
	if artifact.origin, err = c.originOf(ctx, m, dir, trees, o.checkouts); err != nil {
		if !o.AllowDirty {
			r.Warnings = append(r.Warnings, "the release will not record its source: "+err.Error())
		}
	} else if artifact.origin != nil {
		if !o.AllowDirty {
			r.Warnings = append(r.Warnings, artifact.origin.warnings()...)
		}
	}
	return artifact, nil
}

// releaseManifest reads the manifest of a pack, checks that it can be published, and replaces dependencies at a path by
// dependencies by version.
func (c *Client) releaseManifest(dir string) (*pack.Manifest, error) {
	file := filepath.Join(dir, pack.ManifestName)
	m, err := c.readManifest(file)
	if err != nil {
		return nil, err
	}
	switch {
	case m.Name.IsZero() && len(m.Workspace) > 0:
		return nil, diag.Errorf(diag.Invalid, "%s does not have a name: it is the root of a workspace", file).
			WithHint("publish the packs of the workspace with: skillpm publish --workspace")
	case m.Name.IsZero():
		return nil, diag.Errorf(diag.Invalid, "%s does not have a name", file).
			WithHint("add a name and a version with: skillpm init OWNER/%s",
				cmp.Or(skill.Slug(filepath.Base(dir)), "NAME"))
	case m.Version == "":
		return nil, diag.Errorf(diag.Invalid, "%s does not have a version",
			file).WithHint("add the line version: \"0.1.0\"")
	case strings.Contains(m.Version, "+"):
		return nil, diag.Errorf(diag.Invalid, "version %s has build metadata, which OCI tags do not support",
			m.Version).
			WithHint("remove the plus sign and the text after it")
	}
	m = m.Clone()
	for i, d := range m.Dependencies {
		if m.Dependencies[i], err = c.requireByVersion(dir, m, d); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// collect reads a pack's files into the store as an installation would, so that the published files are the hashed
// ones.
func (c *Client) collect(ctx context.Context, dir string) (*pack.Pack, []bundle.Tree, error) {
	sources, err := c.UserSources()
	if err != nil {
		return nil, nil, err
	}
	files := sources.File(dir)
	p, err := files.Open(ctx, pack.Ref{Kind: pack.KindPath, URL: filepath.ToSlash(dir)})
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

func (r *ReleaseReport) addFiles(t bundle.Tree) {
	for _, e := range t.Inventory {
		mode := "644"
		if e.Executable {
			mode = "755"
		}
		r.Files = append(r.Files, PublishedFile{Path: path.Join(t.Name, e.Path), Mode: mode, Size: e.Size})
		r.Size += e.Size
	}
}
