package baseline

import (
	"bytes"
	"strconv"

	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

const header = `# Findings that skillpm validate --baseline accepts, each for a reason and as long as the text that it is about stays.
# Written by skillpm validate --write-baseline, which keeps reasons and dates: edit those, and delete entries.
`

// Encode returns the baseline as text: sorted, without a clock, the same for equal baselines.
func (b *Baseline) Encode() []byte {
	sorted := &Baseline{Entries: append([]Entry(nil), b.Entries...)}
	sorted.sort()
	var buf bytes.Buffer
	buf.WriteString(header + "version: " + Version + "\n")
	if len(sorted.Entries) == 0 {
		buf.WriteString("findings: []\n")
		return buf.Bytes()
	}
	buf.WriteString("findings:\n")
	for _, e := range sorted.Entries {
		buf.WriteString("  - rule: " + e.Rule + "\n")
		buf.WriteString("    path: " + yamlx.Plain(e.Path) + "\n")
		buf.WriteString("    digest: " + strconv.Quote(e.Digest) + "\n")
		buf.WriteString("    reason: " + strconv.Quote(e.Reason) + "\n")
		if e.Expires != "" {
			buf.WriteString("    expires: " + e.Expires + "\n")
		}
		if e.Count > 1 {
			buf.WriteString("    count: " + strconv.Itoa(e.Count) + "\n")
		}
	}
	return buf.Bytes()
}
