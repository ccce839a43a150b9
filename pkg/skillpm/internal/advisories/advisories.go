// Package advisories keeps this machine's copies of advisory feeds. Start reading at [Store.Update]. The rules that the
// package keeps:
//
//   - A feed counts only if its signature is valid: by a key of the settings, or else by the first key that this machine
//     saw at the address.
//   - An older edition never replaces a newer one, and an edition never changes.
//   - A feed that cannot be fetched or verified leaves the last verified copy in use, with a warning.
//   - Only feeds that the user or the administrator configured decide what is blocked at run time. A project's registry
//     could otherwise block the skills of other projects.
package advisories

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/advisory"
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/sign"
	"github.com/skillpm/skillpm/pkg/source/registry"
)

// Source is a registry that may have a feed.
type Source struct {
	Name    string // for messages
	URL     string
	Keys    []*sign.PublicKey // of the settings; nil for the first key that this machine sees
	Project bool              // only a project configures it
	Open    func(ctx context.Context) (registry.Registry, error)
}

// Store keeps the feeds of one user.
type Store struct {
	Dir string // "advisories" in the user's state directory
	Now func() time.Time
}

// record describes a stored feed.
type record struct {
	Source  string           `json:"source"`
	Key     string           `json:"key"` // id of the key that signed it
	Digest  string           `json:"digest"`
	Edition advisory.Edition `json:"edition"` // what the signature states
	Fetched time.Time        `json:"fetched"`
	None    bool             `json:"none,omitempty"` // the registry did not have a feed
}

// Feed is a verified feed.
type Feed struct {
	Source  string           `json:"source"`
	Edition advisory.Edition `json:"edition"` // what the signature states
	Fetched time.Time        `json:"fetched"` // when the registry last confirmed it
	Signer  string           `json:"signer"`  // fingerprint of the key

	Advisories []*advisory.Advisory `json:"-"`

	project bool // only a project configures its source
}

// Set are all feeds that count.
type Set struct {
	Feeds    []Feed
	Warnings []string
	Missing  []string // names of sources whose feed could not be fetched or verified
}

// Matching returns the advisories about a subject in all feeds.
func (s *Set) Matching(about advisory.Subject) []*advisory.Advisory {
	var all []*advisory.Advisory
	for _, f := range s.Feeds {
		all = append(all, f.Advisories...)
	}
	return advisory.Matching(all, about)
}

// SourceOf returns the source of the feed that has an advisory.
func (s *Set) SourceOf(a *advisory.Advisory) string {
	for _, f := range s.Feeds {
		if slices.Contains(f.Advisories, a) {
			return f.Source
		}
	}
	return ""
}

// Update fetches the feeds of sources, unless offline or fetched in the last maxAge, and returns them. It never fails
// because of a feed: it warns, and uses the last verified copy.
func (s Store) Update(ctx context.Context, sources []Source, offline bool, maxAge time.Duration) (*Set, error) {
	set := &Set{}
	for _, src := range sources {
		feed, err := s.update(ctx, src, offline, maxAge)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			set.Missing = append(set.Missing, src.Name)
			set.Warnings = append(set.Warnings, fmt.Sprintf("cannot update the advisories of %s: %v", src.Name, err))
		}
		if feed == nil {
			continue
		}
		if !feed.Edition.Expires.After(s.Now()) {
			set.Warnings = append(set.Warnings, fmt.Sprintf("the advisories of %s expired on %s; newer ones may exist",
				src.Name, feed.Edition.Expires.Format(time.DateOnly)))
		}
		feed.project = src.Project
		set.Feeds = append(set.Feeds, *feed)
	}
	if err := s.writeBlocked(sources); err != nil {
		set.Warnings = append(set.Warnings, fmt.Sprintf("cannot record malicious packs for activations: %v", err))
	}
	return set, nil
}

// update fetches, verifies, and stores the feed of a source. With an error it may also return the stored feed.
func (s Store) update(ctx context.Context, src Source, offline bool, maxAge time.Duration) (*Feed, error) {
	rec, err := s.record(src)
	if err != nil {
		return nil, err
	}
	stored, damage := s.load(src, rec)
	age := s.Now().Sub(rec.Fetched)
	if offline || damage == nil && rec.Source != "" && age >= 0 && age < maxAge {
		return stored, damage
	}
	reg, err := src.Open(ctx)
	if err != nil {
		return stored, err
	}
	advisor, ok := reg.(registry.Advisor)
	if !ok {
		return nil, nil
	}
	found, err := advisor.Feed(ctx)
	if err != nil {
		return stored, err
	}
	if found == nil {
		if rec.Key != "" {
			return stored, diag.Errorf(diag.Denied, "the registry no longer has advisories")
		}
		_ = s.saveRecord(record{Source: src.URL, None: true, Fetched: s.Now().UTC()}) // it only saves a request
		return nil, nil
	}
	feed, next, err := s.verify(src, rec, found)
	if err != nil {
		return stored, err
	}
	blocked, err := advisory.EncodeBlocked(feed.Advisories)
	if err != nil {
		return stored, err
	}
	return feed, s.save(next, found.Data, blocked)
}

