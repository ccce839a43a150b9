package console

import (
	"errors"
	"fmt"
	"strings"

	"charm.land/huh/v2"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Choice is an entry of a pick list.
type Choice struct{ Value, Text string }

// PickList is a question with a list of answers.
type PickList struct {
	Title   string
	Note    string // what happens with the chosen entries
	Choices []Choice
}

const (
	maxPicked = 15 // the height of a pick list, in lines
	maxValue  = 32 // the columns that values are aligned to

	pickMargin = 9 // the columns of the border, the cursor, and the mark before an entry, and of the space after it
)

// pickKeys are the instructions. The form's own line of help would repeat them with other words.
const pickKeys = "Space selects, / filters, Enter continues, and Ctrl-C cancels."

// Pick lets the user choose from a list on a terminal. Leaving the list is an error.
func (a *App) Pick(list PickList) ([]string, error) {
	var picked []string
	form := list.form(&picked, TerminalWidth(a.Stderr)).WithTheme(a.Palette(a.Stderr).pickTheme()).
		WithInput(a.Stdin).WithOutput(a.Stderr)
	if err := form.Run(); errors.Is(err, huh.ErrUserAborted) {
		return nil, diag.Errorf(diag.Interrupted, "no entry selected")
	} else if err != nil {
		return nil, err
	}
	if len(picked) == 0 {
		return nil, diag.Errorf(diag.Usage, "no entry selected").WithHint("select entries with the space bar")
	}
	return picked, nil
}

// pickTheme returns styles without fixed colors, which are readable on light and dark terminals.
func (p Palette) pickTheme() huh.ThemeFunc {
	return func(isDark bool) *huh.Styles {
		t := huh.ThemeBase(isDark)
		if p {
			t.Focused.Title = t.Focused.Title.Bold(true)
			t.Focused.Description = t.Focused.Description.Faint(true)
			t.Focused.MultiSelectSelector = t.Focused.MultiSelectSelector.Bold(true)
			t.Focused.SelectedPrefix = t.Focused.SelectedPrefix.Bold(true)
			t.Focused.SelectedOption = t.Focused.SelectedOption.Bold(true)
		}
		return t
	}
}

// form returns the list as a form that sets the chosen values, for a terminal with so many columns; 0 means unlimited.
func (l PickList) form(picked *[]string, columns int) *huh.Form {
	if columns > 0 {
		columns = max(1, columns-pickMargin)
	}
	width := 0
	for _, c := range l.Choices {
		width = max(width, min(maxValue, Cells([]rune(Flat(c.Value)))))
	}
	var options []huh.Option[string]
	for _, c := range l.Choices {
		text := strings.TrimRight(fmt.Sprintf("%-*s  %s", width, Flat(c.Value), Brief(c.Text)), " ")
		options = append(options, huh.NewOption(Fitted(text, columns), c.Value))
	}
	note := pickKeys
	if l.Note != "" {
		note = l.Note + "\n" + note
	}
	choose := huh.NewMultiSelect[string]().Title(l.Title).Description(note).
		Options(options...).Filterable(true).Height(min(len(options)+4, maxPicked)).Value(picked)
	return huh.NewForm(huh.NewGroup(choose)).WithShowHelp(false)
}
