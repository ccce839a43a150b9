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
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/advisory"
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
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
	Project bool             `json:"project,omitempty"`
	None    bool             `json:"none,omitempty"` // the registry did not have a feed
}

// Feed is a verified feed.
type Feed struct {
	Source  string           `json:"source"`
	Edition advisory.Edition `json:"edition"` // what the signature states
	Fetched time.Time        `json:"fetched"` // when the registry last confirmed it
	Signer  string           `json:"signer"`  // fingerprint of the key

	Advisories []*advisory.Advisory `json:"-"`
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
		set.Feeds = append(set.Feeds, *feed)
	}
	if err := s.writeBlocked(sources, set); err != nil {
		set.Warnings = append(set.Warnings, fmt.Sprintf("cannot record malicious packs for activations: %v", err))
	}
	return set, nil
}

// update fetches, verifies, and stores the feed of a source. With an error it may also return the stored feed.
func (s Store) update(ctx context.Context, src Source, offline bool, maxAge time.Duration) (*Feed, error) {
	stored, rec, err := s.load(src)
	age := s.Now().Sub(rec.Fetched)
	if offline || err != nil || (stored != nil || rec.None) && age >= 0 && age < maxAge {
		return stored, err
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
		if stored != nil {
			return stored, diag.Errorf(diag.Denied, "the registry no longer has advisories")
		}
		_ = s.saveRecord(record{Source: src.URL, None: true, Fetched: s.Now().UTC()}) // it only saves a request
		return nil, nil
	}
	keys := src.Keys
	if len(keys) == 0 {
		if keys, err = rec.keys(found.Key); err != nil {
			return stored, err
		}
	}
	edition, err := registry.VerifyFeed(found.Data, found.Signature, keys)
	if err != nil {
		return stored, err
	}
	digest := advisory.Digest(found.Data)
	if stored != nil {
		switch {
		case edition.Number < rec.Edition.Number:
			return stored, diag.Errorf(diag.Denied, "edition %d is older than edition %d, which this machine has",
				edition.Number, rec.Edition.Number)
		case edition.Number == rec.Edition.Number && digest != rec.Digest:
			return stored, diag.Errorf(diag.Integrity, "edition %d changed", edition.Number)
		}
	}
	all, err := advisory.DecodeFeed(found.Data)
	if err != nil {
		return stored, err
	}
	signer, err := signerOf(found, keys)
	if err != nil {
		return stored, err
	}
	now := s.Now().UTC().Truncate(time.Second)
	next := record{
		Source: src.URL, Key: signer.ID(), Digest: digest, Edition: edition, Fetched: now, Project: src.Project,
	}
	feed := &Feed{
		Source: src.Name, Edition: edition, Fetched: now, Signer: signer.Fingerprint(), Advisories: all,
	}
	return feed, s.save(next, found.Data)
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

// signerOf returns the key that signed a feed.
func signerOf(f *registry.Feed, keys []*sign.PublicKey) (*sign.PublicKey, error) {
	v, err := sign.Verify(f.Signature, keys, advisory.Digest(f.Data))
	return v.Key, err
}

// file returns the path of a source's record, or of its feed.
func (s Store) file(src, ending string) string {
	return filepath.Join(s.Dir, textx.SHA256(src)[:32]+ending)
}

// load reads the stored feed of a source; nil if there is none.
func (s Store) load(src Source) (*Feed, record, error) {
	var r record
	data, err := safefile.ReadFile(s.file(src.URL, ".json"), 1<<16)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, r, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		return nil, r, fmt.Errorf("cannot read the stored advisories: %w", err)
	}
	if r.Source != src.URL {
		return nil, record{}, nil
	}
	if r.None {
		return nil, r, nil
	}
	feed, err := safefile.ReadFile(s.file(src.URL, ".ndjson"), advisory.MaxFeedBytes)
	if err != nil || advisory.Digest(feed) != r.Digest { // damaged: keep the key and the number, and fetch it again
		return nil, r, nil //nolint:nilerr // fetching it again is the repair
	}
	all, err := advisory.DecodeFeed(feed)
	if err != nil {
		return nil, r, nil //nolint:nilerr // as above
	}
	signer := ""
	if key, err := sign.ParseID(r.Key); err == nil {
		signer = key.Fingerprint()
	}
	return &Feed{Source: src.Name, Edition: r.Edition, Fetched: r.Fetched, Signer: signer, Advisories: all}, r, nil
}

// save stores a verified feed, and its record last.
func (s Store) save(r record, feed []byte) error {
	if err := atomicfile.Write(s.file(r.Source, ".ndjson"), feed, options()); err != nil {
		return err
	}
	return s.saveRecord(r)
}

func (s Store) saveRecord(r record) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return atomicfile.Write(s.file(r.Source, ".json"), data, options())
}

func options() atomicfile.Options { return atomicfile.Options{Mode: 0o600, MkdirMode: 0o700} }

// writeBlocked writes the list that activations read, unless it is the same.
func (s Store) writeBlocked(sources []Source, set *Set) error {
	var all []*advisory.Advisory
	project := map[string]bool{}
	for _, src := range sources {
		project[src.Name] = src.Project
	}
	for _, f := range set.Feeds {
		if !project[f.Source] {
			all = append(all, f.Advisories...)
		}
	}
	data, err := advisory.EncodeBlocked(all)
	if err != nil {
		return err
	}
	file := filepath.Join(s.Dir, enforce.BlockedName)
	old, err := os.ReadFile(file)
	if err == nil && string(old) == string(data) || errors.Is(err, fs.ErrNotExist) && len(data) == 0 {
		return nil
	}
	return atomicfile.Write(file, data, options())
}

// NotCurrent describes the sources whose advisories could not be updated or are expired, and that there are none; "" if
// all are current.
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
	if len(s.Feeds) == 0 {
		return "needs current advisories, but no index in the settings has any"
	}
	return ""
}
