package audit

import "strings"

// Trace identifies a trace and a span in it. The zero value is no trace.
type Trace struct {
	Trace string // 32 hexadecimal digits
	Span  string // 16 hexadecimal digits
}

// ParseTraceparent parses a `traceparent` of https://www.w3.org/TR/trace-context/, which the environment variable
// TRACEPARENT and the `_meta` of MCP requests contain. It returns the zero value for invalid text, because nothing
// depends on a trace.
func ParseTraceparent(s string) Trace {
	if len(s) < 55 || s[2] != '-' || s[35] != '-' || s[52] != '-' || !hexOf(s[:2]) || s[:2] == "ff" ||
		!hexOf(s[53:55]) {
		return Trace{}
	}
	if len(s) > 55 && (s[:2] == "00" || s[55] != '-') {
		return Trace{}
	}
	t := Trace{Trace: s[3:35], Span: s[36:52]}
	if !hexOf(t.Trace) || !hexOf(t.Span) || strings.Trim(t.Trace, "0") == "" || strings.Trim(t.Span, "0") == "" {
		return Trace{}
	}
	return t
}

// hexOf reports whether a text has only lowercase hexadecimal digits.
func hexOf(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') })
}
