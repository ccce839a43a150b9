package dispatch

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// Agent is the protocol's name of the agent that receives and answers dispatches.
const Agent = "skills"

// Request is a parsed dispatch.
type Request struct {
	Skill       string   // as written after the @: a name, or name@pack; quoted, or in words, it may have spaces
	Args        []string // its arguments, unquoted
	Description string   // short description of the task; only in the Task form
	Model       string   // model that the caller requests, any text; "" for none
	Others      []string // other words with an @: if one is a skill, the line has several steps

	unquoted int // number of the first arguments without quotes, which may belong to the skill's name
}

const (
	maxLine = 64 << 10 // bytes
	maxArgs = 1000
)

// Parse parses a dispatch: a line such as
//
//	执行 @page-maker README.md
//	execute @thumbnail "my cover.png" --height 96
//	Task("skills", "shrink one cover", "run @thumbnail cover.png", {model: "sonnet"})
//
// or a JSON object with the keys subagent_type, description, prompt, and model. The error is a [*lineError].
func Parse(line string) (Request, error) {
	if len(line) > maxLine {
		return Request{}, newLineError(lineTooLong, len(line), maxLine)
	}
	if !utf8.ValidString(line) || strings.ContainsRune(line, 0) {
		return Request{}, newLineError(lineNotText)
	}
	line = strings.TrimSpace(strings.TrimPrefix(line, "\ufeff"))
	task, ok, err := parseTask(line)
	if err != nil {
		return Request{}, err
	}
	if !ok {
		return parsePrompt(line)
	}
	if task.agent != Agent {
		return Request{}, newLineError(otherAgent, task.agent, Agent)
	}
	if least, most := countWords(task.description); most < 3 || least > 5 {
		return Request{}, newLineError(wrongDescription, task.description)
	}
	r, err := parsePrompt(strings.TrimSpace(task.prompt))
	r.Description, r.Model = task.description, task.model
	return r, err
}

// countWords returns the minimum and maximum number of words in a text. In scripts without spaces each character may be
// a word.
func countWords(text string) (least, most int) {
	const none, word, dense = 0, 1, 2
	last := none
	for _, r := range text {
		kind := none
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
			kind = dense
		case unicode.IsLetter(r), unicode.IsDigit(r), last == word && !unicode.IsSpace(r):
			kind = word
		}
		if kind == dense || kind == word && last != word {
			most++
		}
		if kind != none && kind != last {
			least++
		}
		last = kind
	}
	return least, most
}

// word is a word of a prompt, split as in a shell.
type word struct {
	text     string
	unquoted bool // no part of it was quoted
	at       bool // it begins with an @ that was not quoted
}

// parsePrompt parses a verb, a skill, and its arguments.
func parsePrompt(text string) (Request, error) {
	noSkill := newLineError(noSkillNamed)
	words, steps, err := split(text)
	if err != nil {
		return Request{}, err
	}
	if len(words) == 0 {
		return Request{}, noSkill
	}
	first := words[0]
	switch verb := strings.ToLower(first.text); {
	case !first.unquoted:
		return Request{}, noSkill
	case verb == "执行", verb == "execute", verb == "run":
		words = words[1:]
	case strings.HasPrefix(verb, "执行@"):
		words[0].text, words[0].at = strings.TrimPrefix(first.text, "执行"), true
	default:
		return Request{}, newLineError(noVerb, textx.TruncateRunes(first.text, 40))
	}
	if len(words) == 0 || !words[0].at {
		return Request{}, noSkill
	}
	r := Request{Skill: strings.TrimPrefix(words[0].text, "@"), Args: make([]string, 0, len(words)-1)}
	if !skillName(r.Skill) && (words[0].unquoted || !quotedName(r.Skill)) {
		return Request{}, noSkill
	}
	if len(words) > maxArgs {
		return Request{}, newLineError(tooManyArguments, maxArgs)
	}
	for i, w := range words[1:] {
		if w.unquoted && r.unquoted == i {
			r.unquoted++
		}
		if w.unquoted {
			steps = steps || connects(w.text, words[1+i+1:])
			if name, ok := strings.CutPrefix(w.text, "@"); ok && skillName(name) {
				r.Others = append(r.Others, name)
			}
		}
		r.Args = append(r.Args, w.text)
	}
	if steps {
		return Request{}, newLineError(severalSteps)
	}
	return r, nil
}

// maxNameWords is the maximum number of words in the name of a skill.
const maxNameWords = 12

