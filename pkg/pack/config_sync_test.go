package pack_test

import (
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/pack"
)

// TestSyncSettings checks the administrator's settings for the source of the enterprise layer (O15).
func TestSyncSettings(t *testing.T) {
	tests := []struct{ text, want string }{ // what the error says, "" for none
		{`sync: {source: "git+https://git.example/acme/fleet.git//lists", version: "^1", keys: [keys/a.signers], threshold: 1}`, ""},
		{`sync: {source: "oci://registry.example/acme/fleet", keys: [a.pub, b.pub], threshold: 2}`, ""},
		{`sync: {source: "git+file:///srv/fleet.git"}`, ""},
		{`sync: {source: "git+file:///srv/fleet.git", name: acme/fleet}`, ""},
		{`sync: {source: "git+file:///srv/fleet.git", name: fleet}`, "name"},
		{`sync: {source: "oci://registry.example/acme/fleet", name: acme/fleet}`, "only with a git source"},
		{`sync:`, ""},
		{`sync: oci://registry.example/acme/fleet`, "must be a mapping"},
		{`sync: {keys: [a.pub]}`, "does not have a source"},
		{`sync: {source: acme/fleet}`, "cannot have signed releases"},
		{`sync: {source: ./fleet}`, "cannot have signed releases"},
		{`sync: {source: "oci-layout:fleet"}`, "relative path"},
		{`sync: {source: "oci://registry.example/acme/fleet:1.0.0"}`, "must not contain a revision"},
		{`sync: {source: "git+https://git.example/acme/fleet.git#main"}`, "must not contain a revision"},
		{`sync: {source: "git+https://me:secret@git.example/acme/fleet.git"}`, "source"},
		{`sync: {source: "oci://registry.example/acme/fleet", version: "newest"}`, "invalid version range"},
		{`sync: {source: "oci://registry.example/acme/fleet", threshold: 0}`, "threshold"},
		{`sync: {source: "oci://registry.example/acme/fleet", key: [a.pub]}`, "key"},
	}
	for _, test := range tests {
		c, err := pack.ParseConfig("config.yaml", []byte(test.text+"\n"))
		switch {
		case test.want == "" && err != nil, test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: %v, want %q", test.text, err, test.want)
		case err == nil && strings.Contains(test.text, "{") && c.Sync.Threshold < 1:
			t.Errorf("%s: %+v", test.text, c.Sync)
		case err != nil && strings.Contains(err.Error(), "secret"):
			t.Errorf("%s: it repeats the password: %v", test.text, err)
		}
	}
}
