package scan

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"slices"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/scan/atom"
)

// A Rule is a class of behavior, and the shapes in which it occurs. Rules are data: [Builtin] returns those of skillpm,
// and package rulefile reads those of a security team from YAML. A rule never changes after it was made.
type Rule struct {
	ID       string
	Title    string
	Severity diag.Severity
	Signal   Signal // the family of behavior; "" if the rule does not count in the score of a skill
	Points   int    // what one hit adds to the score, from 0 to [Attack]
	Why, Fix string // for rules of a team; those of skillpm are in package rule
	Shapes   []Shape
	Intent   bool // of all shapes
}

// Signal is a family of behavior. Rules of one family say the same about a skill, so only the one with the most points
// counts in its score.
type Signal string

// Signals lists the families, in the order of reports.
var Signals = [...]Signal{
	"credentials", "exfiltration", "execution", "supply-chain", "persistence", "destruction", "privilege", "evasion",
	"injection", "impersonation", "standing-order", "concealment", "surveillance", "resources", "exposure",
}

// Attack is the number of points from which a skill counts as an attack.
const Attack = 10

// A Shape is one form in which the behavior of a rule occurs. Its patterns are searched in a window: the line of the
// first of them, Lines lines around it, and at most [windowSize] bytes in each direction.
type Shape struct {
	About  string    // what it is, for messages
	In     Surface   // where it counts
	Quoted bool      // also where the text only quotes it or warns about it, and in tests
	Any    []Pattern // one of these must be in the window
	All    []Pattern // each of these must be; the first starts the search if there is no Any
	Unless []Pattern // and none of these
	Lines  int
	Start  []string // one of these is in every window with the shape; each occurrence starts a check
	Intent bool     // it is more than something that a skill is able to do: a score counts as an attack only with one
	Points int      // if it is not 0, instead of the rule's
	Kind   Kind     // what a matcher in Go finds, instead of patterns

	Severity *diag.Severity // if it is not nil, instead of the rule's
}

// A Pattern is a text, or a regular expression of RE2; neither distinguishes case.
type Pattern struct {
	Text   string
	Regexp bool
	Atoms  []string // if not empty, one of these is in every match, in lower case
}

// windowSize is how many bytes of a window are before the text that starts the search, and how many after it.
const windowSize = 300

// maxShapeHits is how many hits of one shape in one text are reported.
const maxShapeHits = 20

// shapeRef identifies a shape of a scanner.
type shapeRef struct {
	rule  *Rule
	shape *Shape
	// the patterns of Any, All, and Unless, compiled when they are first needed
	any, all, unless []matcher
}

// matcher is a pattern in a scanner.
type matcher struct {
	atoms  []string // in lower case
	source string   // of a regular expression; "" if the text is the only atom
	re     *atomic.Pointer[expression]
}

// expression is a regular expression, and what every match contains. It is compiled only if a window contains that, which is rare.
type expression struct {
	needs   atom.Sequence
	compile func() *regexp.Regexp
}

func newMatchers(list []Pattern) []matcher {
	out := make([]matcher, len(list))
	for i, p := range list {
		if p.Regexp {
			out[i] = matcher{atoms: p.Atoms, source: p.Text, re: new(atomic.Pointer[expression])}
		} else {
			out[i].atoms = []string{string(toLowerASCII([]byte(p.Text)))}
		}
	}
	return out
}

// possible reports whether a window may have a match.
func (m *matcher) possible(w *atom.Window) bool {
	for _, a := range m.atoms {
		if w.Index(a) >= 0 {
			return true
		}
	}
	return len(m.atoms) == 0
}

// find returns the first match in a window.
func (m *matcher) find(w *atom.Window) (start, end int, ok bool) {
	if m.re == nil {
		start = w.Index(m.atoms[0])
		return start, start + len(m.atoms[0]), start >= 0
	}
	if !m.likely(w) {
		return 0, 0, false
	}
	loc := m.expression().compile().FindIndex(w.Text)
	if loc == nil || loc[0] == loc[1] {
		return 0, 0, false
	}
	return loc[0], loc[1], true
}

