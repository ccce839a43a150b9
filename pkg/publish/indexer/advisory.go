package indexer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/advisory"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/pack/index"
	"github.com/skillpm/skillpm/pkg/sign"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// AdvisoryOptions configure [Client.AddAdvisory].
type AdvisoryOptions struct {
	Dir  string // of the index; "" means the client's directory
	File string // an OSV record to add as it is; the fields below are empty then

	ID           string   // "" means the next free id
	Pack         string   // owner/name; "" for content in any pack
	Introduced   string   // first affected version; "" means the first one
	Fixed        string   // first version that is not affected
	LastAffected string   // last affected version
	Versions     []string // single affected versions
	Trees        []string // tree digests, or directories of skills
	Malicious    bool
	Summary      string
	Details      string
	Aliases      []string
	References   []string // URLs
	Withdraw     string   // the id of an advisory to withdraw; the fields above are empty then

	DryRun bool // write nothing
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
// the index also gets their tree digests, so that copies under another name are found.
func (c *Client) AddAdvisory(_ context.Context, o AdvisoryOptions) (*AdvisoryReport, error) {
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
	now := c.Now().UTC().Truncate(time.Second)
	if o.Withdraw != "" {
		a, err := dir.advisory(o.Withdraw)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, diag.Errorf(diag.NotFound, "advisory %s does not exist in %s", o.Withdraw, dir.display)
		}
		if err == nil {
			a.Modified, a.Withdrawn = now, &now
		}
		return a, err
	}
	if o.File != "" {
		data, err := safefile.ReadFile(c.Machine.Abs(o.File), advisory.MaxBytes)
		if err != nil {
			return nil, diag.Errorf(diag.NotFound, "cannot read the advisory: %w", err)
		}
		a, err := advisory.Parse(data)
		if err != nil {
			return nil, diag.Errorf(diag.Invalid, "%s: %w", o.File, err)
		}
		return a, nil
	}
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
	if len(trees) > 0 {
		slices.Sort(trees)
		x.Specific = &advisory.AffectedSpecific{Trees: slices.Compact(trees)}
	}
	return x, nil
}

// trees returns tree digests; other texts are directories of skills.
func (c *Client) trees(list []string) ([]string, error) {
	var out []string
	for _, text := range list {
		if !strings.HasPrefix(text, "t1:") {
			sum, err := bundle.Sum(safefile.Dir(c.Machine.Abs(text)), ".")
			if err != nil {
				return nil, diag.Errorf(diag.NotFound, "cannot read the skill %s: %w", text, err).
					WithHint("use a tree digest, or the directory of a skill")
			}
			text = sum.Digest()
		}
		out = append(out, text)
	}
	return out, nil
}

// treesOf returns the tree digests of the affected versions of a pack in the index.
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
	for _, l := range entry.Versions {
		if !a.Affects(advisory.Subject{Pack: name, Version: l.Version}) {
			continue
		}
		for _, s := range l.Skills {
			trees = append(trees, s.Tree)
		}
	}
	return trees, nil
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

// isAdvisory reports whether a file in the directory of advisories is one, rather than a part of the feed.
func isAdvisory(name string) bool {
	return path.Ext(name) == ".json" && name != path.Base(advisory.SignaturePath)
}

