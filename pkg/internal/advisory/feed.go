package advisory

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// The files of a feed, in the directory of an index: each advisory is reviewed as a file of its own, and clients read
// the feed and its signature.
const (
	Dir           = "advisories"
	FeedPath      = Dir + "/feed.ndjson"
	SignaturePath = Dir + "/feed.sigstore.json"
	KeyPath       = Dir + "/key.pub" // the public key, for clients that do not know it yet

	// MaxFeedBytes is the greatest size of a feed.
	MaxFeedBytes = 32 << 20

	// PredicateType is the type of the statement that signs a feed.
	PredicateType = "https://github.com/skillpm/skillpm/advisories/v1"
)

// FeedFiles returns the paths of the files that clients read.
func FeedFiles() []string { return []string{FeedPath, SignaturePath, KeyPath} }

// Path returns the path of an advisory's file in an index.
func Path(id string) string { return Dir + "/" + id + ".json" }

// Edition is what the signer of a feed states about it.
type Edition struct {
	Number  int64     `json:"number"`  // grows with each edition
	Issued  time.Time `json:"issued"`  // when it was signed
	Expires time.Time `json:"expires"` // when clients should have a newer one
}

// EncodeFeed returns the feed of advisories: one JSON object on each line, sorted by id. The same advisories give the
// same bytes.
func EncodeFeed(all []*Advisory) ([]byte, error) {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b *Advisory) int { return strings.Compare(a.ID, b.ID) })
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for i, a := range all {
		if i > 0 && all[i-1].ID == a.ID {
			return nil, diag.Errorf(diag.Invalid, "two advisories have the id %s", a.ID)
		}
		if err := enc.Encode(a); err != nil {
			return nil, err
		}
	}
	if b.Len() > MaxFeedBytes {
		return nil, diag.Errorf(diag.Invalid, "the feed has %d bytes; the limit is %d", b.Len(), MaxFeedBytes)
	}
	return b.Bytes(), nil
}

// DecodeFeed reads a feed. The error names the line.
func DecodeFeed(data []byte) ([]*Advisory, error) {
	if len(data) > MaxFeedBytes {
		return nil, diag.Errorf(diag.Invalid, "the feed has %d bytes; the limit is %d", len(data), MaxFeedBytes)
	}
	var all []*Advisory
	ids := map[string]bool{}
	line := 0
	for text := range bytes.Lines(data) {
		line++
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		a, err := Parse(text)
		if err != nil {
			return nil, diag.Errorf(diag.Invalid, "line %d of the feed: %w", line, err)
		}
		if ids[a.ID] {
			return nil, diag.Errorf(diag.Invalid, "line %d of the feed: the id %s is duplicated", line, a.ID)
		}
		ids[a.ID] = true
		all = append(all, a)
	}
	return all, nil
}

// Digest returns the digest of a feed, which its signature is about.
func Digest(feed []byte) string { return "sha256:" + textx.SHA256(feed) }

// ParseEdition reads what a verified statement says about a feed.
func ParseEdition(predicateType string, predicate []byte) (Edition, error) {
	var e Edition
	if predicateType != PredicateType {
		return e, diag.Errorf(diag.Denied, "the signature is not for a feed of advisories: its type is %s", predicateType)
	}
	if err := json.Unmarshal(predicate, &e); err != nil {
		return e, diag.Errorf(diag.Invalid, "the signature of the feed is not valid: %v", err)
	}
	if e.Number <= 0 || e.Issued.IsZero() || !e.Expires.After(e.Issued) {
		return e, diag.Errorf(diag.Invalid, "the signature of the feed does not have a number, a time, and an expiry")
	}
	return e, nil
}

// compare orders advisories: malicious ones first, then by id.
func compare(a, b *Advisory) int {
	rank := func(a *Advisory) int {
		if a.Malicious() {
			return 0
		}
		return 1
	}
	return cmp.Or(rank(a)-rank(b), strings.Compare(a.ID, b.ID))
}

// String returns the id and the summary.
func (a *Advisory) String() string {
	if a.Summary == "" {
		return a.ID
	}
	return fmt.Sprintf("%s: %s", a.ID, a.Summary)
}
