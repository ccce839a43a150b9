package credential

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Secrets are what no message may hold, in each way that a server may repeat it. The zero value knows none.
type Secrets struct {
	mu        sync.Mutex
	spellings map[string]bool
}

// minSecret is the least length of a secret that is looked for: shorter ones are words of messages too.
const minSecret = 4

// Learn adds a secret that stands for itself.
func (s *Secrets) Learn(secret string) {
	if len(secret) < minSecret {
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

// spellings are the ways in which a server is known to repeat what it was sent.
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
	// with = at the end they begin like this
	for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		list = append(list, e.EncodeToString(raw))
	}
	for _, s := range slices.Clip(list) { // in upper case as in lower case
		list = append(list, escapes().ReplaceAllStringFunc(s, strings.ToLower),
			escapes().ReplaceAllStringFunc(s, strings.ToUpper))
	}
	return list
}

// escapes are the parts of a spelling that mean the same in upper and lower case, and pairs the bytes of one in hex.
var (
	escapes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`%[0-9A-Fa-f]{2}`) })
	pairs   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`..`) })
)

// LearnLogin adds what a host may be shown.
func (s *Secrets) LearnLogin(l Login) {
	if l.Secret != "" {
		s.Learn(base64.StdEncoding.EncodeToString([]byte(l.User + ":" + l.Secret)))
	}
	for _, secret := range []string{l.Secret, l.Identity, l.Token} {
		s.Learn(secret)
	}
}

// LearnHeader adds what a request is sent with.
func (s *Secrets) LearnHeader(h http.Header) {
	if _, secret, ok := strings.Cut(h.Get("Authorization"), " "); ok {
		s.Learn(secret)
	}
}

// Redact returns text without secrets, also where their ends were cut off.
func (s *Secrets) Redact(text string) string {
	s.mu.Lock()
	spellings := make([]string, 0, len(s.spellings))
	for spelling := range s.spellings {
		spellings = append(spellings, spelling)
	}
	s.mu.Unlock()
	slices.SortFunc(spellings, func(a, b string) int { return len(b) - len(a) }) // one may hold another
	for _, spelling := range spellings {
		text = mask(text, spelling)
	}
	return text
}

// mask replaces a secret, or the beginning of a long one.
func mask(text, secret string) string {
	const enough = 16
	head := secret[:min(len(secret), enough)]
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, head)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteString("***")
		suffix := secret[len(head):]
		for rest != "" && suffix != "" && rest[0] == suffix[0] {
			rest, suffix = rest[1:], suffix[1:]
		}
		text = rest
	}
}

// Discreet returns err, or where its text or hint holds a secret, what is left of it without.
func (s *Secrets) Discreet(err error) error {
	if err == nil {
		return nil
	}
	text, hint := s.Redact(err.Error()), s.Redact(diag.HintOf(err))
	if text == err.Error() && hint == diag.HintOf(err) {
		return err
	}
	return diag.Errorf(diag.CodeOf(err), "%s", text).WithHint("%s", hint)
}
