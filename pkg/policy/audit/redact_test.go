package audit_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/secret"
	"github.com/skillpm/skillpm/pkg/policy/audit"
)

func TestRedact(t *testing.T) {
	for in, want := range map[string]string{
		"deploy to production":                            "deploy to production",
		"exit status 3: no such file: scripts/go.sh":      "exit status 3: no such file: scripts/go.sh",
		"https://ada:pw@host.example/x?sig=1#f":           "https://[redacted]@host.example/x?[redacted]",
		"see https://host.example/a/b":                    "see https://host.example/a/b",
		"ssh://git@host.example/x.git":                    "ssh://[redacted]@host.example/x.git",
		"token: abc":                                      "token: [redacted]",
		"API_KEY=abc other":                               "API_KEY=[redacted] other",
		"--password=abc":                                  "--password=[redacted]",
		"--password abc next":                             "--password [redacted] next",
		"Authorization: Bearer abcdef":                    "Authorization: Bearer [redacted]",
		"uses ghp_0123456789abcdefABCDEF":                 "uses [redacted]",
		"x=AKIAIOSFODNN7EXAMPLE":                          "x=[redacted]",
		"key zQ8fK2mP9xW4vR7tY1nB6cD3":                    "key [redacted]",
		"/home/ada/.skillpm/plugins/acme/deploy/SKILL.md": "/home/ada/.skillpm/plugins/acme/deploy/SKILL.md",
		"the-name-of-a-skill-that-is-rather-long-2":       "the-name-of-a-skill-that-is-rather-long-2",
		"a secret is what nobody knows":                   "a secret is what nobody knows",
		`{"password":"x"} rest`:                           `{"password":[redacted] rest`,
		"DB_PASS=hunter14 next":                           "DB_PASS=[redacted] next",
		"X-Auth-Key: hunter18":                            "X-Auth-Key: [redacted]",
		"curl -u ada:hunter12 https://host.example/":      "curl -u ada:[redacted] https://host.example/",
		"embedded@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef": "embedded@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
		"(t1:sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef),":    "(t1:sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef),",
		"SHA256:p8yM6Yz8Xk1PZpVf2G2kQ9d0rT5uW7sL3nB4vC6xE1A":                               "SHA256:p8yM6Yz8Xk1PZpVf2G2kQ9d0rT5uW7sL3nB4vC6xE1A",
		"sha256:0123456789abcdef0123456789abcdef":                                          "sha256:[redacted]",
		"token=sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef":    "token=[redacted]",
		"mysql -psecretpw db":                                 "mysql -p[redacted] db",
		"sshpass -p hunter4pw ssh host":                       "sshpass -p [redacted] ssh host",
		"docker login -p hunter8pw":                           "docker login -p [redacted]",
		"docker run -p 8080:80 web":                           "docker run -p 8080:80 web",
		"redis-cli -a hunter9pw ping":                         "redis-cli -a [redacted] ping",
		"mkdir -p a/b; cp -a c d":                             "mkdir -p a/b; cp -a c d",
		"curl -b session=hunter10pw https://host.example/":    "curl -b [redacted] https://host.example/",
		`curl -d {"password":"hunter7pw"} x`:                  `curl -d {"password":[redacted] x`,
		`{"user":"a","password":"hunter7pw"}`:                 `{"user":"a","password":[redacted]`,
		"https://hooks.slack.com/services/T00/B00/abcdefghij": "https://hooks.slack.com/[redacted]",
		"curl --user ada https://host.example/":               "curl --user ada https://host.example/",
		"aws_secret_access_key = wJalrXUtnFEMIK7MDENGbPxR":    "aws_secret_access_key = [redacted]",
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

// TestRecordRedacted puts a secret into each text of a record that comes from users or other programs: the log contains
// none.
func TestRecordRedacted(t *testing.T) {
	const secret = "ghp_0123456789abcdefABCDEF"
	for _, name := range []string{"Reason", "Source", "Signer"} {
		var r audit.Record
		reflect.ValueOf(&r).Elem().FieldByName(name).SetString("it says " + secret + " here")
		path := filepath.Join(t.TempDir(), audit.Name)
		if err := audit.Open(path, audit.Options{User: "u"}).Write(r); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil || strings.Contains(string(data), secret) || !strings.Contains(string(data), "it says [redacted] here") {
			t.Errorf("%s: %s, %v", name, data, err)
		}
	}
}

// TestRecordCut writes a long text into each field of a record: every field is truncated.
func TestRecordCut(t *testing.T) {
	fields := reflect.TypeFor[audit.Record]()
	for i := range fields.NumField() {
		f := fields.Field(i)
		if f.Type.Kind() != reflect.String || f.Name == "Prev" || f.Name == "User" || f.Name == "Machine" { // which the log writes itself
			continue
		}
		var r audit.Record
		reflect.ValueOf(&r).Elem().Field(i).SetString(strings.Repeat("é ", 3000))
		path := filepath.Join(t.TempDir(), audit.Name)
		if err := audit.Open(path, audit.Options{User: "u"}).Write(r); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Size() > 2000 {
			t.Errorf("%s is not cut: %v, %v", f.Name, info.Size(), err)
		}
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

// TestKnownSecrets checks that no text of a record has a credential that the process read, also one that looks like a
// word.
func TestKnownSecrets(t *testing.T) {
	const known = "correct horse"
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	var set secret.Set
	set.Learn(known)
	r := audit.Record{
		Action: "script", Reason: known, Source: known, Signer: known, Stdout: "x " + known, Stderr: known + " x",
		Command: []string{"echo", known}, Found: []string{"found " + known},
	}
	if err := audit.Open(file, audit.Options{Secrets: &set, Output: true}).Write(r); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if n := strings.Count(string(data), "***"); err != nil || n != 7 || strings.Contains(string(data), known) {
		t.Errorf("%d of 7: %s, %v", n, data, err)
	}
}
