package site

import (
	"bytes"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// oneLine returns a text as one line without steering characters.
func oneLine(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case textx.Hidden(r):
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// lines returns a text without steering characters, except line ends and tabs.
func lines(text []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && r != '\r' && textx.Hidden(r) {
			return -1
		}
		return r
	}, text)
}

// short truncates a text, between words if possible.
func short(s string, most int) string {
	s = oneLine(s)
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	runes := []rune(s)[:most]
	text := string(runes)
	if i := strings.LastIndexByte(text, ' '); i > len(text)/2 {
		text = text[:i]
	}
	return strings.TrimRight(text, " ,.;:-") + "…"
}

// date formats the day of a time for people and for machines; both are "" for an invalid time.
func date(published string) (human, machine string) {
	t, err := time.Parse(time.RFC3339, published)
	if err != nil {
		return "", ""
	}
	t = t.UTC()
	return t.Format("2 January 2006"), t.Format(time.RFC3339)
}

// size formats a number of bytes.
func size(n int64) string {
	switch {
	case n < 1000:
		return plural(n, "byte", "bytes")
	case n < 1_000_000:
		return strconv.FormatFloat(float64(n)/1000, 'f', 1, 64) + " kB"
	default:
		return strconv.FormatFloat(float64(n)/1_000_000, 'f', 1, 64) + " MB"
	}
}

func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return textx.Thousands(n) + " " + many
}

// abbreviated returns a shortened digest or commit.
func abbreviated(digest string) string {
	hash := digest[strings.LastIndexByte(digest, ':')+1:]
	return hash[:min(len(hash), 12)]
}

var plainName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`) })

// fileName returns a name that is valid in all file systems and URLs: the text itself if it is valid, otherwise a
// digest of it.
func fileName(s string) string {
	if plainName().MatchString(s) && len(s) <= maxTagLen && !device().MatchString(s) {
		return s
	}
	return "_" + textx.SHA256(s)[:16]
}

var device = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`^(con|prn|aux|nul|com[0-9]|lpt[0-9])$`)
})

// outside returns an address as a link to another site, or "".
func outside(s string) string {
	s = strings.TrimPrefix(s, "git+")
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
		return ""
	}
	return u.String()
}

// rootOf returns the relative path from a page to the website's root.
func rootOf(page string) string {
	return strings.Repeat("../", strings.Count(path.Clean(page), "/"))
}

// count formats a number with its noun.
func count(n int, one, many string) string { return plural(int64(n), one, many) }