// likely reports whether a window has all texts that a match contains. It is slower than [matcher.possible], and much
// faster than [matcher.find].
func (m *matcher) likely(w *atom.Window) bool {
	return m.possible(w) && (m.re == nil || m.expression().needs.In(w))
}

func (m *matcher) expression() *expression {
	re := m.re.Load()
	if re == nil {
		re = newExpression(m.source)
		m.re.Store(re)
	}
	return re
}

// newExpression returns a regular expression for text in lower case, which is several times faster than folding. Only
// expressions with letters beyond ASCII fold.
func newExpression(source string) *expression {
	source = "(?m)" + lowerExpression(source)
	e := &expression{compile: sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(source) })}
	if parsed, err := syntax.Parse(source, syntax.Perl); err == nil {
		e.needs = atom.Needs(parsed)
	}
	return e
}

// lowerExpression returns an expression for text in lower case.
func lowerExpression(source string) string {
	for i := range len(source) {
		if source[i] >= utf8.RuneSelf {
			return "(?i)" + source
		}
	}
	small := []byte(source)
	for i, c := range small {
		if i == 0 || small[i-1] != '\\' && (i < 2 || small[i-2] != '\\' || lower(small[i-1]) != 'p') {
			small[i] = lower(c)
		}
	}
	return string(small)
}

// addRules makes the scanner search for rules, and returns the literals that start their checks.
func (s *Scanner) addRules(rules []*Rule) (table []literal) {
	for _, r := range rules {
		for i := range r.Shapes {
			sh := &r.Shapes[i]
			ref := shapeRef{
				rule: r, shape: sh, any: newMatchers(sh.Any), all: newMatchers(sh.All), unless: newMatchers(sh.Unless),
			}
			n := len(s.shapes)
			s.shapes = append(s.shapes, ref)
			if sh.Kind != 0 {
				s.kinds[sh.Kind] = append(s.kinds[sh.Kind], n)
				continue
			}
			for _, text := range sh.Start {
				table = append(table, literal{text: text, check: checkShape, arg: n})
			}
		}
	}
	return table
}

// scratch is the memory for the checks of shapes in one text.
type scratch struct {
	checkedTo []int                     // for each shape, the end of what was checked
	hits      []uint8                   // how many hits each shape has
	windows   [MaxLines + 1]shapeWindow // the last one for each number of lines
}

// shapeWindow is the window of a shape.
type shapeWindow struct {
	from, to int
	atom.Window
}

// MaxLines is the largest number of lines of a [Shape].
const MaxLines = 20

func (s *Scanner) newScratch() *scratch {
	x, ok := s.scratch.Get().(*scratch)
	if !ok {
		return &scratch{checkedTo: make([]int, len(s.shapes)), hits: make([]uint8, len(s.shapes))}
	}
	clear(x.checkedTo)
	clear(x.hits)
	for i := range x.windows {
		x.windows[i].from, x.windows[i].to = 0, 0
	}
	return x
}

// shape checks the shape whose search starts at start. Every shape is checked once for each line, and once for every
// half window of long lines, so that the time is linear.
func (t *text) shape(s *Scanner, n, start, end int) {
	x := t.shapes
	if x == nil {
		x = s.newScratch()
		t.shapes = x
	}
	if start < x.checkedTo[n] {
		return
	}
	ref := &s.shapes[n]
	if !t.mayHave(ref.shape.In) {
		return
	}
	from, to := t.window(start, end, ref.shape.Lines)
	x.checkedTo[n] = max(end, min(t.lineEnd(end, windowSize), start+windowSize/2))
	window := t.data[from:to]
	w := &x.windows[ref.shape.Lines]
	if from != w.from || to != w.to {
		w.from, w.to = from, to
		w.Set(window)
	}
	if k, l, ok := ref.match(&w.Window); ok && x.hits[n] < maxShapeHits {
		x.hits[n]++
		for is(window[k], isBlank) && k < l-1 {
			k++
		}
		if i := bytes.IndexByte(window[k:l], '\n'); i > 0 {
			l = k + i
		}
		t.hits = append(t.hits, Hit{Kind: DataRule, Start: from + k, End: from + l, Detail: ref.shape.About, shape: n})
	}
}

