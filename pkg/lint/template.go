package lint

import (
	"bytes"
	"fmt"

	"github.com/skillpm/skillpm/pkg/diag/rule"
)

// Sentences of the files that "skillpm new" writes or suggests. Their author has to replace them.
const (
	TemplateStep        = "Write the agent's first step as an instruction."
	TemplateCheck       = "Describe how the agent checks the result."
	TemplateScript      = "Describe what this script checks."
	TemplateDescription = "What it does and when to use it."
)

// templateMarkers are the characters of list items, headings, and comments that may precede a sentence.
const templateMarkers = " \t#*+-/.)0123456789"

// checkTemplate reports the sentences of the template that are still in a file, at the start of a line: elsewhere,
// other text may quote them.
func (u *skillCheck) checkTemplate(f *file) {
	if !f.isText() {
		return
	}
	for _, sentence := range []string{TemplateStep, TemplateCheck, TemplateScript} {
		data := f.data
		for {
			i := bytes.Index(data, []byte(sentence))
			if i < 0 {
				break
			}
			at := len(f.data) - len(data) + i
			data = data[i+len(sentence):]
			start := bytes.LastIndexByte(f.data[:at], '\n') + 1
			if len(bytes.TrimLeft(f.data[start:at], templateMarkers)) > 0 {
				continue
			}
			line, column := f.position(at)
			u.add(finding{
				rule: rule.TemplateText, src: f.source, line: line, column: column, width: len(sentence),
				message: templateMessage(sentence),
			})
		}
	}
}

// checkTemplateDescription reports the description that an error message of "skillpm new" suggests.
func (u *skillCheck) checkTemplateDescription() {
	if _, v := u.doc.Lookup("description"); v != nil && u.doc.Description() == TemplateDescription {
		u.atNode(v, finding{rule: rule.TemplateText, message: templateMessage(TemplateDescription)})
	}
}

func templateMessage(sentence string) string {
	return fmt.Sprintf("this text is from the template of \"skillpm new\": %q", sentence)
}
