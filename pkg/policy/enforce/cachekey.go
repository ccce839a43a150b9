package enforce

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime"
	"time"

	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/policy"
)

// CacheKey returns a digest of everything that [Evaluator.Evaluate] depends on except the skill: the policies, the
// approvals in effect, and the given version of skillpm. While it stays the same, so do the decisions about the same
// files. It is "" if a policy cannot be read.
func (g *Evaluator) CacheKey(version string) string {
	set := g.Policies()
	if set.Err() != nil {
		return ""
	}
	approvals, err := g.Approvals()
	if err != nil {
		return ""
	}
	h := sha256.New()
	fmt.Fprintf(h, "skillpm %q %s\n", version, runtime.GOOS)
	for _, p := range set {
		if p.Digest == "" {
			return ""
		}
		fmt.Fprintf(h, "policy %q %s %s\n", p.Path, p.Level, p.Digest)
	}
	now := time.Time{}
	if g.o.Now != nil {
		now = g.o.Now()
	}
	for _, a := range approvals {
		if !a.Expired(now) {
			fmt.Fprintf(h, "approval %q %s %q %s %v %s\n", a.File, a.Level, a.Skill, a.Digest, a.Capabilities,
				a.Expires.UTC().Format(time.RFC3339Nano))
		}
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// Digest returns a digest of policies for audit records: that of the only file, or of all files' digests; "" for none.
func Digest(set policy.Set) string {
	switch len(set) {
	case 0:
		return ""
	case 1:
		return set[0].Digest
	}
	var text []byte
	for _, p := range set {
		text = fmt.Appendf(text, "%s\n", p.Digest)
	}
	return "sha256:" + textx.SHA256(text)
}