// match reports whether the window has the shape, and where the match of its first pattern is. The cheap checks of all
// patterns come first.
func (r *shapeRef) match(w *atom.Window) (start, end int, ok bool) {
	for i := range r.all {
		if !r.all[i].possible(w) {
			return 0, 0, false
		}
	}
	if len(r.any) > 0 && !slices.ContainsFunc(r.any, func(m matcher) bool { return m.possible(w) }) {
		return 0, 0, false
	}
	for i := range r.all {
		if !r.all[i].likely(w) {
			return 0, 0, false
		}
	}
	found := len(r.any) == 0
	for i := range r.any {
		if start, end, found = r.any[i].find(w); found {
			break
		}
	}
	if !found {
		return 0, 0, false
	}
	for i := range r.all {
		k, l, ok := r.all[i].find(w)
		if !ok {
			return 0, 0, false
		}
		if i == 0 && len(r.any) == 0 {
			start, end = k, l
		}
	}
	for i := range r.unless {
		if _, _, ok := r.unless[i].find(w); ok {
			return 0, 0, false
		}
	}
	return start, end, true
}

// window returns the line of start to end, with lines lines before and after it.
func (t *text) window(start, end, lines int) (from, to int) {
	low, high := max(0, start-windowSize), min(len(t.data), end+windowSize)
	from, to = start, end
	for n := 0; n <= lines; n++ {
		k := bytes.LastIndexByte(t.data[low:from], '\n')
		from = low + max(k, 0)
		if k < 0 {
			break
		}
		if n == lines {
			from++
		}
	}
	for n := 0; n <= lines; n++ {
		k := bytes.IndexByte(t.data[to:high], '\n')
		if k < 0 {
			to = high
			break
		}
		to += k
		if n < lines {
			to++
		}
	}
	t.scanned += to - from
	return from, to
}

// mayHave reports whether a text can have one of the surfaces.
func (t *text) mayHave(in Surface) bool {
	switch {
	case t.Markdown:
		return in&(InShell|InCode|InProse|InComment) != 0
	case t.Script:
		return in&(InScript|InRemark) != 0
	case t.SVG:
		return in&(InScript|InData|InProse) != 0
	}
	return in&(InData|InProse) != 0
}

// A Match is a hit of a rule in a context where it counts.
type Match struct {
	Rule     *Rule
	Severity diag.Severity
	Points   int
	Intent   bool
}

// Match returns the rule that a hit is about, or false if it does not count in its context.
func (s *Scanner) Match(h Hit, c Context) (Match, bool) {
	if h.Kind == DataRule {
		return s.shapes[h.shape].matchIn(c)
	}
	for _, n := range s.kinds[h.Kind] {
		if m, ok := s.shapes[n].matchIn(c); ok {
			return m, true
		}
	}
	return Match{}, false
}

func (r *shapeRef) matchIn(c Context) (Match, bool) {
	if r.shape.In&c.Surface == 0 || c.Quoted && !r.shape.Quoted {
		return Match{}, false
	}
	m := Match{
		Rule: r.rule, Severity: r.rule.Severity, Points: r.rule.Points, Intent: r.rule.Intent || r.shape.Intent,
	}
	if r.shape.Points != 0 {
		m.Points = r.shape.Points
	}
	if r.shape.Severity != nil {
		m.Severity = *r.shape.Severity
	}
	return m, true
}
