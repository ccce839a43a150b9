package audit

import (
	"slices"
	"strings"
	"unicode"
)

// redacted replaces a secret.
const redacted = "[redacted]"

// redact removes likely secrets from a text: the user part and the query of URLs, the values of fields and options with
// secret names, and words that look like tokens.
func redact(s string) string {
	if !mayHaveSecrets(s) {
		return s
	}
	var b strings.Builder
	next, program := expectNothing, ""
	for len(s) > 0 {
		i := strings.IndexFunc(s, unicode.IsSpace)
		if i < 0 {
			i = len(s)
		}
		word := s[:i]
		if i == 0 {
			i = strings.IndexFunc(s, func(r rune) bool { return !unicode.IsSpace(r) })
			if i < 0 {
				i = len(s)
			}
			b.WriteString(s[:i])
			s = s[i:]
			continue
		}
		var out string
		out, next = redactOption(word, next, &program)
		b.WriteString(out)
		s = s[i:]
	}
	return b.String()
}

// redactWords redacts the words of a command, in which an option's value may be the next word.
func redactWords(words []string) []string {
	out := make([]string, len(words))
	next, program := expectNothing, ""
	for i, w := range words {
		if strings.ContainsFunc(w, unicode.IsSpace) && next != secret {
			out[i], next = redact(w), expectNothing
			continue
		}
		out[i], next = redactOption(w, next, &program)
	}
	return out
}

// passwordOptions are options of programs, by the program, that take a secret. Other programs use the same letters for
// something else.
var passwordOptions = map[string]string{
	"mysql": "-p", "mysqldump": "-p", "mysqladmin": "-p", "mariadb": "-p", "sshpass": "-p", "login": "-p",
	"redis-cli": "-a", "curl": "-b",
}

// redactOption is [redactWord] with knowledge of a program's options.
func redactOption(w string, e expect, program *string) (string, expect) {
	word := strings.Trim(w, `"'(),;`)
	name := word[strings.LastIndexAny(word, `/\\`)+1:]
	option := passwordOptions[*program]
	switch {
	case e != expectNothing:
	case passwordOptions[name] != "":
		*program = name
	case option == "":
	case word == option && (strings.HasPrefix(*program, "mysql") || *program == "mariadb"):
	case word == option:
		return w, secret
	case strings.HasPrefix(word, option) && !strings.HasPrefix(word, "--"):
		return w[:strings.Index(w, option)+len(option)] + redacted, expectNothing
	case strings.ContainsAny(w, ";|&"):
		*program = ""
	}
	return redactWord(w, e)
}

// mayHaveSecrets reports whether a text may contain secrets.
func mayHaveSecrets(s string) bool {
	if strings.Contains(s, "://") || strings.ContainsAny(s, "=:") || strings.Contains(s, " -") {
		return true
	}
	for word := range strings.FieldsSeq(s) {
		if len(word) >= minToken || isSecretName(word) || hasKeyPrefix(word) {
			return true
		}
	}
	return false
}

// expect is the expected kind of the next word.
type expect int

const (
	expectNothing expect = iota
	value                // a secret if = or : precedes it
	secret               // a secret
	account              // a name, optionally followed by a colon and a secret
)

// redactWord returns a word without secrets, and the expected kind of the next one.
func redactWord(w string, e expect) (string, expect) {
	word := strings.Trim(w, `"'(),;`)
	option := strings.HasPrefix(word, "-") && isSecretName(word)
	switch {
	case e == secret && (isAuthScheme(word) || word == "=" || word == ":"):
		return w, secret
	case e == secret && (option || strings.HasSuffix(word, "=") || strings.HasSuffix(word, ":")):
		return redacted, secret
	case e == secret:
		return redacted, expectNothing
	case e == value && (word == "=" || word == ":"):
		return w, secret
	case strings.Contains(w, "://"):
		return redactAddress(w), expectNothing
	case slices.Contains([]string{"-u", "-U", "--user", "--proxy-user"}, word): // options of curl and similar programs
		return w, account
	case e == account:
		if i := strings.IndexByte(w, ':'); i >= 0 {
			return w[:i+1] + redacted, expectNothing
		}
		return w, expectNothing
	case option || strings.EqualFold(word, "bearer"):
		if i := strings.IndexAny(w, "=:"); i < 0 {
			return w, secret
		}
	case isToken(word):
		return redacted, expectNothing
	case !strings.ContainsAny(word, "=:") && isSecretName(word):
		return w, value
	}
	i := strings.IndexAny(w, "=:")
	if i <= 0 {
		return w, expectNothing
	}
	if isDigestName(w[:i]) && isDigest(w[i+1:]) {
		return w, expectNothing
	}
	if !isSecretName(w[strings.LastIndexAny(w[:i], `{,`)+1 : i]) {
		rest, next := redactWord(w[i+1:], expectNothing)
		return w[:i+1] + rest, next
	}
	if strings.Trim(w[i+1:], `"'`) == "" {
		return w, secret
	}
	return w[:i+1] + redacted, expectNothing
}