// verify checks a fetched feed against the keys of its source, and against the record of the stored one.
func (s Store) verify(src Source, rec record, found *registry.Feed) (*Feed, record, error) {
	keys := src.Keys
	if len(keys) == 0 {
		var err error
		if keys, err = rec.keys(found.Key); err != nil {
			return nil, rec, err
		}
	}
	edition, signer, err := registry.VerifyFeed(found.Data, found.Signature, keys)
	if err != nil {
		return nil, rec, err
	}
	digest := advisory.Digest(found.Data)
	switch {
	case edition.Number < rec.Edition.Number:
		return nil, rec, diag.Errorf(diag.Denied, "edition %d is older than edition %d, which this machine has",
			edition.Number, rec.Edition.Number)
	case edition.Number == rec.Edition.Number && digest != rec.Digest:
		return nil, rec, diag.Errorf(diag.Integrity, "edition %d changed", edition.Number)
	}
	all, err := advisory.DecodeFeed(found.Data)
	if err != nil {
		return nil, rec, err
	}
	now := s.Now().UTC().Truncate(time.Second)
	feed := &Feed{Source: src.Name, Edition: edition, Fetched: now, Signer: signer.Fingerprint(), Advisories: all}
	return feed, record{Source: src.URL, Key: signer.ID(), Digest: digest, Edition: edition, Fetched: now}, nil
}

// keys returns the key that this machine saw first, or else the one beside the feed.
func (r record) keys(beside []byte) ([]*sign.PublicKey, error) {
	if r.Key != "" {
		key, err := sign.ParseID(r.Key)
		return []*sign.PublicKey{key}, err
	}
	key, err := sign.ParsePublic(beside)
	if err != nil {
		return nil, diag.Errorf(diag.Invalid, "the key of the feed is not valid: %w", err)
	}
	return []*sign.PublicKey{key}, nil
}

// The files of a source: what is known about its feed, the feed, and the list of malicious content in it.
const (
	recordEnding  = ".json"
	feedEnding    = ".ndjson"
	blockedEnding = ".blocked"
)

// file returns the path of a file of a source.
func (s Store) file(url, ending string) string {
	return filepath.Join(s.Dir, textx.SHA256(url)[:32]+ending)
}

// record reads what is known about the feed of a source.
func (s Store) record(src Source) (record, error) {
	var r record
	name := s.file(src.URL, recordEnding)
	data, err := safefile.ReadFile(name, 1<<16)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		return r, fmt.Errorf("cannot read %s: %w; delete the file to fetch the feed again", name, err)
	}
	if r.Source != src.URL {
		return record{}, nil
	}
	return r, nil
}

// load reads the stored feed of a source; nil if there is none. A damaged one is an error until it is fetched again: the
// record still has the key and the number that the next one is checked against.
func (s Store) load(src Source, r record) (*Feed, error) {
	if r.Key == "" {
		return nil, nil
	}
	signer, err := sign.ParseID(r.Key)
	var feed []byte
	if err == nil {
		feed, err = safefile.ReadFile(s.file(src.URL, feedEnding), advisory.MaxFeedBytes)
	}
	if err == nil && advisory.Digest(feed) != r.Digest {
		err = errors.New("its digest does not match")
	}
	if err == nil {
		_, err = os.Stat(s.file(src.URL, blockedEnding))
	}
	var all []*advisory.Advisory
	if err == nil {
		all, err = advisory.DecodeFeed(feed)
	}
	if err != nil {
		return nil, diag.Errorf(diag.Integrity, "the copy on this machine is damaged: %w", err)
	}
	return &Feed{
		Source: src.Name, Edition: r.Edition, Fetched: r.Fetched, Signer: signer.Fingerprint(), Advisories: all,
	}, nil
}

// save stores a verified feed with its list of malicious content, and its record last.
func (s Store) save(r record, feed, blocked []byte) error {
	if err := atomicfile.Write(s.file(r.Source, feedEnding), feed, options()); err != nil {
		return err
	}
	if err := atomicfile.Write(s.file(r.Source, blockedEnding), blocked, options()); err != nil {
		return err
	}
	return s.saveRecord(r)
}

func (s Store) saveRecord(r record) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return atomicfile.Write(s.file(r.Source, recordEnding), data, options())
}

func options() atomicfile.Options { return atomicfile.Options{Mode: 0o600, MkdirMode: 0o700} }

// NotCurrent describes the sources whose advisories could not be updated or are expired, and that no source of the
// settings has any; "" if all are current.
func (s *Set) NotCurrent(now time.Time) string {
	if len(s.Missing) > 0 {
		return "needs current advisories, but those of " + strings.Join(s.Missing, ", ") + " could not be updated"
	}
	for _, f := range s.Feeds {
		if !f.Edition.Expires.After(now) {
			return "needs current advisories, but those of " + f.Source + " expired on " +
				f.Edition.Expires.Format(time.DateOnly)
		}
	}
	if !slices.ContainsFunc(s.Feeds, func(f Feed) bool { return !f.project }) {
		return "needs current advisories, but no index in the settings has any"
	}
	return ""
}
