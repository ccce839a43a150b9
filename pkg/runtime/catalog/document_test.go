package catalog_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/runtime/catalog"
)

// TestRulesDocument: docs/catalog.md lists the rules as they are.
func TestRulesDocument(t *testing.T) {
	page, err := os.ReadFile("../../../docs/catalog.md")
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	want.WriteString("| rule | severity | what |\n|---|---|---|\n")
	for _, r := range catalog.Rules() {
		fmt.Fprintf(&want, "| %s | %s | %s |\n", r.ID, r.Severity, r.What)
	}
	if !strings.Contains(string(page), want.String()) {
		t.Errorf("docs/catalog.md should have\n%s", want.String())
	}
}