// isDigestName reports whether a word names a digest algorithm, whose values are not secret.
func isDigestName(w string) bool {
	w = strings.ToLower(w)
	return strings.HasSuffix(w, "sha256") || strings.HasSuffix(w, "sha512") || strings.HasSuffix(w, "sha1")
}

// isDigest reports whether a word is a digest: hexadecimal, or the fingerprint of a key.
func isDigest(w string) bool {
	w = strings.TrimRight(w, `"'),;.`)
	switch len(w) {
	case 40, 64, 128:
		return hexOf(w)
	case 43: // base64 without padding
		return !strings.ContainsFunc(w, func(r rune) bool {
			return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '+' && r != '/'
		})
	}
	return false
}

// isAuthScheme reports whether a word is an HTTP authentication scheme, which a secret follows.
func isAuthScheme(w string) bool {
	return strings.EqualFold(w, "bearer") || strings.EqualFold(w, "basic")
}

// redactAddress removes the user part, the query, and the fragment of a URL.
func redactAddress(w string) string {
	scheme := strings.Index(w, "://")
	cursor, rest := w[:scheme+3], w[scheme+3:]
	if i := strings.IndexAny(cursor, "=:"); i > 0 && i < scheme && isSecretName(cursor[:i]) {
		return cursor[:i+1] + redacted
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	if i := strings.LastIndexByte(rest[:end], '@'); i >= 0 {
		rest = redacted + rest[i:]
	}
	if strings.HasPrefix(rest, "hooks.slack.com/") { // its path is a secret
		return cursor + "hooks.slack.com/" + redacted
	}
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		rest = rest[:i+1] + redacted
	}
	parts := strings.Split(rest, "/")
	for i, p := range parts {
		if isToken(p) {
			parts[i] = redacted
		}
	}
	return cursor + strings.Join(parts, "/")
}

// isSecretName reports whether a field or option has a name that secrets have.
func isSecretName(name string) bool {
	if len(name) > 64 || len(name) < 3 {
		return false
	}
	lower := strings.ToLower(strings.Trim(name, `"'{}[](),$`))
	for _, end := range []string{"_pass", "-pass", "_pwd", "-pwd", "_auth", "-auth", "auth-key", "auth_key"} {
		if strings.HasSuffix(lower, end) {
			return true
		}
	}
	name = strings.Map(func(r rune) rune {
		if r = unicode.ToLower(r); strings.ContainsRune(`"'{}[](),$-_.`, r) {
			return -1
		}
		return r
	}, name)
	for _, part := range []string{
		"password", "passwd", "passphrase", "secret", "token", "apikey", "accesskey",
		"privatekey", "credential", "authorization", "cookie",
	} {
		if strings.HasSuffix(name, part) || strings.HasPrefix(name, part) && part != "token" {
			return true
		}
	}
	return name == "pwd" || name == "pass" || name == "auth"
}

// minToken is the minimum length of a mix of letters and digits that counts as a token.
const minToken = 24

// isToken reports whether a word looks like a key or a token, by its prefix or its characters.
func isToken(w string) bool {
	if hasKeyPrefix(w) {
		return true
	}
	if len(w) < minToken {
		return false
	}
	var upper, lower, digit, other int
	for _, r := range w {
		switch {
		case 'A' <= r && r <= 'Z':
			upper++
		case 'a' <= r && r <= 'z':
			lower++
		case '0' <= r && r <= '9':
			digit++
		case r == '+' || r == '/' || r == '_' || r == '-' || r == '=' || r == '.':
			other++
		default:
			return false
		}
	}
	if strings.Count(w, "/") > 1 || strings.Count(w, ".") > 2 || strings.Count(w, "-") > 3 && upper == 0 {
		return false // a path, a version, or words
	}
	return digit >= 4 && (upper > 0 && lower > 0 || upper+lower > 0 && other == 0)
}

// hasKeyPrefix reports whether a word starts like the keys of a well-known provider.
func hasKeyPrefix(w string) bool {
	w = strings.TrimLeft(w, `"'(`)
	if len(w) < 12 {
		return false
	}
	for _, p := range []string{
		"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "sk-", "sk_live_", "sk_test_", "rk_live_",
		"xoxb-", "xoxp-", "xoxa-",
		"AKIA", "ASIA", "AIza", "npm_", "pypi-", "dop_v1_", "hf_", "eyJ", "SG.", "shpat_", "-----BEGIN",
	} {
		if strings.HasPrefix(w, p) {
			return true
		}
	}
	return false
}
