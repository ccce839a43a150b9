package foreign_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/skillpm/internal/foreign"
)

// TestNoSecrets puts passwords into every source of a file, and checks that none is shown.
func TestNoSecrets(t *testing.T) {
	places := []string{
		"https://bob:SECRET@host.example/path", "git+https://bob:SEC/SECRET@host.example/x.git", "bob:SECRET@host.example/path",
		"https://SECRET@host.example/path", "bob:SEC@SECRET@host.example", "./bob:SECRET@host.example", "../https://bob:SECRET@host.example",
	}
	for _, place := range places {
		for name, text := range map[string]string{
			"node_modules/skills-lock.json": `{"version": 1, "skills": {"x": {"source": %q, "sourceType": "node_modules"}}}`,
			"well/skills-lock.json":         `{"version": 1, "skills": {"x": {"source": %q, "sourceType": "well-known"}}}`,
			"local/skills-lock.json":        `{"version": 1, "skills": {"x": {"source": %q, "sourceType": "local"}}}`,
			"git/skills-lock.json":          `{"version": 1, "skills": {"x": {"source": %q, "sourceType": "git"}}}`,
			"unknown/skills-lock.json":      `{"version": 1, "skills": {"x": {"source": "x", "sourceType": %q}}}`,
			"name/skills-lock.json":         `{"version": 1, "skills": {%q: {"source": "acme/tools", "sourceType": "git"}}}`,
			"npm/marketplace.json":          `{"name": "m", "plugins": [{"name": "x", "source": {"source": "npm", "package": %q}}]}`,
			"dir/marketplace.json":          `{"name": "m", "plugins": [{"name": "x", "source": %q}]}`,
			"url/marketplace.json":          `{"name": "m", "plugins": [{"name": "x", "source": {"source": "url", "url": %q}}]}`,
			"ref/marketplace.json":          `{"name": "m", "plugins": [{"name": "x", "source": {"source": "github", "repo": "a/b", "sha": %q}}]}`,
			"market/apm.yml":                `{"dependencies": {"apm": [{"name": "x", "marketplace": %q}]}}`,
			"text/apm.yml":                  `{"dependencies": {"apm": [%q]}}`,
			"alias/apm.yml":                 `{"dependencies": {"apm": [{"git": "https://git.example/a/b.git", "alias": %q}]}}`,
		} {
			imp, err := foreign.Parse(name, fmt.Appendf(nil, text, place))
			got := fmt.Sprint(err)
			if err == nil {
				got = show(imp)
			}
			if strings.Contains(got, "SECRET") {
				t.Errorf("%s with %s: %s", name, place, got)
			}
		}
	}
}
