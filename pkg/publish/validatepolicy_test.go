package publish_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/publish"
)

// TestPolicyRules checks that every policy rule reports its bad example and not its good one. The policies are those of
// the examples' projects (O22).
func TestPolicyRules(t *testing.T) {
	for _, r := range rule.All() {
		if r.Family() != "POL" {
			continue
		}
		t.Run(r.ID, func(t *testing.T) {
			for _, example := range []struct {
				files string
				want  bool
			}{{r.Bad, true}, {r.Good, false}} {
				dir := t.TempDir()
				for _, f := range append(rule.Files(example.files), rule.File{Path: "skillpm.yaml"}) {
					at := filepath.Join(dir, filepath.FromSlash(f.Path))
					if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
						t.Fatal(err)
					}
					mode := os.FileMode(0o644)
					if f.Executable {
						mode = 0o755
					}
					if err := os.WriteFile(at, []byte(f.Text), mode); err != nil {
						t.Fatal(err)
					}
				}
				report, err := newClient(t, dir).Validate(t.Context(), publish.ValidateOptions{Policy: true})
				if err != nil {
					t.Fatal(err)
				}
				found := false
				for _, f := range report.Findings {
					if f.Rule == r.ID {
						found = true
						if f.Severity != r.Severity || f.Fix == "" || !strings.Contains(f.Message, "skillpm-policy.yaml:2") {
							t.Errorf("%+v", f)
						}
					} else if f.Severity == diag.SeverityError {
						t.Errorf("besides: %+v", f)
					}
				}
				if found != example.want {
					t.Errorf("found %v, want %v: %+v", found, example.want, report.Findings)
				}
				without, err := newClient(t, dir).Validate(t.Context(), publish.ValidateOptions{})
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range without.Findings {
					if strings.HasPrefix(f.Rule, "POL") {
						t.Errorf("without --policy: %+v", f)
					}
				}
			}
		})
	}
}
