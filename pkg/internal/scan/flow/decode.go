package flow

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

// decode returns the text that a literal encodes, or "" if it is not known, or is not text.
func decode(encoding, text string) string {
	if text == "" || hasHole(text) {
		return ""
	}
	text = strings.Map(func(c rune) rune {
		if c == ' ' || c == '\n' || c == '\r' || c == '\t' {
			return -1
		}
		return c
	}, text)
	var out []byte
	var err error
	switch {
	case strings.Contains(encoding, "64"):
		text = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
		out, err = base64.RawStdEncoding.DecodeString(text)
	case encoding == "hex" || encoding == "b16":
		out, err = hex.DecodeString(text)
	default:
		return ""
	}
	if err != nil || !utf8.Valid(out) || strings.ContainsAny(string(out), "\x00\x01") {
		return ""
	}
	return cut(string(out))
}
