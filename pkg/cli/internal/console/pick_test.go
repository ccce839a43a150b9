package console

import (
	"strings"
	"testing"
)

// TestPickList checks that the list shows descriptions, the effect of a choice, and one set of instructions.
func TestPickList(t *testing.T) {
	var picked []string
	form := PickList{
		Title: "Which packs?", Note: "Select the packs to install.",
		Choices: []Choice{{"acme/deploy", "Deploys to Kubernetes."}, {"a/b", "Another."}},
	}.form(&picked)
	form.Init()
	view := form.View()
	for _, want := range []string{
		"Which packs?", "Select the packs to install.",
		"acme/deploy  Deploys to Kubernetes.", "a/b          Another.",
		"space selects",
	} {
		if !strings.Contains(view, want) {
			t.Errorf("no %q in\n%s", want, view)
		}
	}
	for _, repeated := range []string{"toggle", "submit"} {
		if strings.Contains(view, repeated) {
			t.Errorf("a second set of instructions, %q, in\n%s", repeated, view)
		}
	}
}
