package secret_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/secret"
)

// encodings are the ways in which servers repeat what they were sent.
var encodings = map[string]func(string) string{
	"plain":       func(s string) string { return s },
	"query":       url.QueryEscape,
	"path":        url.PathEscape,
	"lower query": func(s string) string { return strings.ToLower(url.QueryEscape(strings.ToLower(s))) },
	"percent":     func(s string) string { return percent(s, "%%%02x") },
	"PERCENT":     func(s string) string { return percent(s, "%%%02X") },
	"base64":      func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"url base64":  func(s string) string { return base64.URLEncoding.EncodeToString([]byte(s)) },
	"basic":       func(s string) string { return base64.StdEncoding.EncodeToString([]byte("ada:" + s)) },
	"inside of 1": func(s string) string { return base64.StdEncoding.EncodeToString([]byte("{" + s + "}")) },
	"inside of 2": func(s string) string { return base64.StdEncoding.EncodeToString([]byte("{{" + s + "}")) },
	"inside of 3": func(s string) string { return base64.URLEncoding.EncodeToString([]byte("{{{" + s + "}}")) },
	"hex":         func(s string) string { return hex.EncodeToString([]byte(s)) },
	"JSON":        func(s string) string { data, _ := json.Marshal(s); return strings.Trim(string(data), `"`) },
	"quoted":      strconv.Quote,
	"HTML":        html.EscapeString,
	"broken":      func(s string) string { return s[:len(s)/2] + "\n" + s[len(s)/2:] },
	"broken base64": func(s string) string {
		b := base64.StdEncoding.EncodeToString([]byte(s))
		return b[:5] + "\r\n" + b[5:]
	},
	"escaped break": func(s string) string { return s[:len(s)/2] + `\n` + s[len(s)/2:] },
	"twice":         func(s string) string { return s + ", " + s },
}

func percent(s, format string) (out string) {
	for _, b := range []byte(s) {
		out += fmt.Sprintf(format, b)
	}
	return out
}

// TestRedact checks that a secret is removed from a text in each form in which a server repeats it, however the process
// learned it.
func TestRedact(t *testing.T) {
	for _, value := range []string{
		"p&ss<\"wörd\">/+?=%\\", "s3cret/w0rd", "eyJhbGciOiJSUzI1NiJ9." + strings.Repeat("abc123", 60), "glpat-AAAAbbbbCCCC1234", "correct horse battery",
	} {
		for how, learn := range map[string]func(s *secret.Set){
			"value":    func(s *secret.Set) { s.Learn(value) },
			"password": func(s *secret.Set) { s.LearnPassword("ada", value) },
			"header":   func(s *secret.Set) { s.LearnAuthorization("Bearer " + value) },
			"URL": func(s *secret.Set) {
				s.LearnURL((&url.URL{Scheme: "https", User: url.UserPassword("ada", value), Host: "h"}).String())
			},
			"proxy": func(s *secret.Set) {
				s.LearnVariables([]string{"HTTPS_PROXY=" + (&url.URL{Scheme: "http", User: url.UserPassword("ada", value), Host: "h"}).String()})
			},
			"variable": func(s *secret.Set) { s.LearnVariables([]string{"SKILLPM_TOKEN_H=ada:" + value, "HOME=/nothing"}) },
		} {
			s := &secret.Set{}
			learn(s)
			for name, encode := range encodings {
				if name == "basic" && (how == "value" || how == "header") || name == "lower query" && value != strings.ToLower(value) {
					continue // nobody sends the user's name, or the value has capitals
				}
				encoded := encode(value)
				for _, text := range []string{"you sent " + encoded + " to us", encoded, strings.Repeat("x", 40) + encoded[:min(len(encoded), max(16, len(encoded)*3/4))]} {
					if len(text) > 40 && text[0] == 'x' && (len(value) < 20 || strings.HasPrefix(name, "inside") || strings.Contains(name, "br") || name == "basic") {
						continue // the part that remains may be any text
					}
					got := s.Redact(text)
					if !strings.Contains(got, "***") || strings.Contains(got, value) || strings.Contains(got, encoded) {
						t.Errorf("%s learned as %s, %s: %q of %q", value, how, name, got, text)
					}
				}
			}
			if got := s.Redact("you sent nothing to us /nothing"); got != "you sent nothing to us /nothing" {
				t.Errorf("%q", got)
			}
		}
	}
	for text, want := range map[string]string{ // nobody learned these
		`registry requires HTTPS: "http://ada:s3cret@r.example/x"`:   `registry requires HTTPS: "http://***@r.example/x"`,
		`git "git+https://ada:s3/cr@r.example/x#v1"`:                 `git "git+https://ada:s3/cr@r.example/x#v1"`,
		`oci "oci://ada:p#1?2@r.example/x:1"`:                        `oci "oci://ada:***@r.example/x:1"`,
		"https://ghp_abc@github.com/a and https://x:y@z":             "https://***@github.com/a and https://***@z",
		"ssh://git:pw@h/x, ssh://git:p@ss@w@h/x@1":                   "ssh://git:***@h/x, ssh://git:***@h/x@1",
		"oci://ada:p:ss:@h/x oci://a@b.c:p:@ss@h:1/x@y:z":            "oci://ada:***@h/x oci://a@b.c:***@h:1/x@y:z",
		"oci://h:5000/a/b:1.0.0@sha256:ab git+ssh://git@h:22/x":      "oci://h:5000/a/b:1.0.0@sha256:ab git+ssh://git@h:22/x",
		"https://github.com/a/.github/workflows/r.yml@refs/tags/v1 ": "https://github.com/a/.github/workflows/r.yml@refs/tags/v1 ",
	} {
		if got := (&secret.Set{}).Redact(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := (*secret.Set)(nil).Redact("x"); got != "x" {
		t.Error(got)
	}
	// The output of a command is read once, not for each spelling.
	var variables []string
	for i := range 10 {
		variables = append(variables, fmt.Sprintf("A%d_TOKEN=ghp_abcdefghij%dklmnopqrstuvwxyz", i, i))
	}
	s, output := &secret.Set{}, strings.Repeat("the output of a command\n", 10_000)
	s.LearnVariables(variables)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s.Redact(output)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 100*uint64(len(output)) {
		t.Errorf("%d bytes are allocated for an output of %d", n, len(output))
	}
}
