package indexer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/advisory"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/skill"
)

// AdvisoryOptions configure [Client.AddAdvisory].
type AdvisoryOptions struct {
	Dir  string // of the index; "" means the client's directory
	File string // of an OSV record; all fields below but DryRun are empty then

	ID           string   // "" means the next free id
	Pack         string   // owner/name; "" for content in any pack
	Introduced   string   // first affected version; "" means the first one
	Fixed        string   // first version that is not affected
	LastAffected string   // last affected version
	Versions     []string // single affected versions
	Trees        []string // tree digests, or directories of skills
	Capabilities []string // what the affected skills can do: capabilities of policies
	Malicious    bool
	Summary      string
	Details      string
	Aliases      []string
	References   []string // URLs
	Withdraw     string   // the id of an advisory to withdraw; the fields above are empty then

	DryRun bool // write nothing
}

// check refuses combinations that make no sense, and values that no advisory can have.
func (o AdvisoryOptions) check() error {
	described := o.Pack != "" || len(o.Trees) > 0
	switch {
	case o.Withdraw != "" && (described || o.File != ""), o.File != "" && described:
		return diag.Errorf(diag.Usage, "use only one of PACK or --tree, --file, and --withdraw")
	case o.File != "" || o.Withdraw != "":
		for _, f := range o.described() {
			if f.set {
				return diag.Errorf(diag.Usage, "%s cannot be used with --file or --withdraw", f.name)
			}
		}
		return nil
	case !described:
		return diag.Errorf(diag.Usage, "skillpm index advisory add needs PACK, --tree, --file, or --withdraw")
	case o.Summary == "":
		return diag.Errorf(diag.Usage, "skillpm index advisory add needs --summary").
			WithHint("describe the problem in one sentence")
	}
	if o.ID != "" {
		if err := advisory.CheckID(o.ID); err != nil {
			return diag.Errorf(diag.Usage, "%w", err)
		}
	}
	for _, c := range o.Capabilities {
		if known := policy.CapabilityNames(); !slices.Contains(known, c) {
			return diag.Errorf(diag.Usage, "unknown capability %q", c).WithHint("use one of %s", strings.Join(known, ", "))
		}
	}
	for _, text := range o.References {
		if u, err := url.Parse(text); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
			return diag.Errorf(diag.Usage, "--reference %q is not the https:// address of a page", text)
		}
	}
	return o.checkVersions()
}

// option is a flag of a new advisory, and whether it is used.
type option struct {
	name string
	set  bool
}

// described returns the options of a new advisory, except of what it is about.
func (o AdvisoryOptions) described() []option {
	return append(o.versions(),
		option{"--capability", len(o.Capabilities) > 0}, option{"--malicious", o.Malicious},
		option{"--summary", o.Summary != ""}, option{"--details", o.Details != ""},
		option{"--alias", len(o.Aliases) > 0}, option{"--reference", len(o.References) > 0}, option{"--id", o.ID != ""})
}

// versions returns the options for versions of a pack.
func (o AdvisoryOptions) versions() []option {
	return []option{
		{"--introduced", o.Introduced != ""},
		{"--fixed", o.Fixed != ""},
		{"--last-affected", o.LastAffected != ""},
		{"--affected", len(o.Versions) > 0},
	}
}

// checkVersions checks the pack and its versions.
func (o AdvisoryOptions) checkVersions() error {
	if o.Pack == "" {
		for _, f := range o.versions() {
			if f.set {
				return diag.Errorf(diag.Usage, "%s requires PACK", f.name)
			}
		}
		return nil
	}
	if _, err := pack.ParseID(o.Pack); err != nil {
		return err
	}
	if o.Fixed != "" && o.LastAffected != "" {
		return diag.Errorf(diag.Usage, "--fixed cannot be used with --last-affected").
			WithHint("use --last-affected if no version is fixed")
	}
	parsed := map[string]*semver.Version{}
	for _, f := range append([][2]string{
		{"--introduced", o.Introduced}, {"--fixed", o.Fixed}, {"--last-affected", o.LastAffected},
	}, namedVersions(o.Versions)...) {
		if f[1] == "" || f[0] == "--introduced" && f[1] == "0" { // 0 is before all versions
			continue
		}
		v, err := semver.StrictNewVersion(f[1])
		if err != nil {
			return diag.Errorf(diag.Usage, "%s: invalid version %q", f[0], f[1]).
				WithHint("use a semantic version, such as 1.4.0")
		}
		parsed[f[0]] = v
	}
	first, fixed, last := parsed["--introduced"], parsed["--fixed"], parsed["--last-affected"]
	switch {
	case first != nil && fixed != nil && !first.LessThan(fixed):
		return diag.Errorf(diag.Usage, "--introduced %s is not lower than --fixed %s", first, fixed)
	case first != nil && last != nil && first.GreaterThan(last):
		return diag.Errorf(diag.Usage, "--introduced %s is higher than --last-affected %s", first, last)
	}
	return nil
}

