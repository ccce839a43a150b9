package pack_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
)

// TestPublisher checks which subjects of certificates match a publisher (O14). No other repository, workflow, branch,
// or server may match.
func TestPublisher(t *testing.T) {
	const actions = "https://token.actions.githubusercontent.com"
	release := "https://github.com/acme/skills/.github/workflows/release.yml@"
	for _, tt := range []struct {
		text, issuer, repository string
		good, bad                []string
	}{
		{
			"github:acme/skills/.github/workflows/release.yml", actions, "https://github.com/acme/skills",
			[]string{release + "refs/tags/v1.0.0", release + "refs/heads/main", release + "refs/heads/a/b"},
			[]string{
				release + "refs/pull/1/merge", release, strings.Replace(release, ".yml", "xyml", 1) + "refs/tags/v1",
				"https://github.com/acme/skills2/.github/workflows/release.yml@refs/tags/v1",
				"https://github.com/evil/skills/.github/workflows/release.yml@refs/tags/v1",
				"https://github.com/acme/skills/.github/workflows/test.yml@refs/tags/v1",
				"https://github.com.evil/acme/skills/.github/workflows/release.yml@refs/tags/v1",
				"https://githubxcom/acme/skills/.github/workflows/release.yml@refs/tags/v1",
				"x" + release + "refs/tags/v1", release + "refs/tags/v1\nx",
			},
		},
		{
			"github:acme/skills@refs/tags/v*", actions, "https://github.com/acme/skills",
			[]string{release + "refs/tags/v1.0.0", "https://github.com/acme/skills/.github/workflows/a.yaml@refs/tags/v"},
			[]string{
				release + "refs/heads/v1", release + "refs/tags/1", release + "refs/heads/x@refs/tags/v1",
				"https://github.com/acme/skills/.github/workflows/a/b.yml@refs/tags/v1",
			},
		},
		{
			"github://git.example/acme/skills", "https://git.example/_services/token", "https://git.example/acme/skills",
			[]string{"https://git.example/acme/skills/.github/workflows/a.yml@refs/heads/main"},
			[]string{release + "refs/heads/main"},
		},
		{
			"gitlab:acme/team/skills@refs/heads/main", "https://gitlab.com", "https://gitlab.com/acme/team/skills",
			[]string{"https://gitlab.com/acme/team/skills//.gitlab-ci.yml@refs/heads/main"},
			[]string{
				"https://gitlab.com/acme/team/skills//.gitlab-ci.yml@refs/heads/main2",
				"https://gitlab.com/acme/team/skills//.gitlab-ci.yml@refs/heads/x@refs/heads/main",
				"https://gitlab.com/acme/team/skills/x//.gitlab-ci.yml@refs/heads/main",
				"https://gitlab.com/acme/team//.gitlab-ci.yml@refs/heads/main",
			},
		},
		{
			"gitlab:acme/skills@refs/tags/v*", "https://gitlab.com", "https://gitlab.com/acme/skills",
			[]string{"https://gitlab.com/acme/skills//.gitlab-ci.yml@refs/tags/v1.0.0"},
			[]string{
				"https://gitlab.com/acme/skills//x@refs/tags/v1.yml@refs/heads/evil",
				"https://gitlab.com/acme/skills//.gitlab-ci.yml@refs/merge-requests/1/head",
				"https://gitlab.com/acme/skills//.gitlab-ci.yml@refs/heads/v1",
			},
		},
		{
			"gitlab://git.example:8443/acme/skills", "https://git.example:8443", "https://git.example:8443/acme/skills",
			[]string{"https://git.example:8443/acme/skills//ci/a.yml@refs/tags/v1"},
			nil,
		},
	} {
		p, err := pack.ParsePublisher(tt.text)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if p.String() != tt.text {
			t.Errorf("%s is printed as %s", tt.text, p)
		}
		issuer, subject, repository := p.Certificate()
		if issuer != tt.issuer || repository != tt.repository {
			t.Errorf("%s: issuer %s, repository %s", tt.text, issuer, repository)
		}
		re := regexp.MustCompile(subject)
		for _, s := range tt.good {
			if !re.MatchString(s) {
				t.Errorf("%s does not match %s", tt.text, s)
			}
		}
		for _, s := range tt.bad {
			if re.MatchString(s) {
				t.Errorf("%s matches %s", tt.text, s)
			}
		}
	}
}

// TestParsePublisher checks that a publisher that could never match, or that matches more than it seems to, is an
// error.
func TestParsePublisher(t *testing.T) {
	for text, want := range map[string]string{
		"":                                         "not a publisher",
		"acme/skills":                              "not a publisher",
		"https://github.com/acme/skills":           "not a publisher",
		"github:acme":                              "not a GitHub repository",
		"github:acme/skills/release.yml":           "not a GitHub repository",
		"github:*/skills":                          "not a GitHub repository",
		"github:acme/skills/.github/workflows/":    "does not name a workflow",
		"github:acme/skills/.github/workflows/*":   "not a workflow file",
		"github:acme/skills/.github/workflows/a/b": "not a workflow file",
		"github:acme/skills@":                      "does not have a ref",
		"github:acme/skills@v1":                    "not a ref",
		"github:acme/skills@refs/pull/1/merge":     "not a ref",
		"github:acme/skills@refs/tags/a b":         "not a ref",
		"github:///acme/skills":                    "does not have a host",
		"github://Git.example/acme/skills":         "not a host",
		"gitlab:acme":                              "not a GitLab project",
		"gitlab:acme/skills//.gitlab-ci.yml":       "not a GitLab project",
	} {
		if _, err := pack.ParsePublisher(text); diag.CodeOf(err) != diag.Invalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
