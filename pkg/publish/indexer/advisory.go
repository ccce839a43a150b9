package indexer

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/advisory"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/sign"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

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
	edition, _, err := registry.VerifyFeed(data[0], data[1], []*sign.PublicKey{key})
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
	if err := c.sameKey(dir, o.Key.Public()); err != nil {
		return nil, err
	}
	_, last, _ := dir.feed() // a missing or damaged feed, such as after a merge, is replaced
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