func namedVersions(versions []string) (list [][2]string) {
	for _, v := range versions {
		list = append(list, [2]string{"--affected", v})
	}
	return list
}

// AdvisoryReport is the result of [Client.AddAdvisory].
type AdvisoryReport struct {
	Index    string             `json:"index"`
	File     string             `json:"file"`     // of the advisory, relative to the index
	Advisory *advisory.Advisory `json:"advisory"` // its content
	Changed  bool               `json:"changed"`
	DryRun   bool               `json:"dryRun"`
}

// AddAdvisory writes the file of an advisory, or withdraws an advisory. An advisory about malicious versions of a pack in
// the index also gets the tree digests of their skills, so that copies under another name are found.
func (c *Client) AddAdvisory(_ context.Context, o AdvisoryOptions) (*AdvisoryReport, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	dir, err := c.open(o.Dir)
	if err != nil {
		return nil, err
	}
	defer dir.close()
	a, err := c.newAdvisory(dir, o)
	if err != nil {
		return nil, err
	}
	if err := a.Check(); err != nil {
		return nil, err
	}
	data, err := a.Encode()
	if err != nil {
		return nil, err
	}
	r := &AdvisoryReport{Index: dir.display, File: advisory.Path(a.ID), Advisory: a, DryRun: o.DryRun}
	if o.DryRun {
		return r, nil
	}
	r.Changed, err = dir.write(r.File, data)
	return r, err
}

// newAdvisory returns the advisory that options describe.
func (c *Client) newAdvisory(dir *indexDir, o AdvisoryOptions) (*advisory.Advisory, error) {
	switch {
	case o.Withdraw != "":
		return c.withdrawn(dir, o.Withdraw)
	case o.File != "":
		return c.readAdvisory(o.File)
	}
	now := c.Now().UTC().Truncate(time.Second)
	a := &advisory.Advisory{
		SchemaVersion: advisory.SchemaVersion, ID: o.ID, Modified: now, Published: &now, Aliases: o.Aliases,
		Summary: o.Summary, Details: o.Details,
	}
	if o.Malicious {
		a.Specific = &advisory.Specific{Malicious: true}
	}
	for _, url := range o.References {
		a.References = append(a.References, advisory.Reference{Type: "WEB", URL: url})
	}
	x, err := c.affected(dir, o)
	if err != nil {
		return nil, err
	}
	a.Affected = []advisory.Affected{x}
	if a.ID == "" {
		a.ID, err = dir.nextID(now.Year())
	} else if _, exists := dir.advisory(a.ID); exists == nil {
		return nil, diag.Errorf(diag.Conflict, "advisory %s already exists in %s", a.ID, dir.display).
			WithHint("edit %s, or use another --id", path.Join(dir.display, advisory.Path(a.ID)))
	}
	return a, err
}

// withdrawn returns an advisory of the index as withdrawn.
func (c *Client) withdrawn(dir *indexDir, id string) (*advisory.Advisory, error) {
	if err := advisory.CheckID(id); err != nil {
		return nil, err
	}
	a, err := dir.advisory(id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, diag.Errorf(diag.NotFound, "advisory %s does not exist in %s", id, dir.display)
	}
	if err == nil && a.Withdrawn == nil {
		now := c.Now().UTC().Truncate(time.Second)
		a.Modified, a.Withdrawn = now, &now
	}
	return a, err
}

// readAdvisory reads an OSV record that another program wrote.
func (c *Client) readAdvisory(file string) (*advisory.Advisory, error) {
	data, err := safefile.ReadFile(c.Machine.Abs(file), advisory.MaxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, diag.Errorf(diag.NotFound, "%s does not exist", file).WithHint("use the file of an OSV record")
	}
	if err != nil {
		return nil, diag.Errorf(diag.CodeOf(err), "cannot read the advisory: %w", err)
	}
	a, err := advisory.Parse(data)
	if err != nil {
		return nil, diag.Errorf(diag.Invalid, "%s: %w", file, err)
	}
	if !slices.ContainsFunc(a.Affected, func(x advisory.Affected) bool {
		return x.Package.Ecosystem == advisory.Ecosystem
	}) {
		return nil, diag.Errorf(diag.Invalid, "%s: no affected package has the ecosystem %s", file, advisory.Ecosystem)
	}
	return a, nil
}

