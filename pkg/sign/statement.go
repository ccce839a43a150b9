package sign

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Types of statements and predicates, and of the files that hold them.
const (
	StatementType = "https://in-toto.io/Statement/v1"

	// PredicateSignature is the predicate type of a signature: the signer vouches for the artifact.
	PredicateSignature = "https://sigstore.dev/cosign/sign/v1"
	// PredicateProvenance is the predicate type of provenance (SLSA 1).
	PredicateProvenance = "https://slsa.dev/provenance/v1"
	// PredicateSBOM is the predicate type of an SBOM (CycloneDX).
	PredicateSBOM = "https://cyclonedx.org/bom"

	payloadType = "application/vnd.in-toto+json"
)

// Limits of parsed statements.
const (
	maxStatement = 12 << 20 // bytes
	maxSubjects  = 256
)

type subject struct {
	Name   string            `json:"name,omitempty"`
	Digest map[string]string `json:"digest"`
}

// Statement returns an in-toto statement about the manifest with a digest, to be signed. The subject is its name for
// display and may be "". A nil predicate means {}.
func Statement(name, digest, predicateType string, predicate any) ([]byte, error) {
	sum, err := hexOf(digest)
	if err != nil {
		return nil, err
	}
	if predicate == nil {
		predicate = struct{}{}
	}
	return encodeJSON(struct {
		Type          string    `json:"_type"`
		Subject       []subject `json:"subject"`
		PredicateType string    `json:"predicateType"`
		Predicate     any       `json:"predicate"`
	}{StatementType, []subject{{name, map[string]string{"sha256": sum}}}, predicateType, predicate})
}

// hexOf returns the 64 hexadecimal digits of a SHA-256 digest.
func hexOf(digest string) (string, error) {
	sum, ok := strings.CutPrefix(digest, "sha256:")
	if !ok || len(sum) != 64 || strings.Trim(sum, "0123456789abcdef") != "" {
		return "", diag.Errorf(diag.Invalid, "invalid digest %q: use sha256: and 64 hexadecimal digits", digest)
	}
	return sum, nil
}

// Claim is the content of a statement, whoever signed it.
type Claim struct {
	PredicateType string
	Predicate     json.RawMessage
	Subjects      []string // sha256 digests, sorted
}

// ParseStatement parses an in-toto statement.
func ParseStatement(data []byte) (*Claim, error) {
	c, err := parseStatement(data)
	if err != nil {
		return nil, diag.Errorf(diag.Invalid, "invalid statement: %w", err)
	}
	return c, nil
}

func parseStatement(data []byte) (*Claim, error) {
	if err := checkJSON(data, maxStatement); err != nil {
		return nil, err
	}
	o, err := parseObject(data, "the content")
	if err != nil {
		return nil, err
	}
	kind, err := o.text("_type")
	if err == nil && kind != StatementType {
		err = diag.Errorf(diag.Invalid, "the type is %q instead of %s", kind, StatementType)
	}
	if err != nil {
		return nil, err
	}
	c := &Claim{Predicate: o["predicate"]}
	if c.PredicateType, err = o.text("predicateType"); err != nil {
		return nil, err
	}
	if c.PredicateType == "" {
		return nil, diag.Errorf(diag.Invalid, "no predicateType")
	}
	c.Subjects, err = subjects(o)
	return c, err
}

func subjects(o object) ([]string, error) {
	all, err := o.list("subject", maxSubjects)
	if err != nil {
		return nil, err
	}
	var digests []string
	for _, raw := range all {
		s, err := parseObject(raw, "a subject")
		if err != nil {
			return nil, err
		}
		d, err := parseObject(s["digest"], "the digest of a subject")
		if err != nil {
			return nil, err
		}
		sum, err := d.text("sha256")
		if err != nil {
			return nil, err
		}
		if _, err := hexOf("sha256:" + sum); err == nil {
			digests = append(digests, "sha256:"+sum)
		}
	}
	if len(digests) == 0 {
		return nil, diag.Errorf(diag.Invalid, "no subject has a SHA-256 digest")
	}
	slices.Sort(digests)
	return slices.Compact(digests), nil
}
