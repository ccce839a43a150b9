package sign

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Limits of a file of allowed signers.
const (
	maxAllowedFile  = 1 << 20 // bytes
	maxAllowedLines = 10_000
)

// AllowedSigners is a list of keys that may sign, in the format of ALLOWED SIGNERS in ssh-keygen(1): principals,
// options, and a key on each line. Parsing is strict: an invalid line or an unsupported option is an error, so that no
// restriction is ignored.
type AllowedSigners struct {
	lines   []allowedLine
	revoked map[string]bool
}

type allowedLine struct {
	principals    []string
	key           ssh.PublicKey
	id            string
	namespaces    patterns
	after, before time.Time
}

func (l *allowedLine) limited() bool { return !l.after.IsZero() || !l.before.IsZero() }

// ParseAllowedSigners parses a file of allowed signers. The name is used in messages.
func ParseAllowedSigners(name string, data []byte) (*AllowedSigners, error) {
	a := &AllowedSigners{}
	err := eachLine(name, data, func(text string) error {
		l, err := parseAllowed(text)
		a.lines = append(a.lines, l)
		return err
	})
	if err == nil && len(a.lines) == 0 {
		err = diag.Errorf(diag.Invalid, "%s does not contain keys, so skillpm trusts no signer", name).
			WithHint("add a line for each signer, such as: alice@example.com ssh-ed25519 AAAA…")
	}
	if err != nil {
		return nil, err
	}
	return a, nil
}

// Revoke returns the signers without the keys in a file with one public key on each line. Binary revocation lists are
// an error.
func (a *AllowedSigners) Revoke(name string, data []byte) (*AllowedSigners, error) {
	if bytes.HasPrefix(data, []byte("SSHKRL\n")) {
		return nil, diag.Errorf(diag.Invalid, "%s is a binary revocation list, which is not supported", name).
			WithHint("list the revoked public keys in a text file, one per line")
	}
	revoked := make(map[string]bool)
	err := eachLine(name, data, func(text string) error {
		key, err := parseSSHKey(text)
		if err == nil {
			revoked[sshID(key)] = true
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return &AllowedSigners{lines: a.lines, revoked: revoked}, nil
}

// IDs returns the IDs of all keys, in the order of the file.
func (a *AllowedSigners) IDs() []string {
	ids := make([]string, len(a.lines))
	for i, l := range a.lines {
		ids[i] = l.id
	}
	return ids
}

// eachLine calls read for every line that is neither empty nor a comment.
func eachLine(name string, data []byte, read func(text string) error) error {
	if len(data) > maxAllowedFile {
		return diag.Errorf(diag.Invalid, "%s is larger than %d bytes", name, maxAllowedFile)
	}
	number, count := 0, 0
	for raw := range strings.Lines(string(data)) {
		number++
		text := strings.Trim(raw, " \t\r\n")
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		if count++; count > maxAllowedLines {
			return diag.Errorf(diag.Invalid, "%s has more than %d keys", name, maxAllowedLines)
		}
		if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			return diag.Errorf(diag.Invalid, "%s line %d: the line contains control characters", name, number).
				WithHint("remove the control characters")
		}
		if err := read(text); err != nil {
			return diag.Errorf(diag.Invalid, "%s line %d: %w", name, number, err).WithHint("%s", diag.HintOf(err))
		}
	}
	return nil
}

// parseAllowed parses principals, options, and a key.
func parseAllowed(text string) (l allowedLine, err error) {
	names, rest := word(text)
	if names = strings.Trim(names, `"`); names == "" {
		return l, diag.Errorf(diag.Invalid, "the list of principals is empty").
			WithHint("start the line with the names of the signer, such as: alice@example.com")
	}
	for p := range strings.SplitSeq(names, ",") {
		wrong := ""
		switch {
		case p == "":
			wrong = "contains an empty name"
		case strings.ContainsAny(p, `"`):
			wrong = "contains a quotation mark"
		}
		if wrong != "" {
			return l, diag.Errorf(diag.Invalid, "the list of principals %q %s", names, wrong).
				WithHint("separate the names with commas, such as: alice@example.com,bob@example.com")
		}
		l.principals = append(l.principals, p)
	}
	if first, after := word(rest); !IsSSHKeyType(first) {
		if err := l.options(first); err != nil {
			return l, err
		}
		rest = after
	}
	if l.key, err = parseSSHKey(rest); err == nil {
		l.id = sshID(l.key)
	}
	return l, err
}

// word splits off the first word of a line. White space in quotes is part of the word.
func word(text string) (first, rest string) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case (c == ' ' || c == '\t') && !quoted:
			return text[:i], strings.TrimLeft(text[i:], " \t")
		}
	}
	return text, ""
}

