package baseline

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
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
		buf.WriteString("    path: " + plain(e.Path) + "\n")
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

var plainText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./-]*$`) })

// plain writes a path without quotes where every YAML reader takes it for text, as it does not with true or no.
func plain(s string) string {
	n := yaml.Node{Kind: yaml.ScalarNode, Value: s}
	if !plainText().MatchString(s) || n.ShortTag() != "!!str" || strings.Contains(" y n yes no on off ", " "+strings.ToLower(s)+" ") {
		return strconv.Quote(s)
	}
	return s
}