// names returns the names that the words after the @ may mean, the longest first, and how many arguments each takes.
func (r *Request) names(yield func(name string, words int) bool) {
	for n := min(r.unquoted, maxNameWords-1); n > 0; n-- {
		if !yield(r.Skill+" "+strings.Join(r.Args[:n], " "), n) {
			return
		}
	}
}

// quotedName reports whether a quoted text can be the name of a skill: printable, on one line, and not blank at an end.
func quotedName(name string) bool {
	return name != "" && len(name) <= 256 && !strings.HasPrefix(name, "@") && strings.TrimSpace(name) == name &&
		!strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

// skillName reports whether a word can be the name of a skill: no spaces and no control characters.
func skillName(name string) bool {
	if name == "" || len(name) > 256 || strings.HasPrefix(name, "@") {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune("-_.:/@", r)
	})
}

// connects reports whether a word and its successor start another step.
func connects(text string, rest []word) bool {
	lower := strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(text, ","), "，"))
	switch lower {
	case "then", "然后", "再", "接着", "&&", "||", "|":
		return true
	}
	for _, c := range []string{"然后", "再", "接着"} {
		if after, ok := strings.CutPrefix(lower, c); ok &&
			(strings.HasPrefix(after, "执行") || strings.HasPrefix(after, "@")) {
			return true
		}
	}
	verb := lower == "execute" || lower == "run" || lower == "执行"
	return strings.HasPrefix(lower, "执行@") || verb && len(rest) > 0 && rest[0].unquoted &&
		strings.HasPrefix(rest[0].text, "@")
}

// splitter splits a prompt into words.
type splitter struct {
	words []word
	steps bool // text follows the end of a step

	text     strings.Builder
	in       bool // inside a word
	unquoted bool
	at       bool
	ended    bool
}

// split splits a prompt into words by space and quotes as a shell does. A backslash only escapes characters that would
// end a word, so that Windows paths stay unchanged. A line break, and a semicolon at the end of a word, end a step.
func split(text string) (words []word, steps bool, err error) {
	s := splitter{unquoted: true}
	runes := []rune(text)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		if closing, ok := quotes(r); ok && (r < utf8.RuneSelf || !s.in || s.text.String() == "@") {
			inner, end := quoted(runes[i+1:], closing)
			if end < 0 && r == '\'' && s.in { // an apostrophe
				s.add(r)
				continue
			}
			if end < 0 {
				return nil, false, newLineError(openQuote, string(r))
			}
			s.add(inner...)
			s.unquoted = false
			i += end + 1
			continue
		}
		switch {
		case r == '\\' && i+1 < len(runes) && strings.ContainsRune(" \t\"';；@", runes[i+1]):
			i++
			s.add(runes[i])
			s.unquoted = false
		case r == '\n', r == '\r', (r == ';' || r == '；') && separates(runes, i):
			s.flush()
			s.ended = s.ended || len(s.words) > 0
		case unicode.IsSpace(r):
			s.flush()
		default:
			s.at = s.at || r == '@' && !s.in
			s.add(r)
		}
	}
	s.flush()
	return s.words, s.steps, nil
}

func (s *splitter) add(runes ...rune) {
	s.in, s.steps, s.ended = true, s.steps || s.ended, false
	s.text.WriteString(string(runes))
}

func (s *splitter) flush() {
	if s.in {
		s.words = append(s.words, word{s.text.String(), s.unquoted, s.at})
	}
	s.text.Reset()
	s.in, s.unquoted, s.at = false, true, false
}

// quoted returns the text before the closing quote and the position of that quote, or -1.
func quoted(runes []rune, closing rune) (inner []rune, end int) {
	for i := 0; i < len(runes); i++ {
		switch {
		case runes[i] == closing:
			return inner, i
		case runes[i] == '\\' && closing == '"' && i+1 < len(runes) && (runes[i+1] == '"' || runes[i+1] == '\\'):
			i++
		}
		inner = append(inner, runes[i])
	}
	return nil, -1
}

// quotes returns the closing quote for an opening one.
func quotes(r rune) (closing rune, ok bool) {
	switch r {
	case '"', '\'':
		return r, true
	case '“':
		return '”', true
	case '「':
		return '」', true
	}
	return 0, false
}

// separates reports whether a semicolon separates steps: at the end of a word, or before a verb. Inside a word, for
// example in a URL, it is part of the word.
func separates(runes []rune, i int) bool {
	rest := runes[i+1:]
	if len(rest) == 0 || unicode.IsSpace(rest[0]) {
		return true
	}
	after := strings.ToLower(string(rest[:min(len(rest), 8)]))
	return runes[i] == '；' || strings.HasPrefix(after, "执行") || strings.HasPrefix(after, "execute ") ||
		strings.HasPrefix(after, "run ")
}