// IsSSHKeyType reports whether a word is an SSH key type, such as ssh-ed25519.
func IsSSHKeyType(s string) bool {
	return strings.HasPrefix(s, "ssh-") || strings.HasPrefix(s, "ecdsa-sha2-") || strings.HasPrefix(s, "sk-")
}

// options parses the options between principals and key.
func (l *allowedLine) options(text string) error {
	seen := make(map[string]bool)
	for text != "" {
		option, rest := cutOption(text)
		name, value, has := strings.Cut(option, "=")
		name = strings.ToLower(name)
		if seen[name] {
			return diag.Errorf(diag.Invalid, "the option %s is duplicated", name)
		}
		seen[name] = true
		if has {
			if len(value) < 2 || value[0] != '"' || strings.IndexByte(value[1:], '"') != len(value)-2 {
				return diag.Errorf(diag.Invalid, "the value of the option %s must be in quotes", name).
					WithHint("write %s=\"VALUE\"", name)
			}
			value = value[1 : len(value)-1]
		}
		if err := l.option(name, value, has); err != nil {
			return err
		}
		text = rest
	}
	return nil
}

// cutOption splits at the first comma outside quotes.
func cutOption(text string) (option, rest string) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted:
			return text[:i], text[i+1:]
		}
	}
	return text, ""
}

func (l *allowedLine) option(name, value string, has bool) (err error) {
	switch {
	case name == "cert-authority":
		return diag.Errorf(diag.Invalid, "certificate authorities are not supported").
			WithHint("list the allowed keys, one per line")
	case name == "namespaces" && has && value != "":
		l.namespaces = strings.Split(value, ",")
	case name == "valid-after" && has:
		l.after, err = sshTime(value)
	case name == "valid-before" && has:
		l.before, err = sshTime(value)
	case name == "namespaces" || name == "valid-after" || name == "valid-before":
		return diag.Errorf(diag.Invalid, "the option %s requires a value", name).
			WithHint("write %s=\"VALUE\"", name)
	default:
		return diag.Errorf(diag.Invalid, "%q is neither a key type nor a known option", name).
			WithHint("use only the options namespaces, valid-after, and valid-before")
	}
	return err
}

// sshTime parses a time as ssh-keygen writes it. It rejects a time without Z, which is in the machine's time zone, so
// that two machines would trust different signatures.
func sshTime(value string) (time.Time, error) {
	for _, layout := range [...]string{"20060102Z", "200601021504Z", "20060102150405Z"} {
		if t, err := time.Parse(layout, value); err == nil && len(layout) == len(value) {
			return t, nil
		}
		if _, err := time.Parse(strings.TrimSuffix(layout, "Z"), value); err == nil {
			return time.Time{}, diag.Errorf(diag.Invalid, "the time %q does not have a time zone", value).
				WithHint("use %sZ for UTC", value)
		}
	}
	return time.Time{}, diag.Errorf(diag.Invalid, "invalid time %q", value).
		WithHint("use YYYYMMDDZ or YYYYMMDDHHMMSSZ, in UTC")
}

// parseSSHKey parses the type of a key, the key, and a comment.
func parseSSHKey(text string) (ssh.PublicKey, error) {
	kind, rest := word(text)
	encoded, _ := word(rest)
	raw, err := base64.StdEncoding.Strict().DecodeString(encoded)
	switch {
	case encoded == "":
		return nil, diag.Errorf(diag.Invalid, "the line does not contain a key").
			WithHint("add the type and the key, such as ssh-ed25519 AAAA…")
	case err != nil:
		return nil, diag.Errorf(diag.Invalid, "the key is not valid base64").
			WithHint("copy the whole key, such as ssh-ed25519 AAAA…")
	}
	key, err := ssh.ParsePublicKey(raw)
	if err != nil {
		return nil, diag.Errorf(diag.Invalid, "the key is damaged: %v", err)
	}
	if key.Type() != kind {
		return nil, diag.Errorf(diag.Invalid, "the type of the key is %s, but the line contains the type %s",
			quote(key.Type()), quote(kind))
	}
	return key, strong(key)
}

// patterns is a list of OpenSSH patterns. nil matches everything.
type patterns []string

// match reports whether a pattern matches and no pattern with a leading ! does.
func (p patterns) match(s string) bool {
	found := p == nil
	for _, pattern := range p {
		inner, negated := strings.CutPrefix(pattern, "!")
		if !glob(inner, s) {
			continue
		}
		if negated {
			return false
		}
		found = true
	}
	return found
}

// glob matches * to any characters and ? to one, in time linear in both lengths.
func glob(pattern, s string) bool {
	star, mark, i, j := -1, 0, 0, 0
	for j < len(s) {
		switch {
		case i < len(pattern) && pattern[i] == '*':
			star, mark = i, j
			i++
		case i < len(pattern) && (pattern[i] == '?' || pattern[i] == s[j]):
			i++
			j++
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[i:], "*") == ""
}

func quote(s string) string { return strconv.QuoteToASCII(s) }
