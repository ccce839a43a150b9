package audit_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/audit"
)

func TestRedact(t *testing.T) {
	for in, want := range map[string]string{
		"deploy to production":                             "deploy to production",
		"exit status 3: no such file: scripts/go.sh":       "exit status 3: no such file: scripts/go.sh",
		"https://ada:pw@host.example/x?sig=1#f":            "https://[redacted]@host.example/x?[redacted]",
		"see https://host.example/a/b":                     "see https://host.example/a/b",
		"ssh://git@host.example/x.git":                     "ssh://[redacted]@host.example/x.git",
		"token: abc":                                       "token: [redacted]",
		"API_KEY=abc other":                                "API_KEY=[redacted] other",
		"--password=abc":                                   "--password=[redacted]",
		"--password abc next":                              "--password [redacted] next",
		"Authorization: Bearer abcdef":                     "Authorization: Bearer [redacted]",
		"uses ghp_0123456789abcdefABCDEF":                  "uses [redacted]",
		"x=AKIAIOSFODNN7EXAMPLE":                           "x=[redacted]",
		"key zQ8fK2mP9xW4vR7tY1nB6cD3":                     "key [redacted]",
		"/home/ada/.skillpm/plugins/acme/deploy/SKILL.md":  "/home/ada/.skillpm/plugins/acme/deploy/SKILL.md",
		"the-name-of-a-skill-that-is-rather-long-2":        "the-name-of-a-skill-that-is-rather-long-2",
		"a secret is what nobody knows":                    "a secret is what nobody knows",
		`{"password":"x"} rest`:                            `{"password":[redacted] rest`,
		"DB_PASS=hunter14 next":                            "DB_PASS=[redacted] next",
		"X-Auth-Key: hunter18":                             "X-Auth-Key: [redacted]",
		"curl -u ada:hunter12 https://host.example/":       "curl -u ada:[redacted] https://host.example/",
		"curl --user ada https://host.example/":            "curl --user ada https://host.example/",
		"aws_secret_access_key = wJalrXUtnFEMIK7MDENGbPxR": "aws_secret_access_key = [redacted]",
	} {
		if got := audit.Redact(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestRedactWords(t *testing.T) {
	in := []string{"curl", "-H", "Authorization: Bearer abc", "--token", "a b", "--user-secret", "x", "https://u:p@h/?q", "plain", "-u", "ada:pw"}
	want := []string{"curl", "-H", "Authorization: Bearer [redacted]", "--token", "[redacted]", "--user-secret", "[redacted]", "https://[redacted]@h/?[redacted]", "plain", "-u", "ada:[redacted]"}
	if got := audit.RedactWords(in); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func FuzzRedact(f *testing.F) {
	for _, s := range []string{"", "a b", "token=x", "https://a:b@c/d?e#f", "--password x", "bearer", "= : =", "\xff\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		const secret = "ghp_0123456789abcdefABCDEF"
		for _, text := range []string{s + " " + secret, s + " --password hunter2pass"} {
			got := audit.Redact(text)
			if strings.Contains(got, secret) || !strings.Contains(s, "hunter2pass") && strings.Contains(got, "hunter2pass") {
				t.Errorf("%q keeps its secret: %q", text, got)
			}
		}
	})
}