// affected returns the pack and the versions, or the content, that options describe.
func (c *Client) affected(dir *indexDir, o AdvisoryOptions) (advisory.Affected, error) {
	x := advisory.Affected{Package: advisory.Package{Ecosystem: advisory.Ecosystem, Name: o.Pack}}
	if o.Pack == "" {
		x.Package.Name = advisory.AnyPack
	} else if o.Introduced != "" || o.Fixed != "" || o.LastAffected != "" || len(o.Versions)+len(o.Trees) == 0 {
		events := []advisory.Event{{Introduced: "0"}}
		if o.Introduced != "" {
			events[0].Introduced = o.Introduced
		}
		if o.Fixed != "" {
			events = append(events, advisory.Event{Fixed: o.Fixed})
		}
		if o.LastAffected != "" {
			events = append(events, advisory.Event{LastAffected: o.LastAffected})
		}
		x.Ranges = []advisory.Range{{Type: "SEMVER", Events: events}}
	}
	x.Versions = o.Versions
	trees, err := c.trees(o.Trees)
	if err != nil {
		return x, err
	}
	if o.Malicious && o.Pack != "" {
		listed, err := dir.treesOf(o.Pack, x)
		if err != nil {
			return x, err
		}
		trees = append(trees, listed...)
	}
	if len(trees)+len(o.Capabilities) > 0 {
		slices.Sort(trees)
		x.Specific = &advisory.AffectedSpecific{
			Trees: slices.Compact(trees), Capabilities: slices.Compact(slices.Sorted(slices.Values(o.Capabilities))),
		}
	}
	return x, nil
}

// trees returns tree digests; other texts are directories of skills.
func (c *Client) trees(list []string) ([]string, error) {
	var out []string
	for _, text := range list {
		tree, err := text, advisory.CheckTree(text)
		if !strings.HasPrefix(text, "t1:") {
			tree, err = c.treeOf(text)
		}
		if err != nil {
			return nil, diag.Errorf(diag.CodeOf(err), "%w", err).
				WithHint("use a tree digest (t1:sha256:...), or the directory of a skill")
		}
		out = append(out, tree)
	}
	return out, nil
}

// treeOf returns the tree digest of a directory of a skill.
func (c *Client) treeOf(name string) (string, error) {
	abs := c.Machine.Abs(name)
	dir := safefile.Dir(abs)
	info, err := os.Stat(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", diag.Errorf(diag.NotFound, "%s does not exist", name)
	case err == nil && !info.IsDir():
		return "", diag.Errorf(diag.Invalid, "%s is not a directory", name)
	case err == nil:
		_, err = fs.Stat(dir, skill.File)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", diag.Errorf(diag.NotFound, "%s does not contain %s", name, skill.File)
	}
	if err != nil {
		return "", diag.Errorf(diag.CodeOf(err), "cannot read the skill %s: %w", name, err)
	}
	sum, err := bundle.Sum(dir, ".")
	if err != nil {
		return "", diag.Errorf(diag.CodeOf(err), "cannot read the skill %s: %w", name, err)
	}
	return sum.Digest(), nil
}

// treesOf returns the tree digests of the affected versions of a pack in the index. It leaves out skills that another
// version also has, because they are not why the pack is affected.
func (o *indexDir) treesOf(name string, x advisory.Affected) ([]string, error) {
	id, err := pack.ParseID(name)
	if err != nil {
		return nil, err
	}
	data, err := safefile.ReadIn(o.fsys, index.Path(id), index.MaxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	entry, err := index.Parse(index.Path(id), data)
	if err != nil {
		return nil, err
	}
	a := &advisory.Advisory{Affected: []advisory.Affected{x}}
	var trees []string
	unaffected := map[string]bool{}
	for _, l := range entry.Versions {
		affected := a.Affects(advisory.Subject{Pack: name, Version: l.Version})
		for _, s := range l.Skills {
			if affected {
				trees = append(trees, s.Tree)
			} else {
				unaffected[s.Tree] = true
			}
		}
	}
	return slices.DeleteFunc(trees, func(tree string) bool { return unaffected[tree] }), nil
}

// idPrefix begins the ids that skillpm gives.
const idPrefix = "SKILL-"

// nextID returns the first free id of a year.
func (o *indexDir) nextID(year int) (string, error) {
	files, err := fs.ReadDir(o.fsys, advisory.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	prefix, last := idPrefix+strconv.Itoa(year)+"-", 0
	for _, f := range files {
		number, ok := strings.CutPrefix(strings.TrimSuffix(f.Name(), ".json"), prefix)
		if n, err := strconv.Atoi(number); ok && err == nil {
			last = max(last, n)
		}
	}
	return fmt.Sprintf("%s%04d", prefix, last+1), nil
}

// advisory reads the file of an advisory.
func (o *indexDir) advisory(id string) (*advisory.Advisory, error) {
	data, err := safefile.ReadIn(o.fsys, advisory.Path(id), advisory.MaxBytes)
	if err != nil {
		return nil, err
	}
	return advisory.Parse(data)
}
