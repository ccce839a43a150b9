package audit_test

import (
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/policy/audit"
)

// TestK8Traceparent checks SPEC K8: a caller's trace context is used if it is well-formed, and ignored otherwise.
func TestK8Traceparent(t *testing.T) {
	const trace, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	want := audit.Trace{Trace: trace, Span: span}
	for text, want := range map[string]audit.Trace{
		"00-" + trace + "-" + span + "-01":          want,
		"01-" + trace + "-" + span + "-00-of-later": want,
		"":                                   {},
		"00-" + trace + "-" + span:           {},
		"00-" + trace + "-" + span + "-01-x": {},
		"00-" + trace + "-" + span + "-0g":   {},
		"ff-" + trace + "-" + span + "-01":   {},
		"00-" + strings.ToUpper(trace) + "-" + span + "-01":   {},
		"00-" + strings.Repeat("0", 32) + "-" + span + "-01":  {},
		"00-" + trace + "-" + strings.Repeat("0", 16) + "-01": {},
		"00_" + trace + "-" + span + "-01":                    {},
		"é0-" + trace + "-" + span + "-01":                    {},
		strings.Repeat("x", 10_000):                           {},
	} {
		if got := audit.ParseTraceparent(text); got != want {
			t.Errorf("%q: %+v", text, got)
		}
	}
}
