package enterprise

import (
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
)

const (
	goodManifest = "dependencies: {}\n"
	goodLock     = "version: 1\n"
	goodPolicy   = "version: 1\nskills: {deny: [deploy]}\n"
)

// TestReadList checks that a list is read strictly: it is completely valid or rejected (O15).
func TestReadList(t *testing.T) {
	signed := "version: 1\nrequire:\n  - match: \"oci://registry.example/**\"\n    signatures: {any_of: [{key: {file: KEY, sha256: \"" + strings.Repeat("0", 64) + "\"}}]}\n"
	local := `version: 1
packs:
  acme/deploy:
    version: "1.0.0"
    source: "local"
    resolved: "sha256:0000000000000000000000000000000000000000000000000000000000000000"
    integrity: "t1:sha256:993b9911076d7387aa69d7d2591788bbf6a53f18629e944acb11e72e63d388ae"
    skills:
      deploy: "t1:sha256:0000000000000000000000000000000000000000000000000000000000000000"
`
	tests := []struct {
		name  string
		files map[string]string
		want  string // in the error, "" for none
		code  diag.Code
	}{
		{"packs", map[string]string{"skillpm.yaml": goodManifest, "skillpm.lock": goodLock}, "", diag.OK},
		{"policy", map[string]string{"skillpm.yaml": goodManifest, "skillpm.lock": goodLock, "policy.yaml": goodPolicy}, "", diag.OK},
		{"no manifest", map[string]string{"skillpm.lock": goodLock}, "the fleet list does not contain skillpm.yaml", diag.Invalid},
		{"no lock", map[string]string{"skillpm.yaml": goodManifest}, "the fleet list does not contain skillpm.lock", diag.Invalid},
		{"manifest", map[string]string{"skillpm.yaml": "dependencis: {}\n", "skillpm.lock": goodLock}, "skillpm.yaml", diag.Invalid},
		{"lock", map[string]string{"skillpm.yaml": goodManifest, "skillpm.lock": "version: 99\n"}, "skillpm.lock", diag.Invalid},
		{"local pack", map[string]string{"skillpm.yaml": goodManifest, "skillpm.lock": local}, "does not exist on other machines", diag.Invalid},
		{"bad policy", map[string]string{"skillpm.yaml": goodManifest, "skillpm.lock": goodLock, "policy.yaml": "version: 2\n"}, "policy.yaml", diag.Invalid},
		{"empty policy", map[string]string{"skillpm.yaml": goodManifest, "skillpm.lock": goodLock, "policy.yaml": ""}, "policy.yaml", diag.Invalid},
		{"key beside it", map[string]string{
			"skillpm.yaml": goodManifest, "skillpm.lock": goodLock, "policy.yaml": strings.Replace(signed, "KEY", "config.yaml", 1), "config.yaml": "sync: {}\n",
		}, "refers to the key config.yaml, which is not in keys/", diag.Invalid},
		{"key above it", map[string]string{
			"skillpm.yaml": goodManifest, "skillpm.lock": goodLock, "policy.yaml": strings.Replace(signed, "KEY", "keys/../../x.pub", 1), "../x.pub": "x",
		}, "is not the path of a file", diag.Invalid},
	}
	for _, test := range tests {
		_, err := readList(func(name string) ([]byte, error) {
			if text, ok := test.files[name]; ok {
				return []byte(text), nil
			}
			return nil, nil
		})
		if diag.CodeOf(err) != test.code || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

// TestForward checks that versions never go back, and that a release does not change (O15).
func TestForward(t *testing.T) {
	have := &record{Source: "oci://registry.example/acme/fleet", Release: "1.2.0", Resolved: "sha256:a"}
	tests := []struct {
		have              *record
		version, resolved string
		downgrade         bool
		want              diag.Code
	}{
		{nil, "0.1.0", "sha256:b", false, diag.OK},
		{have, "1.2.0", "sha256:a", false, diag.OK},
		{have, "1.10.0", "sha256:b", false, diag.OK},
		{have, "1.2.0", "sha256:b", false, diag.Integrity},
		{have, "1.2.0", "sha256:b", true, diag.OK},
		{have, "1.1.9", "sha256:b", false, diag.Denied},
		{have, "1.2.0-rc.1", "sha256:b", false, diag.Denied},
		{have, "1.1.9", "sha256:b", true, diag.OK},
		{&record{Source: "oci://registry.example/acme/other", Release: "9.0.0"}, "1.0.0", "sha256:b", false, diag.OK},
		{&record{Source: have.Source, Release: "new"}, "1.0.0", "sha256:b", false, diag.Invalid},
	}
	for _, test := range tests {
		err := checkNotOlder(test.have, "oci://registry.example/acme/fleet", test.version, test.resolved, SyncOptions{AllowDowngrade: test.downgrade})
		if got := diag.CodeOf(err); got != test.want {
			t.Errorf("%+v to %s %s: %v", test.have, test.version, test.resolved, err)
		}
	}
}

// TestBest checks which release is chosen.
func TestBest(t *testing.T) {
	all := []string{"2.0.0-rc.1", "1.10.0", "1.9.0", "0.3.0"}
	for constraint, want := range map[string]string{"": "1.10.0", "^1": "1.10.0", "~1.9": "1.9.0", "^0": "0.3.0", ">=2.0.0-0": "2.0.0-rc.1", "^3": ""} {
		got, err := highestRelease(all, pack.SyncSettings{Source: pack.Ref{Kind: pack.KindOCI, URL: "oci://registry.example/acme/fleet"}, Version: constraint})
		if got != want || (err != nil) != (want == "") || err != nil && diag.CodeOf(err) != diag.NotFound {
			t.Errorf("%q: %s %v, want %s", constraint, got, err, want)
		}
	}
}
