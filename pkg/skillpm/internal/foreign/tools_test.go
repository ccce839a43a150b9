package foreign_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/foreign"
)

const (
	someCommit = "0123456789abcdef0123456789abcdef01234567"
	someDigest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
)

// TestOtherTools reads the files of dotagents and of ToolHive.
func TestOtherTools(t *testing.T) {
	for _, test := range []struct {
		name, text    string
		want, skipped []string
	}{
		{"agents.toml", `
version = 1
agents = ["claude"]

[[skills]]
name = "find-bugs"
source = "acme/skills"

[[skills]]
name = "review"
source = "acme/tools@v1.2.0"

[[skills]]
name = "internal"
source = "git:https://git.example/team/skills.git"
ref = "v2.0.0"

[[skills]]
name = "*"
source = "globex/all"
exclude = ["old"]

[[skills]]
name = "mine"
source = "path:./skills/mine"

[[skills]]
name = "site"
source = "https://skills.example"
`, []string{
			"acme/skills git+https://github.com/acme/skills.git [find-bugs]",
			"acme/tools git+https://github.com/acme/tools.git#v1.2.0 [review]",
			"team/skills git+https://git.example/team/skills.git#v2.0.0 [internal]",
			"globex/all git+https://github.com/globex/all.git",
			"local/mine ./skills/mine",
		}, []string{"site: the skill comes from https://skills.example, which is not a repository or a registry"}},
		{"agents.lock", `
version = 1

[skills.find-bugs]
source = "acme/skills"
resolved_url = "https://github.com/acme/skills.git"
resolved_path = "skills/find-bugs"
resolved_ref = "v1.0.0"
resolved_commit = "` + someCommit + `"

[skills.mine]
source = "path:./skills/mine"
`, []string{
			"acme/skills git+https://github.com/acme/skills.git#v1.0.0 [find-bugs] at " + someCommit,
			"local/mine ./skills/mine",
		}, nil},
		{"toolhive.lock.yaml", `
version: 1
skills:
  - name: deploy
    version: 1.0.0
    source: deploy
    resolvedReference: ghcr.io/acme/deploy:1.0.0
    digest: ` + someDigest + `
    explicit: true
  - name: lint
    source: git://github.com/acme/tools@v1.2.0#skills/lint
    digest: ` + someCommit + `
  - name: lost
    source: lost
    digest: ` + someDigest + `
`, []string{
			"acme/deploy oci://ghcr.io/acme/deploy@" + someDigest + " [deploy]",
			"acme/tools git+https://github.com/acme/tools.git#v1.2.0 [lint] at " + someCommit,
		}, []string{"lost: the lockfile does not record where lost is"}},
	} {
		parsed, err := foreign.Parse(test.name, []byte(test.text))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		var got, skipped []string
		for _, item := range parsed.Dependencies {
			d := item.Dependency
			text := strings.Join(strings.Fields(d.ID.String()+" "+pack.FormatRequirement(d)), " ")
			if d.Ref.Kind == pack.KindGit && d.Ref.Digest != "" {
				text += " at " + d.Ref.Digest
			}
			got = append(got, text)
		}
		for _, s := range parsed.Skipped {
			skipped = append(skipped, fmt.Sprintf("%s: %s", s.What, s.Why))
		}
		if !slices.Equal(got, test.want) || !slices.Equal(skipped, test.skipped) {
			t.Errorf("%s:\ngot  %q\nwant %q\nskipped %q\nwant    %q", test.name, got, test.want, skipped, test.skipped)
		}
	}
	for name, text := range map[string]string{
		"agents.toml":        "version = 2\n",
		"agents.lock":        "version = 1\nskills = 3\n",
		"toolhive.lock.yaml": "version: 9\nskills: []\n",
	} {
		if _, err := foreign.Parse(name, []byte(text)); err == nil || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
