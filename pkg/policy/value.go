package policy

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

var (
	size = lazily(`^([1-9][0-9]{0,8})(B|KiB|MiB|GiB)$`)
	near = lazily(`^([1-9][0-9]{0,8}) ?(?i:b|([kmg])i?b?)$`)

	releaseAge   = lazily(`^(?:([1-9][0-9]{0,4})h|([1-9][0-9]{0,3})d|([1-9][0-9]{0,2})w)$`) // a day has 24 hours
	sha256Hex    = lazily(`^[0-9a-f]{64}$`)
	absolutePath = lazily(`^(/|[A-Za-z]:[/\\])(.*[^/\\])$`)

	// networkPattern matches a name, an address, or *. and a name, with or without a port.
	networkPattern = lazily(
		`^(\*|(\*\.)?[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(:[1-9][0-9]{0,4})?$`)
)

// wrong returns an error with a hint.
func wrong(hint, format string, args ...any) error {
	return diag.Errorf(diag.Invalid, format, args...).WithHint("%s", hint)
}

// version reads the version of the format.
func version(v yamlx.Value) int {
	v.Text(func(s string) error {
		if s == "1" {
			return nil
		}
		return wrong("use a newer skillpm", "unsupported format version %q; this skillpm supports version 1", s)
	})
	return 1
}

// parsePattern parses a pattern of sources.
func parsePattern(s string) (Pattern, error) {
	if message, hint := checkSource(s); message != "" {
		return "", wrong(hint, "%q %s", withoutUser(s), message)
	}
	return Pattern(s), nil
}

func parseSkillPattern(s string) (SkillPattern, error) {
	if !isSkillPattern(s) {
		return "", wrong(skillHint(s), "%q does not have the form skill@owner/name, owner/name, or skill", s)
	}
	return SkillPattern(s), nil
}

func capabilities(v yamlx.Value) []Capability {
	isCapability := yamlx.OneOf("an entry of "+v.Name, CapabilityNames()...)
	return yamlx.ListOf(v, func(s string) (Capability, error) { return Capability(s), isCapability(s) })
}

func parseRule(s string) (string, error) {
	if err := rule.CheckPattern(s); err != nil && !rule.IsTeamPattern(s) || s == "" {
		return "", wrong("list rules with \"skillpm explain\"; a family such as SEC selects all its rules",
			"unknown rule %q", s)
	}
	return s, nil
}

func checkLogPath(s string) error {
	if absolutePath().MatchString(s) && !hasDots(s) {
		return nil
	}
	hint := "use an absolute path without .., such as /var/log/skillpm/audit.jsonl"
	return wrong(hint, "%q is not the absolute path of a file", s)
}

var teamName = lazily(`^[\p{L}\p{N}][\p{L}\p{N}._/-]{0,63}$`)

// checkTeam accepts the name of a team. It also becomes a label of metrics.
func checkTeam(s string) error {
	if teamName().MatchString(s) {
		return nil
	}
	return wrong("use at most 64 letters, digits, and . _ - /, such as payments", "%q is not the name of a team", s)
}

// byteSize reads a number of bytes, with or without a unit.
func byteSize(v yamlx.Value) int64 {
	if v.IsScalar() && v.Node.ShortTag() == "!!int" {
		return v.Int(0)
	}
	return yamlx.As(v, func(s string) (int64, error) {
		m := size().FindStringSubmatch(s)
		if m == nil {
			hint := "use a number of bytes, or KiB, MiB, or GiB, such as 10MiB"
			if m := near().FindStringSubmatch(s); m != nil && m[2] != "" {
				hint = "write " + m[1] + strings.ToUpper(m[2]) + "iB; units are powers of 1024"
			}
			return 0, wrong(hint, "%s is %q, which is not a size", v.Name, s)
		}
		n, err := strconv.ParseInt(m[1], 10, 64)
		return n << map[string]int{"B": 0, "KiB": 10, "MiB": 20, "GiB": 30}[m[2]], err
	})
}

// hasDots reports whether a path has a component that leads upward.
func hasDots(path string) bool {
	for part := range strings.FieldsFuncSeq(path, func(c rune) bool { return c == '/' || c == '\\' }) {
		if part == ".." {
			return true
		}
	}
	return false
}

func checkSHA256(s string) error {
	if sha256Hex().MatchString(s) {
		return nil
	}
	hint := "print the digest with: sha256sum FILE"
	if digest := strings.ToLower(strings.TrimPrefix(s, "sha256:")); sha256Hex().MatchString(digest) {
		hint = "write " + digest
	}
	return wrong(hint, "sha256 must have 64 lowercase hexadecimal digits")
}

// parseAge parses the minimum age of a release.
func parseAge(s string) (time.Duration, error) {
	m := releaseAge().FindStringSubmatch(s)
	if m == nil {
		hint := "use hours, days, or weeks, such as 72h, 3d, or 2w"
		if releaseAge().MatchString(s + "h") {
			hint = "write " + s + "h for hours, or " + s + "d for days"
		}
		return 0, wrong(hint, "min_release_age is %q, which is not a duration", s)
	}
	var age time.Duration
	for i, unit := range [...]time.Duration{time.Hour, 24 * time.Hour, 7 * 24 * time.Hour} {
		if n, err := strconv.Atoi(m[i+1]); err == nil {
			age = time.Duration(n) * unit
		}
	}
	return age, nil
}

func parseHost(s string) (string, error) {
	if !IsHost(s) {
		hint := "use api.example.com:443, *.example.com, or * for all hosts"
		return "", wrong(hint, "%q is not a host with an optional port", s)
	}
	return strings.ToLower(s), nil
}

func parseScriptPath(s string) (string, error) {
	if hasDots(s) {
		return "", wrong("use a path without ..", "%q contains ..", s)
	}
	if !absolutePath().MatchString(strings.TrimPrefix(s, "~")) {
		hint := "use an absolute path, such as /srv/data, or a path in the home directory, such as ~/reports"
		return "", wrong(hint, "%q is neither an absolute path nor a path in the home directory", s)
	}
	return s, nil
}

// IsHost reports whether a text is valid in a list of network hosts.
func IsHost(s string) bool { return networkPattern().MatchString(s) }

// lazily returns a regular expression that is compiled at its first use, so that programs that read no policy start
// faster.
func lazily(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
