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
	}.form(&picked, 0)
	form.Init()
	view := form.View()
	for _, want := range []string{
		"Which packs?", "Select the packs to install.",
		"acme/deploy  Deploys to Kubernetes.", "a/b          Another.",
		"Space selects",
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

// TestPickListWidth proves that entries do not wrap: each has one line, which begins with its value.
func TestPickListWidth(t *testing.T) {
	for _, columns := range []int{40, 80, 120} {
		var picked []string
		list := PickList{Title: "Which packs?"}
		for range 3 {
			list.Choices = append(list.Choices, Choice{strings.Repeat("v", 20), strings.Repeat("long words ", 20)})
		}
		form := list.form(&picked, columns).WithWidth(columns)
		form.Init()
		entries := 0
		for line := range strings.Lines(form.View()) {
			if !strings.Contains(line, "long") && !strings.Contains(line, "words") {
				continue
			}
			if entries++; !strings.Contains(line, "vvv") {
				t.Errorf("%d columns: an entry wraps:\n%s", columns, form.View())
			}
		}
		if entries != 3 {
			t.Errorf("%d columns: %d lines with entries:\n%s", columns, entries, form.View())
		}
	}
}
