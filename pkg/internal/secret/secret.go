// Package secret removes secrets from messages. One [Set] per process has every credential that the process read, in
// each way that a server may repeat it.
package secret

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Set has the secrets that messages must not contain, in each spelling in which a server may repeat them. The zero
// value and nil are empty.
type Set struct {
	mu        sync.Mutex
	spellings map[string]bool
}

// minSecret is the minimum length of a secret in bytes: shorter ones are also words of messages.
const minSecret = 4

// minInner is the minimum length in bytes of a part of a secret, and of a secret that is broken over lines.
const minInner = 8

// Learn adds a secret.
func (s *Set) Learn(secret string) {
	if s == nil || len(secret) < minSecret {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spellings == nil {
		s.spellings = make(map[string]bool)
	}
	if s.spellings[secret] {
		return
	}
	for _, spelling := range spellings(secret) {
		s.spellings[spelling] = true
	}
}

// spellings returns the spellings in which servers are known to repeat a secret.
func spellings(secret string) []string {
	raw := []byte(secret)
	quoted := strconv.Quote(secret)
	list := []string{
		secret, url.QueryEscape(secret), url.PathEscape(secret), quoted[1 : len(quoted)-1],
		html.EscapeString(secret),
	}
	if text, err := json.Marshal(secret); err == nil {
		list = append(list, string(text[1:len(text)-1]))
	}
	digits := hex.EncodeToString(raw)
	percent := strings.ToUpper(pairs().ReplaceAllString(digits, "%$0"))
	list = append(list, percent, strings.ToLower(percent), digits, strings.ToUpper(digits))
	for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		list = append(list, e.EncodeToString(raw)) // also the beginning of the form with = at the end
		// inside of a longer text, without the characters that depend on the text around it
		for before := range 3 {
			inner := e.EncodeToString(append(make([]byte, before), raw...))
			if inner = inner[(before*8+5)/6 : (before+len(raw))*8/6]; len(inner) >= minInner {
				list = append(list, inner)
			}
		}
	}
	for _, s := range slices.Clip(list) { // in both cases
		list = append(list, escapes().ReplaceAllStringFunc(s, strings.ToLower),
			escapes().ReplaceAllStringFunc(s, strings.ToUpper))
	}
	return list
}

// escapes matches the parts of a spelling whose case does not matter, and pairs matches the bytes of a hexadecimal one.
var (
	escapes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`%[0-9A-Fa-f]{2}`) })
	pairs   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`..`) })
)

// LearnPassword adds a password, and what HTTP sends for it and its user.
func (s *Set) LearnPassword(user, password string) {
	if password != "" {
		s.Learn(base64.StdEncoding.EncodeToString([]byte(user + ":" + password)))
		s.Learn(password)
	}
}

// LearnURL adds the password in a URL.
func (s *Set) LearnURL(text string) {
	if u, err := url.Parse(text); err == nil && u.User != nil {
		password, _ := u.User.Password()
		s.LearnPassword(u.User.Username(), password)
	}
}

// LearnVariables adds the values of environment variables whose names are those of credentials.
func (s *Set) LearnVariables(environ []string) {
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		if name = strings.ToUpper(name); strings.HasSuffix(name, "_PROXY") {
			s.LearnURL(value)
		} else if strings.HasPrefix(name, "SKILLPM_TOKEN_") || strings.HasSuffix(name, "_TOKEN") ||
			strings.HasSuffix(name, "PASSWORD") {
			s.Learn(value)
			if user, password, ok := strings.Cut(value, ":"); ok {
				s.LearnPassword(user, password)
			}
		}
	}
}

// LearnAuthorization adds the credential in an Authorization header.
func (s *Set) LearnAuthorization(header string) {
	if _, secret, ok := strings.Cut(header, " "); ok {
		s.Learn(secret)
	}
}

// userInfo matches the password in a URL, and what a web address has before a host: a token can be the user.
var userInfo = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(://[^\s/"']*?:|https?://)[^\s/"']+@`)
})

// Redact returns text without secrets, also those whose ends are cut off, and without the passwords of URLs: what a
// file or a server names may have some that nobody learned.
func (s *Set) Redact(text string) string {
	text = userInfo().ReplaceAllString(text, "$1***@")
	if s == nil {
		return text
	}
	s.mu.Lock()
	spellings := make([]string, 0, len(s.spellings))
	for spelling := range s.spellings {
		spellings = append(spellings, spelling)
	}
	s.mu.Unlock()
	slices.SortFunc(spellings, func(a, b string) int { return len(b) - len(a) }) // one may contain another
	m := newMessage(text)
	for _, spelling := range spellings {
		m.mask(spelling)
		if compact, _ := withoutBreaks(spelling); compact != spelling && len(compact) >= minInner {
			m.mask(compact)
		}
	}
	return m.text
}

// message is a text, and what [withoutBreaks] returns for it: it may have a megabyte, and be searched for hundreds of
// spellings.
type message struct {
	text, compact string
	at            []int
}

func newMessage(text string) message {
	compact, at := withoutBreaks(text)
	return message{text, compact, at}
}

// mask replaces a secret, the beginning of a long one, and one that is broken over lines.
func (m *message) mask(secret string) {
	const enough = 16
	head := secret[:min(len(secret), enough)]
	text, compact, at := m.text, m.text, []int(nil)
	if plain, _ := withoutBreaks(secret); len(secret) >= minInner && plain == secret {
		compact, at = m.compact, m.at
	}
	if !strings.Contains(compact, head) {
		return
	}
	offset := func(i int) int {
		if at == nil {
			return i
		}
		return at[i]
	}
	var b strings.Builder
	done := 0
	for start := 0; ; {
		i := strings.Index(compact[start:], head)
		if i < 0 {
			*m = newMessage(b.String() + text[done:])
			return
		}
		i += start
		end := i + len(head)
		for n := len(head); end < len(compact) && n < len(secret) && compact[end] == secret[n]; n++ {
			end++
		}
		b.WriteString(text[done:offset(i)] + "***")
		done, start = offset(end-1)+1, end
	}
}

// withoutBreaks returns a text without line breaks and spaces, including escaped ones, and the offsets of its bytes.
func withoutBreaks(text string) (compact string, at []int) {
	b := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == ' ' || c == '\n' || c == '\r' || c == '\t':
		case c == '\\' && i+1 < len(text) && (text[i+1] == 'n' || text[i+1] == 'r' || text[i+1] == 't'):
			i++
		default:
			b, at = append(b, c), append(at, i)
		}
	}
	return string(b), at
}

// RedactError returns err, or an error without the secrets if its text or hint contains any.
func (s *Set) RedactError(err error) error {
	if err == nil {
		return nil
	}
	text, hint := s.Redact(err.Error()), s.Redact(diag.HintOf(err))
	if text == err.Error() && hint == diag.HintOf(err) {
		return err
	}
	return diag.Errorf(diag.CodeOf(err), "%s", text).WithHint("%s", hint)
}
