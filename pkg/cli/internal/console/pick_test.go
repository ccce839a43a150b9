package console

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// TestPickList checks that the list shows descriptions, the effect of a choice, and one set of instructions.
func TestPickList(t *testing.T) {
	var picked []string
	list := PickList{
		Title: "Which packs?", Note: "Select the packs to install.",
		Choices: []Choice{{"acme/deploy", "Deploys to Kubernetes."}, {"a/b", "Another."}},
	}
	form := list.form(list.several(&picked), false, 0)
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
		form := list.form(list.several(&picked), false, columns).WithWidth(columns)
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

// TestPickListKeys proves that a long list shows the position in it, that the filter finds text that is cut off, and
// that Esc ends a filter before it leaves the list.
func TestPickListKeys(t *testing.T) {
	list := PickList{Title: "Which packs?"}
	for i := range 40 {
		list.Choices = append(list.Choices, Choice{fmt.Sprintf("acme/p%d", i), strings.Repeat("long ", 30) + fmt.Sprintf("end%d.", i)})
	}
	var picked []string
	field := list.several(&picked)
	form := list.form(field, false, 60)
	form.Init()
	form.Update(tea.WindowSizeMsg{Width: 60, Height: 24})
	press := func(keys ...tea.KeyPressMsg) string {
		for _, k := range keys {
			form.Update(k)
		}
		return form.View()
	}
	if view := press(tea.KeyPressMsg{Code: tea.KeyDown}, tea.KeyPressMsg{Code: tea.KeyDown}); !strings.Contains(view, "3 of 40") {
		t.Errorf("no position in\n%s", view)
	}
	keys := []tea.KeyPressMsg{{Code: '/', Text: "/"}}
	for _, r := range "end25." {
		keys = append(keys, tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	if view := press(keys...); !strings.Contains(view, "acme/p25") || strings.Contains(view, "acme/p2 ") || strings.Contains(view, "of 40") {
		t.Errorf("filtered:\n%s", view)
	}
	esc := tea.KeyPressMsg{Code: tea.KeyEscape}
	press(esc, esc, tea.KeyPressMsg{Code: 'G', Text: "G"})
	if view := press(keys[:4]...); !strings.Contains(view, "acme/p0 ") { // "/end" matches all entries
		t.Errorf("the first match is not visible after the end of the list:\n%s", view)
	}
	if press(esc, esc); field.left { // the end of the input, and of the filter
		t.Error("Esc leaves a list with a filter")
	}
	if view := press(); !strings.Contains(view, "acme/p2 ") {
		t.Errorf("still filtered:\n%s", view)
	}
	if press(esc); !field.left || len(picked) > 0 {
		t.Errorf("left: %v, picked %q", field.left, picked)
	}
}
