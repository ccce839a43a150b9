package skillpm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/internal/txn"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skill/agent"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// TryOptions configure [Client.Try].
type TryOptions struct {
	Pack     string   // a source, in the syntax of install
	Skills   []string // of the pack; none means all
	Registry string   // look names up here only
	Offline  bool     // use no network
	Signing  Signing
}

// Trial is a project in the cache with one pack.
type Trial struct {
	Dir    string       `json:"dir"` // of the project; its .agents/skills and .claude/skills have the skills
	Pack   PackReport   `json:"pack"`
	Skills []TrialSkill `json:"skills"`
	// Requires are the packs that came along.
	Requires []PackReport `json:"requires"`
	Warnings []string     `json:"warnings"`

	unlock func() error
}

// Unlock allows [Client.CacheGC] to remove the directory.
func (t *Trial) Unlock() error { return t.unlock() }

// Close removes the directory.
func (t *Trial) Close() error { return errors.Join(t.unlock(), os.RemoveAll(t.Dir)) }

// trialLock is the file in a trial's directory that a process locks while it uses the trial.
const trialLock = ".in-use"

// TrialSkill is one skill of a trial.
type TrialSkill struct {
	Name         string `json:"name"`
	Description  string `json:"description"`
	AllowedTools string `json:"allowedTools,omitempty"` // as its frontmatter has it
	Dir          string `json:"dir"`                    // absolute
}

// Try installs a pack with its dependencies into a new project in the cache, so that it can be used without being
// installed anywhere. Names are looked up as in the project around the working directory. The directory is locked: the
// caller closes the trial, or unlocks it, so that [Client.CacheGC] can remove it.
func (c *Client) Try(ctx context.Context, o TryOptions) (*Trial, error) {
	ref, err := pack.Parse(o.Pack)
	if err != nil {
		return nil, err
	}
	if ref.Kind == pack.KindPath || ref.Kind == pack.KindLayout {
		ref.URL = filepath.ToSlash(c.Machine.Abs(filepath.FromSlash(ref.URL)))
	}
	manifest, err := c.trialManifest()
	if err != nil {
		return nil, err
	}
	dir, err := c.trialDir(manifest)
	if err != nil {
		return nil, err
	}
	unlock, err := txn.Lock(ctx, filepath.Join(dir, trialLock))
	if err != nil {
		_ = os.RemoveAll(dir) // the first error matters
		return nil, err
	}
	trial, err := c.tryIn(ctx, dir, ref, o)
	if err != nil {
		_ = (&Trial{Dir: dir, unlock: unlock}).Close() // as above
		return nil, err
	}
	trial.unlock = unlock
	return trial, nil
}

// trialDir creates the project.
func (c *Client) trialDir(manifest []byte) (string, error) {
	if err := os.MkdirAll(c.Paths.Trials(), 0o755); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(c.Paths.Trials(), "try-")
	if err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(dir, scope.ManifestName), manifest, 0o644)
}

// tryIn installs the pack into the project at dir.
func (c *Client) tryIn(ctx context.Context, dir string, ref pack.Ref, o TryOptions) (*Trial, error) {
	options := c.Options
	options.Dir, options.PolicyProject = dir, c.projectRoot()
	for i, file := range o.Signing.Keys {
		o.Signing.Keys[i] = c.Machine.Abs(file)
	}
	in := New(options)
	defer in.Close()
	if o.Registry != "" {
		o.Registry = absoluteRegistry(c.Dir, o.Registry)
	}
	r, err := in.Install(ctx, InstallOptions{
		ChangeOptions: ChangeOptions{
			Registry: o.Registry, Offline: o.Offline, Signing: o.Signing, reference: c.projectLock(),
		},
		Packs: []string{ref.String()}, Skills: o.Skills, Agents: trialAgents(),
	})
	if err != nil {
		return nil, err
	}
	trial := &Trial{Dir: dir, Skills: []TrialSkill{}, Requires: []PackReport{}, Warnings: r.Warnings}
	for _, p := range r.Packs {
		if !p.Direct {
			trial.Requires = append(trial.Requires, p)
			continue
		}
		trial.Pack = p
		for _, s := range p.Skills {
			trial.Skills = append(trial.Skills, describeTrialSkill(filepath.Join(dir, filepath.FromSlash(s.Dir)),
				s.Name))
		}
	}
	return trial, nil
}

// projectLock returns the lock of the project around the working directory, nil if there is none that can be read.
func (c *Client) projectLock() *pack.Lock {
	if c.projectRoot() == "" {
		return nil
	}
	w, err := c.Machine.Open(scope.KindProject, false)
	if err != nil {
		return nil // whoever installs gets the error
	}
	return w.Lock
}

// projectRoot returns the root of the project around the working directory, "" if there is none.
func (c *Client) projectRoot() string {
	if s, found, err := c.Paths.Project(c.Dir); err == nil && found {
		return s.Root
	}
	return ""
}

// describeTrialSkill describes a skill, with only its name if it can't be read.
func describeTrialSkill(dir, name string) TrialSkill {
	t := TrialSkill{Name: name, Dir: dir}
	doc, _, err := skill.Load(os.DirFS(dir), ".")
	if err != nil {
		return t
	}
	t.Description = doc.Description()
	if _, tools := doc.Lookup("allowed-tools"); tools != nil {
		texts := []string{skill.ScalarText(tools)}
		for _, item := range tools.Content {
			texts = append(texts, skill.ScalarText(item))
		}
		t.AllowedTools = strings.TrimSpace(strings.Join(texts, " "))
	}
	return t
}

// trialManifest returns a manifest with the registries of the project around the working directory.
func (c *Client) trialManifest() ([]byte, error) {
	var b bytes.Buffer
	w, err := c.Machine.Open(scope.KindProject, false)
	if diag.CodeOf(err) == diag.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	base := filepath.Dir(w.Scope.Manifest())
	if len(w.Manifest.Registries) > 0 {
		b.WriteString("registries:\n")
	}
	for _, r := range w.Manifest.Registries {
		name := ""
		if r.Name != r.URL {
			name = fmt.Sprintf("name: %q, ", r.Name)
		}
		fmt.Fprintf(&b, "  - {%surl: %q}\n", name, absoluteRegistry(base, r.URL))
	}
	if len(w.Manifest.Namespaces) > 0 {
		b.WriteString("namespaces:\n")
	}
	for _, owner := range slices.Sorted(maps.Keys(w.Manifest.Namespaces)) {
		to := w.Manifest.Namespaces[owner]
		if !slices.ContainsFunc(w.Manifest.Registries, func(r pack.Registry) bool {
			return r.Name == to &&
				r.Name != r.URL
		}) {
			to = absoluteRegistry(base, to)
		}
		fmt.Fprintf(&b, "  %s: %q\n", owner, to)
	}
	if w.Manifest.MinReleaseAge > 0 {
		fmt.Fprintf(&b, "min-release-age: %q\n", w.Manifest.MinReleaseAge)
	}
	return b.Bytes(), nil
}

// trialAgents are agents whose directories cover those of the others.
func trialAgents() []string { return []string{agent.SharedID, "claude-code"} }

// absoluteRegistry makes a registry's directory absolute if it is relative to base.
func absoluteRegistry(base, url string) string {
	dir, layout := strings.CutPrefix(url, "oci-layout:")
	switch {
	case strings.ContainsAny(dir, "@") || strings.Contains(dir, "://") || dir == registry.Local ||
		dir == registry.Embedded:
		return url
	case !filepath.IsAbs(dir):
		dir = filepath.Join(base, dir)
	}
	if layout {
		return "oci-layout:" + dir
	}
	return dir
}
