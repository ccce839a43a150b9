package e2e

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tailscale/hujson"

	"github.com/skillpm/skillpm/pkg/pack"
)

// renovatePreset is the part of docs/examples/renovate.json5 that the tests use.
type renovatePreset struct {
	CustomManagers []struct {
		MatchStrings                           []string
		DatasourceTemplate, VersioningTemplate string
	}
	CustomDatasources map[string]json.RawMessage
}

const renovatePresetFile = "../../../../docs/examples/renovate.json5"

// renovateManifest has requirements in all forms that a manifest allows.
const renovateManifest = `name: acme/app
version: "1.0.0"
dependencies:
  acme/deploy: "~1.3.0"     # with a comment
  acme/plain: ^2.1.0
  'acme/single': '~1.2.0'
  "acme/double": 1.2.3
  acme/spaces: ">=1.2.0 <2.0.0"
  acme/part: {version: "^1.4.0", skills: [one, two]}
  acme/part2: {skills: [one, two], version: ^1.5.0}
  acme/any: "*"
  globex/ops: {oci: "oci://registry.example/globex/ops", version: "~1.3.0", skills: [rollout]} # yes
  globex/turned: {version: "^1.0.0", oci: "oci://registry.example/globex/turned"}
  globex/tagged: {oci: "oci://registry.example:5000/globex/tagged", tag: "1.2.0"}
  globex/block:
    oci: "oci://registry.example:5000/globex/block"
    skills: [rollout]
    version: "^3.0.0"
  acme/tools: {git: "https://git.example/tools.git", tag: v1.2.0, path: packs/tools}
  acme/tools2:
    git: https://git.example/tools2.git
    path: packs/tools
    tag: v1.3.0
  acme/local: {path: ./packs/local, version: "^1.2.0"}
  acme/branch: {git: "https://git.example/branch.git", branch: main}
dev-dependencies: {acme/lint: "^0.3.0", acme/fmt: "1.2.3"}
aliases: {k8s-deploy: deploy@globex/ops}
namespaces: {acme: "oci://registry.example/acme"}
`

// renovateDependencies are what Renovate must find in it: the datasource, the pack, where it comes from, and the range.
var renovateDependencies = []string{
	"custom.skillpm acme/deploy acme/deploy ~1.3.0",
	"custom.skillpm acme/double acme/double 1.2.3",
	"custom.skillpm acme/fmt acme/fmt 1.2.3",
	"custom.skillpm acme/lint acme/lint ^0.3.0",
	"custom.skillpm acme/part acme/part ^1.4.0",
	"custom.skillpm acme/part2 acme/part2 ^1.5.0",
	"custom.skillpm acme/plain acme/plain ^2.1.0",
	"custom.skillpm acme/single acme/single ~1.2.0",
	"custom.skillpm acme/spaces acme/spaces >=1.2.0 <2.0.0",
	"docker globex/block registry.example:5000/globex/block ^3.0.0",
	"docker globex/ops registry.example/globex/ops ~1.3.0",
	"docker globex/tagged registry.example:5000/globex/tagged 1.2.0",
	"docker globex/turned registry.example/globex/turned ^1.0.0",
	"git-tags acme/tools https://git.example/tools.git v1.2.0",
	"git-tags acme/tools2 https://git.example/tools2.git v1.3.0",
}

func readRenovatePreset(t *testing.T) (preset renovatePreset, text []byte) {
	t.Helper()
	text, err := hujson.Standardize(readFile(t, renovatePresetFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &preset); err != nil {
		t.Fatal(err)
	}
	return preset, text
}

// TestRenovatePreset checks that the expressions of the preset are RE2, as Renovate requires, and that they find every
// requirement of a manifest, whatever its line endings.
func TestRenovatePreset(t *testing.T) {
	if _, err := pack.ParseManifest(pack.ManifestName, []byte(renovateManifest)); err != nil {
		t.Fatal(err)
	}
	preset, _ := readRenovatePreset(t)
	for _, newline := range []string{"\n", "\r\n"} {
		text := strings.ReplaceAll(renovateManifest, "\n", newline)
		var found []string
		for _, manager := range preset.CustomManagers {
			for _, expression := range manager.MatchStrings {
				re, err := regexp.Compile(expression)
				if err != nil {
					t.Fatal(err)
				}
				for _, match := range re.FindAllStringSubmatch(text, -1) {
					group := func(name string) string {
						if i := re.SubexpIndex(name); i >= 0 {
							return match[i]
						}
						return match[re.SubexpIndex("depName")]
					}
					found = append(found, fmt.Sprintf("%s %s %s %s", manager.DatasourceTemplate, group("depName"),
						group("packageName"), group("currentValue")))
				}
			}
		}
		slices.Sort(found)
		if !slices.Equal(found, renovateDependencies) {
			t.Errorf("with %q, found\n%s\nwant\n%s", newline, strings.Join(found, "\n"), strings.Join(renovateDependencies, "\n"))
		}
	}
}
