package lint

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/diag/rule"
)

// style says how a description could be better. These rules are off until they are asked for.
func (u *unit) style() {
	_, v := u.doc.Lookup("description")
	text := u.doc.Description()
	if text == "" || v == nil {
		return
	}
	_, when := u.doc.Lookup("when_to_use")
	if u.wants(rule.NoTrigger) && when == nil && !saysWhen(text) {
		u.atNode(v, finding{rule: rule.NoTrigger, message: "the description does not say when to use the skill"})
	}
	if u.wants(rule.Person) {
		if word := person(text); word != "" {
			u.atNode(v, finding{rule: rule.Person, message: fmt.Sprintf("the description says %q", word)})
		}
	}
	// not all scripts have spaces
	if n := len(strings.Fields(text)); u.wants(rule.Vague) && n < 5 && utf8.RuneCountInString(text) == len(text) {
		u.atNode(v, finding{rule: rule.Vague, message: "the description has " + numbered(n, "word")})
	}
}

// numbered writes a number of things.
func numbered(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// wants reports whether the settings ask for a rule.
func (u *unit) wants(id string) bool {
	_, off := u.l.Settings.level(id, rule.Severity(id))
	return !off
}

// saysWhen reports whether a description names an occasion.
func saysWhen(text string) bool {
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' }) {
		switch word {
		case "when", "whenever", "if", "after", "before", "while", "trigger", "triggers", "asks", "asked":
			return true
		}
	}
	return strings.Contains(strings.ToLower(text), "use for") || strings.Contains(strings.ToLower(text), "used for")
}

// person returns the first word that speaks as the writer or to the reader, or "".
func person(text string) string {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return r != '\'' && (r < 'A' || r > 'Z') &&
			(r < 'a' || r > 'z')
	}) {
		switch word {
		case "I", "I'm", "I'll", "We", "we", "my", "My", "our", "Our", "You", "you", "your", "Your", "you're":
			return word
		}
	}
	return ""
}
