package catalog_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/runtime/catalog"
)

// TestRulesDocument checks that docs/troubleshooting.md lists all rules correctly.
func TestRulesDocument(t *testing.T) {
	page, err := os.ReadFile("../../../docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	want.WriteString("| rule | severity | what |\n|---|---|---|\n")
	for _, r := range catalog.Rules() {
		fmt.Fprintf(&want, "| %s | %s | %s |\n", r.ID, r.Severity, r.What)
	}
	if !strings.Contains(string(page), want.String()) {
		t.Errorf("docs/troubleshooting.md should have\n%s", want.String())
	}
}
