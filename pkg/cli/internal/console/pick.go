package console

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
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
	pickHead  = 4  // the lines of its title and its note, and an empty one
	maxValue  = 32 // the columns that values are aligned to

	pickMargin = 9 // the columns of the border, the cursor, and the mark before an entry, and of the space after it
)

// The instructions. The form's own line of help would repeat them with other words.
const (
	pickKeys   = "Space selects, / filters, Enter continues, and Esc cancels."
	chooseKeys = "Enter selects, / filters, and Esc cancels."
)

// Pick lets the user choose from a list on a terminal. Leaving the list is an error.
func (a *App) Pick(list PickList) ([]string, error) {
	var picked []string
	field := list.several(&picked)
	if err := a.ask(list, field); err != nil {
		return nil, err
	}
	if value, ok := field.hovered(); ok && len(picked) == 0 { // Enter alone selects the highlighted entry
		picked = []string{value}
	}
	if len(picked) == 0 {
		return nil, diag.Errorf(diag.Usage, "nothing selected").
			WithHint("select at least one line with the space bar, and press Enter")
	}
	return picked, nil
}

// PickOne lets the user choose one entry of a list on a terminal. Leaving the list is an error.
func (a *App) PickOne(list PickList) (string, error) {
	picked := ""
	err := a.ask(list, list.one(&picked))
	return picked, err
}

// ask shows a list until the user continues or leaves it.
func (a *App) ask(list PickList, field *pickField) error {
	form := list.form(field, a.Palette(a.Stderr), TerminalWidth(a.Stderr)).WithInput(a.Stdin).WithOutput(a.Stderr)
	switch err := form.Run(); {
	case errors.Is(err, huh.ErrUserAborted):
		return diag.Errorf(diag.Interrupted, "interrupted; no changes were made")
	case err != nil:
		return err
	case field.left:
		return diag.Errorf(diag.Interrupted, "nothing selected; no changes were made")
	}
	return nil
}

// pickTheme returns styles without fixed colors, which are readable on light and dark terminals. Entries are cut at so
// many columns when they are drawn, because the filter looks only at what an entry has; 0 means unlimited.
func (p Palette) pickTheme(columns int) huh.ThemeFunc {
	fit := func(entry string) string { return Fitted(OneLine(entry), columns) }
	return func(isDark bool) *huh.Styles {
		t := huh.ThemeBase(isDark)
		if p {
			t.Focused.Title = t.Focused.Title.Bold(true)
			t.Focused.Description = t.Focused.Description.Faint(true)
			t.Focused.SelectSelector = t.Focused.SelectSelector.Bold(true)
			t.Focused.MultiSelectSelector = t.Focused.MultiSelectSelector.Bold(true)
			t.Focused.SelectedPrefix = t.Focused.SelectedPrefix.Bold(true)
			t.Focused.SelectedOption = t.Focused.SelectedOption.Bold(true)
		}
		t.Focused.SelectedOption = t.Focused.SelectedOption.Transform(fit)
		t.Focused.UnselectedOption = t.Focused.UnselectedOption.Transform(fit)
		return t
	}
}

// several returns a field that sets the chosen values.
func (l PickList) several(picked *[]string) *pickField {
	choose := huh.NewMultiSelect[string]().Title(l.Title).Description(l.note(pickKeys)).
		Options(l.options()...).Filterable(true).Height(l.height()).Value(picked)
	return &pickField{Field: choose, hovered: choose.Hovered, list: l, height: l.height()}
}

// one returns a field that sets the chosen value.
func (l PickList) one(picked *string) *pickField {
	choose := huh.NewSelect[string]().Title(l.Title).Description(l.note(chooseKeys)).
		Options(l.options()...).Height(l.height()).Value(picked)
	return &pickField{Field: choose, hovered: choose.Hovered, list: l, height: l.height()}
}

// height returns the height of the list with its title and its note, in lines.
func (l PickList) height() int { return min(len(l.Choices)+pickHead, maxPicked) }

func (l PickList) note(keys string) string { return strings.TrimPrefix(l.Note+"\n"+keys, "\n") }

// options returns the entries: their values in a column, and their whole texts.
func (l PickList) options() (options []huh.Option[string]) {
	width := 0
	for _, c := range l.Choices {
		width = max(width, min(maxValue, Cells([]rune(Flat(c.Value)))))
	}
	for _, c := range l.Choices {
		text := strings.TrimRight(fmt.Sprintf("%-*s  %s", width, Flat(c.Value), Flat(c.Text)), " ")
		options = append(options, huh.NewOption(text, c.Value))
	}
	return options
}

// form returns the list as a form for a terminal with so many columns; 0 means unlimited.
func (l PickList) form(field *pickField, p Palette, columns int) *huh.Form {
	if columns > 0 {
		columns = max(1, columns-pickMargin)
	}
	field.palette = p
	return huh.NewForm(huh.NewGroup(field)).WithShowHelp(false).WithTheme(p.pickTheme(columns))
}

// pickField is a list that Esc leaves, and that shows the position in it if it is longer than what is visible.
type pickField struct {
	huh.Field
	hovered func() (string, bool)
	list    PickList
	palette Palette
	height  int  // in lines
	left    bool // with Esc
}

// Update handles an event. Esc first ends a filter, if there is one.
func (f *pickField) Update(msg tea.Msg) (huh.Model, tea.Cmd) {
	if press, ok := msg.(tea.KeyPressMsg); ok && press.String() == leaveKey && !f.filtered() {
		f.left = true
		return f, huh.NextField
	}
	if press, ok := msg.(tea.KeyPressMsg); ok && press.String() == "/" && !f.filtered() {
		_, _ = f.Field.Update(tea.KeyPressMsg{Code: tea.KeyHome}) // the list of matches starts at the top
	}
	_, cmd := f.Field.Update(msg)
	return f, cmd
}

const leaveKey = "esc"

// filtered reports whether there is a filter: then the field has a use for Esc.
func (f *pickField) filtered() bool {
	return slices.ContainsFunc(f.KeyBinds(), func(b key.Binding) bool {
		return b.Enabled() && slices.Contains(b.Keys(), leaveKey)
	})
}

// WithHeight sets the height on a low terminal. The position needs a line.
func (f *pickField) WithHeight(height int) huh.Field {
	f.height = height
	if f.long() {
		height--
	}
	f.Field.WithHeight(height)
	return f
}

// long reports whether some entries are not visible.
func (f *pickField) long() bool { return len(f.list.Choices)+pickHead > f.height }

// View draws the list.
func (f *pickField) View() string {
	view := f.Field.View()
	value, ok := f.hovered()
	if at := f.list.index(value); ok && at >= 0 && f.long() && !f.filtered() {
		return view + "\n" + f.palette.Dim(fmt.Sprintf("  %d of %d", at+1, len(f.list.Choices)))
	} else if f.long() {
		return view + "\n"
	}
	return view
}

// index returns the index of a value, or -1.
func (l PickList) index(value string) int {
	return slices.IndexFunc(l.Choices, func(c Choice) bool { return c.Value == value })
}
