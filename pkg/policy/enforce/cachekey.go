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

// CacheKey returns a digest of all that [Evaluator.Evaluate] decides by besides the skill: the policies' bytes, what
// was approved and has not ended, and the version of skillpm, which is given. As long as it is the same, so is what is
// decided of the same files. It is "" where that can't be known, as while a policy can't be read.
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

// Digest returns a digest of the policies in force, for records: that of the one file, or of all files' digests; "" for
// none.
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
