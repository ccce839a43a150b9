package skillpm_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// TestImportTooMuch imports a file with more dependencies than the limit.
func TestImportTooMuch(t *testing.T) {
	w := newFixture(t)
	var skills []string
	for i := range 501 {
		skills = append(skills, fmt.Sprintf(`"s%d": {"source": "./s%d", "sourceType": "local"}`, i, i))
	}
	w.write("skills-lock.json", `{"version": 1, "skills": {`+strings.Join(skills, ",\n")+`}}`)
	_, err := w.client().Import(t.Context(), skillpm.ImportOptions{File: "skills-lock.json", KeepGoing: true})
	if diag.CodeOf(err) != diag.Invalid || !strings.Contains(err.Error(), "501 dependencies") {
		t.Errorf("%v, want that these are too many", err)
	}
}
