package lint

import (
	"cmp"
	"fmt"
	"sort"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/markdown"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/internal/yamlschema"
	"github.com/skillpm/skillpm/pkg/skill"
)

// checkStyle reports how a description could be better. These rules are off by default.
func (u *skillCheck) checkStyle() {
	_, v := u.doc.Lookup("description")
	text := u.doc.Description()
	if text == "" || v == nil || !latin(text) { // the rules know English words
		return
	}
	_, when := u.doc.Lookup("when_to_use")
	if u.wants(rule.NoTrigger) && when == nil && !namesOccasion(text) {
		u.atNode(v, finding{rule: rule.NoTrigger, message: "the description does not explain when to use the skill"})
	}
	if u.wants(rule.Person) {
		if word := person(text); word != "" {
			u.atNode(v, finding{rule: rule.Person, message: fmt.Sprintf("the description uses %q", word)})
		}
	}
	// not all scripts have spaces
	if n := len(strings.Fields(text)); u.wants(rule.Vague) && n < 5 && utf8.RuneCountInString(text) == len(text) {
		u.atNode(v, finding{rule: rule.Vague, message: "the description has only " + textx.Count(n, "word")})
	}
}

// wants reports whether the settings ask for a rule.
func (u *skillCheck) wants(id string) bool {
	_, off := u.l.Settings.level(id, rule.Severity(id))
	return !off
}

// namesOccasion reports whether a description names an occasion for using the skill.
func namesOccasion(text string) bool {
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' }) {
		switch word {
		case "when", "whenever", "if", "after", "before", "while", "trigger", "triggers", "activate", "activates", "asks",
			"asked":
			return true
		}
	}
	text = strings.ToLower(text)
	return strings.Contains(text, "use for") || strings.Contains(text, "used for") ||
		strings.Contains(text, "use this skill to")
}

// latin reports whether most letters of a text are Latin.
func latin(text string) bool {
	letters, others := 0, 0
	for _, r := range text {
		if unicode.Is(unicode.Latin, r) {
			letters++
		} else if unicode.IsLetter(r) {
			others++
		}
	}
	return letters >= others
}

// person returns the first word in the first or second person, or "". Quotes contain what users say to an agent.
func person(text string) string {
	for word := range strings.FieldsFuncSeq(withoutQuotes(text), func(r rune) bool {
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

// withoutQuotes returns a text without what is in quotes. An apostrophe in a word is not a quote.
func withoutQuotes(text string) string {
	var b strings.Builder
	for text != "" {
		r, size := utf8.DecodeRuneInString(text)
		end := -1
		if closing, ok := closingQuote[r]; ok && !endsInLetter(b.String()) {
			end = quoteEnd(text[size:], closing)
		}
		if end < 0 {
			b.WriteString(text[:size])
			text = text[size:]
			continue
		}
		b.WriteByte(' ')
		text = text[size+end:]
	}
	return b.String()
}

// closingQuote maps quotes to those that close them.
var closingQuote = map[rune]rune{'"': '"', '\'': '\'', '`': '`', '“': '”', '„': '“', '‘': '’', '«': '»'}

// maxQuote is the length in bytes beyond which a quote is not searched for its end.
const maxQuote = 200

// quoteEnd returns the offset after the closing quote in a text, or -1. It is not inside of a word.
func quoteEnd(text string, closing rune) int {
	for i, r := range text[:min(len(text), maxQuote)] {
		if after := i + utf8.RuneLen(r); r == closing && !startsWithLetter(text[after:]) {
			return after
		}
	}
	return -1
}

func endsInLetter(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return unicode.IsLetter(r)
}

func startsWithLetter(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLetter(r)
}

// formRules are the rules for what [skill.Parse] finds.
var formRules = map[skill.Kind]string{
	skill.NoFrontmatter: rule.NoFrontmatter,
	skill.LeadingText:   rule.LeadingText,
	skill.Unclosed:      rule.Unclosed,
	skill.BadYAML:       rule.BadYAML,
	skill.Tab:           rule.Tab,
	skill.NotMapping:    rule.NotMapping,
	skill.DuplicateKey:  rule.DuplicateKey,
	skill.ByteOrderMark: rule.BOM,
	skill.NotUTF8:       rule.NotUTF8,
}

// reportParseProblems reports what [skill.Parse] found.
func (u *skillCheck) reportParseProblems(problems []skill.Problem) {
	needy := u.requiringFrontmatter()
	for i, p := range problems {
		if p.Kind == skill.BadYAML || p.Kind == skill.Tab || p.Kind == skill.Unclosed {
			u.brokenLine = cmp.Or(u.brokenLine, p.Line)
		}
		f := finding{
			rule: formRules[p.Kind], src: u.src, line: p.Line, column: p.Column, message: p.Message,
			fix: p.Fix,
		}
		if p.Kind == skill.NoFrontmatter {
			if len(needy.ids) == 0 {
				continue
			}
			f = needy.finding(f)
		}
		if i < maxTries && u.doc.FrontEnd-u.doc.FrontStart < maxTried {
			f.edits = u.formEdits(p)
		}
		u.add(f)
	}
}

// requiringFrontmatter returns the profiles whose schema requires a field, so that a skill needs frontmatter.
func (u *skillCheck) requiringFrontmatter() fieldProfiles {
	var k fieldProfiles
	for _, j := range u.l.schemas {
		if len(yamlschema.Texts(j.schema.Raw["required"])) > 0 {
			k.ids = append(k.ids, j.ID)
		}
	}
	k.all = len(k.ids) == len(u.l.schemas)
	return k
}

// The check parses the file again to find out whether a fix repairs a broken field. The limits bound the number of
// tries per file, and the size in bytes of the frontmatter.
const (
	maxTries = 5
	maxTried = 64 << 10
)

// formEdits returns edits for problems that can be fixed without guessing; nil for others.
func (u *skillCheck) formEdits(p skill.Problem) func() []diag.Edit {
	switch p.Kind {
	case skill.ByteOrderMark:
		return u.src.withoutBOM
	case skill.BadYAML:
		return u.src.rewriting(u.doc.Repair(p.Line))
	}
	return nil
}

// broken reports whether the frontmatter's form is so wrong that fields may be missing for that reason alone.
func (u *skillCheck) broken() bool {
	for _, f := range u.findings {
		switch f.Rule {
		case rule.NoFrontmatter, rule.Unclosed, rule.NotMapping:
			return true
		case rule.BadYAML, rule.Tab:
			if f.Severity == diag.SeverityError {
				return true
			}
		}
	}
	return false
}

// page is a Markdown file of a skill.
type page struct {
	*markdown.Page
	src *source

	readers  *readerPool
	examples []span // see inExample; nil until needed
	headings *page  // see hasHeading; nil until needed
}

// readerPool reuses Markdown readers and their memory.
type readerPool struct{ pool sync.Pool }

// read reads the Markdown of a file from an offset on.
func (r *readerPool) read(src *source, from int) *page {
	reader, ok := r.pool.Get().(*markdown.Reader)
	if !ok {
		reader = new(markdown.Reader)
	}
	defer r.pool.Put(reader)
	return &page{Page: reader.Read(src.data, from), src: src, readers: r}
}

// inBlock reports whether a byte of the file is in a code block.
func (p *page) inBlock(offset int) bool {
	i := sort.Search(len(p.Blocks), func(i int) bool { return p.Blocks[i].End > offset })
	return i < len(p.Blocks) && p.Blocks[i].Offset <= offset
}