// advisories reads the files of all advisories. The second result has what is wrong with files.
func (o *indexDir) advisories() (all []*advisory.Advisory, problems []diag.Finding, err error) {
	files, err := fs.ReadDir(o.fsys, advisory.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	for _, f := range files {
		if !isAdvisory(f.Name()) {
			continue
		}
		id := strings.TrimSuffix(f.Name(), ".json")
		a, err := o.advisory(id)
		if err == nil && a.ID != id {
			err = diag.Errorf(diag.Invalid, "the advisory has the id %s", a.ID).
				WithHint("rename the file to %s.json", a.ID)
		}
		if err != nil {
			problems = append(problems, diag.Finding{
				Rule: ruleAdvisory, Path: path.Join(o.display, advisory.Dir, f.Name()), Message: err.Error(),
				Fix: diag.HintOf(err),
			})
			continue
		}
		all = append(all, a)
	}
	return all, problems, nil
}

// ruleAdvisory is the rule of findings about advisories.
const ruleAdvisory = "advisory"

// AdvisoryCheck is the result of [Client.CheckAdvisories].
type AdvisoryCheck struct {
	Index      string            `json:"index"`
	OK         bool              `json:"ok"`                // whether there are no errors
	Advisories int               `json:"advisories"`        // number of valid advisories
	Edition    *advisory.Edition `json:"edition,omitempty"` // of the published feed
	Findings   []diag.Finding    `json:"findings"`
}

// CheckAdvisories verifies that each advisory is valid and in its file, and that the feed has them all and is signed
// with the key beside it. Problems are findings, not errors.
func (c *Client) CheckAdvisories(_ context.Context, dirName string) (*AdvisoryCheck, error) {
	dir, err := c.open(dirName)
	if err != nil {
		return nil, err
	}
	defer dir.close()
	all, problems, err := dir.advisories()
	if err != nil {
		return nil, err
	}
	r := &AdvisoryCheck{Index: dir.display, Advisories: len(all), Findings: append([]diag.Finding{}, problems...)}
	find := func(severity diag.Severity, name, message, fix string) {
		r.Findings = append(r.Findings, diag.Finding{
			Rule: ruleAdvisory, Severity: severity, Path: path.Join(dir.display, name), Message: message, Fix: fix,
		})
	}
	const publish = "run \"skillpm index advisory publish\""
	feed, edition, err := dir.feed()
	switch {
	case errors.Is(err, fs.ErrNotExist) && len(all) == 0:
	case errors.Is(err, fs.ErrNotExist):
		find(diag.SeverityWarning, advisory.FeedPath, "the advisories are not published", publish)
	case err != nil:
		find(diag.SeverityError, advisory.SignaturePath, err.Error(), publish)
	default:
		r.Edition = &edition
		want, err := advisory.EncodeFeed(all)
		if err != nil {
			find(diag.SeverityError, advisory.FeedPath, err.Error(), "")
		} else if string(want) != string(feed) {
			find(diag.SeverityWarning, advisory.FeedPath, "the feed is out of date: it differs from the advisories", publish)
		}
		if !edition.Expires.After(c.Now()) {
			find(diag.SeverityWarning, advisory.SignaturePath,
				"the feed expired on "+edition.Expires.Format(time.DateOnly), publish)
		}
	}
	slices.SortFunc(r.Findings, diag.CompareFindings)
	r.OK = !slices.ContainsFunc(r.Findings, func(f diag.Finding) bool { return f.Severity == diag.SeverityError })
	return r, nil
}

// feed reads the published feed, and verifies it with the key beside it. The error is [fs.ErrNotExist] if there is none.
func (o *indexDir) feed() ([]byte, advisory.Edition, error) {
	var data [3][]byte
	for i, name := range []string{advisory.FeedPath, advisory.SignaturePath, advisory.KeyPath} {
		var err error
		if data[i], err = safefile.ReadIn(o.fsys, name, advisory.MaxFeedBytes); err != nil {
			return nil, advisory.Edition{}, err
		}
	}
	key, err := sign.ParsePublic(data[2])
	if err != nil {
		return nil, advisory.Edition{}, err
	}
	edition, err := registry.VerifyFeed(data[0], data[1], []*sign.PublicKey{key})
	return data[0], edition, err
}

// PublishAdvisoriesOptions configure [Client.PublishAdvisories].
type PublishAdvisoriesOptions struct {
	Dir      string // of the index; "" means the client's directory
	Key      *sign.PrivateKey
	ValidFor time.Duration // until the feed expires
}

// PublishedAdvisories is the result of [Client.PublishAdvisories].
type PublishedAdvisories struct {
	Index      string           `json:"index"`
	Files      []string         `json:"files"`      // written files, relative to the index
	Advisories int              `json:"advisories"` // number of advisories in the feed
	Edition    advisory.Edition `json:"edition"`    // what the signature states
	Signer     string           `json:"signer"`     // fingerprint of the key
}

// PublishAdvisories writes the signed feed of an index: the files that clients read. The number of the edition grows each
// time.
func (c *Client) PublishAdvisories(_ context.Context, o PublishAdvisoriesOptions) (*PublishedAdvisories, error) {
	dir, err := c.open(o.Dir)
	if err != nil {
		return nil, err
	}
	defer dir.close()
	all, problems, err := dir.advisories()
	if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		return nil, diag.Errorf(diag.Invalid, "%s: %s", problems[0].Path, problems[0].Message).
			WithHint("show all problems with: skillpm index advisory check")
	}
	_, last, err := dir.feed()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, diag.Errorf(diag.CodeOf(err), "cannot replace the published feed: %w", err).
			WithHint("if you replace the key on purpose, delete the directory's %s, and keep a higher edition number",
				path.Base(advisory.SignaturePath))
	}
	if err := c.sameKey(dir, o.Key.Public()); err != nil {
		return nil, err
	}
	feed, err := advisory.EncodeFeed(all)
	if err != nil {
		return nil, err
	}
	now := c.Now().UTC().Truncate(time.Second)
	edition := advisory.Edition{
		Number: max(last.Number+1, now.Unix()), Issued: now, Expires: now.Add(o.ValidFor),
	}
	statement, err := sign.Statement("advisories", advisory.Digest(feed), advisory.PredicateType, edition)
	if err != nil {
		return nil, err
	}
	signature, err := sign.Bundle(o.Key, statement)
	if err != nil {
		return nil, err
	}
	r := &PublishedAdvisories{
		Index: dir.display, Files: []string{}, Advisories: len(all), Edition: edition,
		Signer: o.Key.Public().Fingerprint(),
	}
	for _, f := range []struct {
		name string
		data []byte
	}{{advisory.KeyPath, o.Key.Public().Encode()}, {advisory.FeedPath, feed}, {advisory.SignaturePath, signature}} {
		changed, err := dir.write(f.name, f.data)
		if err != nil {
			return nil, err
		}
		if changed {
			r.Files = append(r.Files, f.name)
		}
	}
	return r, nil
}

// sameKey refuses another key than that of the feed: clients keep to the first one.
func (c *Client) sameKey(dir *indexDir, key *sign.PublicKey) error {
	data, err := safefile.ReadIn(dir.fsys, advisory.KeyPath, 1<<16)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if old, err := sign.ParsePublic(data); err == nil && !old.Equal(key) {
		return diag.Errorf(diag.Conflict, "the feed is signed with another key: %s instead of %s", old.Fingerprint(),
			key.Fingerprint()).
			WithHint("clients reject a new key; to replace the key on purpose, delete %s, and announce the new fingerprint",
				path.Join(dir.display, advisory.KeyPath))
	}
	return nil
}
