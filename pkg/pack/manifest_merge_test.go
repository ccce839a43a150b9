package pack_test

import (
	"slices"
	"testing"

	"github.com/skillpm/skillpm/pkg/pack"
)

// TestMergeManifests checks that what one side changed stays, and that what both changed differently is a conflict.
func TestMergeManifests(t *testing.T) {
	const base = "# mine\ndependencies:\n  acme/deploy: ^1.0\n  acme/lint: ^2.0 # strict\nagents: [claude-code]\n"
	for _, tt := range []struct {
		name, base, ours, theirs, want string
		conflicts                      []string
		preferred                      string // the result if theirs is preferred; "" for want
	}{
		{name: "only theirs", base: base, ours: base, theirs: "# theirs\ndependencies: {acme/new: \"*\"}\n", want: "# theirs\ndependencies: {acme/new: \"*\"}\n"},
		{name: "only ours", base: base, ours: "dependencies: {}\n", theirs: base, want: "dependencies: {}\n"},
		{
			name: "both add", base: base, ours: base + "link-mode: copy\n",
			theirs: "# mine\ndependencies:\n  acme/deploy: ^1.0\n  acme/lint: ^2.0 # strict\n  acme/new: {oci: \"oci://r.example/acme/new\", version: \"1.10\"}\nagents: [claude-code, codex]\n",
			want:   "# mine\ndependencies:\n  acme/deploy: ^1.0\n  acme/lint: ^2.0 # strict\n  acme/new: {oci: \"oci://r.example/acme/new\", version: \"1.10\"}\nagents: [claude-code, codex]\nlink-mode: copy\n",
		},
		{
			name: "several lines", base: "dependencies:\n  acme/a:\n    version: ^1\n    skills: [x]\n  acme/b: ^1\nagents:\n  - codex\n",
			ours:   "dependencies:\n  acme/a:\n    version: ^1\n    skills: [x]\n  acme/b: ^2\nagents:\n  - codex\n  - gemini\n",
			theirs: "dependencies:\n  acme/a:\n    version: ^3\n  acme/b: ^1\nagents:\n  - claude-code\n",
			want:   "dependencies:\n  acme/b: ^2\n  acme/a: {version: \"^3\"}\nagents: [gemini, claude-code]\n",
		},
		{
			name: "one removes, one adds", base: base, ours: "# mine\ndependencies:\n  acme/deploy: ^1.0\n  acme/lint: ^2.0 # strict\n  acme/other: \"*\"\nagents: [claude-code]\n",
			theirs: "dependencies:\n  acme/lint: ^2.0\nagents: [claude-code]\n",
			want:   "# mine\ndependencies:\n  acme/lint: ^2.0 # strict\n  acme/other: \"*\"\nagents: [claude-code]\n",
		},
		{
			name: "no base", ours: "dependencies: {acme/a: \"*\"}\n", theirs: "dependencies: {acme/b: \"*\"}\nnamespaces: {acme: internal}\nregistries: [{name: internal, url: \"https://r.example\"}]\n",
			want: "dependencies: {acme/a: \"*\", acme/b: \"*\"}\nnamespaces:\n  acme: \"internal\"\nregistries: [{name: \"internal\", url: \"https://r.example\"}]\n",
		},
		{
			name: "both change one entry", base: base, ours: "dependencies:\n  acme/deploy: ^1.1\n  acme/lint: ^2.0\nagents: [claude-code]\n",
			theirs:    "dependencies:\n  acme/deploy: ^2.0\n  acme/lint: ^2.0\nagents: [claude-code]\n",
			want:      "dependencies:\n  acme/deploy: ^1.1\n  acme/lint: ^2.0\nagents: [claude-code]\n",
			preferred: "dependencies:\n  acme/deploy: \"^2.0\"\n  acme/lint: ^2.0\nagents: [claude-code]\n",
			conflicts: []string{"dependencies acme/deploy"},
		},
		{
			name: "both change the item with a name", base: "registries: [{name: a, url: \"https://a.example\"}]\n",
			ours:      "registries: [{name: a, url: \"https://b.example\"}, \"https://d.example\"]\n",
			theirs:    "registries: [{name: a, url: \"https://c.example\"}]\n",
			want:      "registries: [{name: a, url: \"https://b.example\"}, \"https://d.example\"]\n",
			preferred: "registries: [{name: \"a\", url: \"https://c.example\"}]\n",
			conflicts: []string{"registries"},
		},
		{
			name: "one changes, one removes", base: base, ours: "dependencies:\n  acme/deploy: ^1.1\n  acme/lint: ^2.0\nagents: [claude-code]\n",
			theirs:    "dependencies:\n  acme/lint: ^2.0\nagents: [claude-code]\n",
			want:      "dependencies:\n  acme/deploy: ^1.1\n  acme/lint: ^2.0\nagents: [claude-code]\n",
			preferred: "dependencies:\n  acme/lint: ^2.0\nagents: [claude-code]\n",
			conflicts: []string{"dependencies acme/deploy"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			read := func(text string) *pack.Manifest {
				m, err := pack.ParseManifest("skillpm.yaml", []byte(text))
				if err != nil {
					t.Fatal(err)
				}
				return m
			}
			for _, preferTheirs := range []bool{false, true} {
				want := tt.want
				if preferTheirs && tt.preferred != "" {
					want = tt.preferred
				}
				m, conflicts, err := pack.MergeManifests(read(tt.base), read(tt.ours), read(tt.theirs), preferTheirs)
				if err != nil {
					t.Fatal(err)
				}
				if string(m.Bytes()) != want || !slices.Equal(conflicts, tt.conflicts) {
					t.Errorf("%q, conflicts %q; want %q, conflicts %q", m.Bytes(), conflicts, want, tt.conflicts)
				}
			}
		})
	}
}
