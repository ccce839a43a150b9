package flow

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// shell evaluates shell code.
type shell struct {
	*reader
	vars  map[string]value
	funcs map[string]bool
	scope string // the current function
	base  int    // offset of the parsed text
}

func newShell(r *reader) *shell {
	return &shell{reader: r, vars: map[string]value{}, funcs: map[string]bool{}}
}

// script evaluates a script and returns its output.
func (s *shell) script(text string, in value) (out value) {
	if s.tooDeep() || len(text) > maxFile {
		return value{}
	}
	s.depth++
	defer func() { s.depth-- }()
	base := s.base
	parseShell(text, func(offset int, st *syntax.Stmt) {
		s.base = offset
		out = s.last(out, s.statement(st, in, true))
	}, s.unparsed)
	s.base = base
	return out
}

// unparsed reads text that is not valid shell code.
func (s *shell) unparsed(offset int, text string) {
	s.sum.partial = s.sum.partial || !s.shown
	s.lines(offset, text)
}

// last returns the output of statements of which one is the last: the text is that of a single one.
func (s *shell) last(a, b value) value {
	if len(a.from) == 0 && a.text == "" {
		return b
	}
	return union(a, b)
}

// code evaluates code in the text of a value, whose unknown parts are variables. Its positions are those of the
// current statement.
func (s *shell) code(v, in value) value {
	if !s.evaluates(v.text) {
		return value{}
	}
	text, at, part := v.text, s.at, s.part
	if hasHole(text) {
		text = marks(text, "${_h", "}")
	}
	s.at, s.part = s.offset(), nil
	fixed := s.fixed
	s.fixed = true
	out := s.script(text, in)
	s.at, s.part, s.fixed = at, part, fixed
	return out
}

// statement evaluates a statement and returns its output. top reports that the output is that of the script.
func (s *shell) statement(st *syntax.Stmt, in value, top bool) (out value) {
	if st == nil || s.tooDeep() {
		return value{}
	}
	s.depth++
	defer func() { s.depth-- }()
	if !s.fixed {
		s.at = s.base + int(st.Pos().Offset())
	}
	here := s.at
	var files []*syntax.Redirect
	for _, r := range st.Redirs {
		switch r.Op {
		case syntax.RdrIn, syntax.RdrInOut:
			in = s.read(s.word(r.Word), "<")
		case syntax.Hdoc, syntax.DashHdoc:
			in = s.word(r.Hdoc)
			for _, name := range firstWords(in.text) { // the text may become a script
				s.ran(name)
			}
		case syntax.WordHdoc:
			in = s.word(r.Word)
		case syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.AppAll, syntax.RdrClob:
			if r.N == nil || r.N.Value != "2" {
				files = append(files, r)
			} else {
				s.write(s.word(r.Word), value{}, ">")
			}
		case syntax.DplOut: // >& FILE
			if r.Word != nil && strings.Contains(r.Word.Lit(), "/") {
				files = append(files, r)
			}
		}
	}
	if len(files) > 0 {
		if to := s.word(files[0].Word).text; strings.HasPrefix(to, "/dev/tcp/") || strings.HasPrefix(to, "/dev/udp/") {
			in = union(in, s.source(connection(to)))
		}
	}
	out = s.command(st.Cmd, in)
	s.at = here
	for _, r := range files {
		s.write(s.word(r.Word), out, ">")
	}
	if len(files) > 0 {
		return value{}
	}
	if top && len(out.from) > 0 && s.scope == "" {
		s.reach(out.from, s.key("out:", s.reader.script))
	}
	return out
}

func (s *shell) all(stmts []*syntax.Stmt, in value) (out value) {
	for _, st := range stmts {
		out = s.last(out, s.statement(st, in, false))
	}
	return out
}

func (s *shell) command(cmd syntax.Command, in value) value {
	switch c := cmd.(type) {
	case *syntax.CallExpr:
		return s.call(c, in)
	case *syntax.BinaryCmd:
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			return s.statement(c.Y, s.statement(c.X, in, false), false)
		}
		return s.either(s.statement(c.X, in, false), s.statement(c.Y, in, false))
	case *syntax.Subshell:
		return s.all(c.Stmts, in)
	case *syntax.Block:
		return s.all(c.Stmts, in)
	case *syntax.IfClause:
		out := value{}
		for ; c != nil; c = c.Else {
			s.all(c.Cond, in)
			out = s.either(out, s.all(c.Then, in))
		}
		return out
	case *syntax.WhileClause:
		s.all(c.Cond, in)
		return s.all(c.Do, in)
	case *syntax.ForClause:
		if w, ok := c.Loop.(*syntax.WordIter); ok {
			v := oneOf(s.words(w.Items))
			if len(w.Items) == 1 {
				v = s.word(w.Items[0])
			}
			s.set(w.Name.Value, v)
		}
		return s.all(c.Do, in)
	case *syntax.CaseClause:
		out := value{}
		for _, item := range c.Items {
			out = s.either(out, s.all(item.Stmts, in))
		}
		return out
	case *syntax.FuncDecl:
		s.function(c)
	case *syntax.DeclClause:
		for _, a := range c.Args {
			s.assign(a)
		}
		if c.Variant != nil && len(c.Args) <= 1 {
			return s.declared(c)
		}
	case *syntax.TimeClause:
		return s.statement(c.Stmt, in, false)
	case *syntax.TestClause, *syntax.ArithmCmd, *syntax.LetClause:
	}
	return value{}
}

// declared returns the output of export -p and declare -p.
func (s *shell) declared(c *syntax.DeclClause) value {
	for _, a := range c.Args {
		if a.Naked && a.Value != nil && a.Value.Lit() == "-p" {
			return s.source(Fact{Kind: ReadsEnvironment, Client: c.Variant.Value, Sure: Certain})
		}
	}
	return value{}
}

func (s *shell) either(a, b value) value {
	if len(a.from) == 0 && a.text == "" && !a.literal {
		return b
	}
	if len(b.from) == 0 && b.text == "" && !b.literal {
		return a
	}
	return union(a, b)
}

// function evaluates the body of a function, whose parameters are nodes.
func (s *shell) function(c *syntax.FuncDecl) {
	if c.Name == nil || c.Body == nil {
		return
	}
	name, scope := c.Name.Value, s.scope
	s.funcs[name], s.scope = true, name
	out := s.statement(c.Body, value{from: set{s.functionKey("call:", name, " <")}}, false)
	s.reach(out.from, s.functionKey("result:", name, ""))
	s.scope = scope
}

func (s *shell) set(name string, v value) {
	if v.text == "" && !v.literal {
		v.text = s.hole(v)
	}
	s.vars[name] = v
}

// assign evaluates an assignment. The result is the value of a naked argument.
func (s *shell) assign(a *syntax.Assign) (value, bool) {
	switch {
	case a.Name == nil:
		if a.Value != nil {
			return s.word(a.Value), true
		}
		return value{}, false
	case a.Naked:
		return value{}, false
	}
	v := value{literal: true}
	if a.Value != nil {
		v = s.word(a.Value)
	}
	if a.Array != nil {
		var elems []value
		for _, e := range a.Array.Elems {
			if e.Value != nil {
				elems = append(elems, s.word(e.Value))
			}
		}
		v = union(elems...)
		v.setArgv(elems)
	}
	if a.Append {
		old := s.vars[a.Name.Value]
		argv := slices.Concat(old.partsOrEmpty().argv, v.partsOrEmpty().argv)
		v = s.join("", old, v)
		v.setArgv(argv)
	}
	if a.Name.Value == "NODE_TLS_REJECT_UNAUTHORIZED" && v.text == "0" || a.Name.Value == "PYTHONHTTPSVERIFY" &&
		v.text == "0" ||
		a.Name.Value == "GIT_SSL_NO_VERIFY" && v.text != "" && v.text != "0" {
		s.fact(Fact{Kind: Unverified, Detail: a.Name.Value, Sure: Certain})
	}
	if a.Name.Value == "HISTFILE" && v.text == "/dev/null" {
		s.fact(Fact{Kind: SuppressesLogs, Detail: "HISTFILE", Sure: Certain})
	}
	s.set(a.Name.Value, v)
	return value{}, false
}

func (s *shell) words(list []*syntax.Word) []value {
	out := make([]value, 0, len(list))
	for _, w := range list {
		v := s.word(w)
		if argv := v.partsOrEmpty().argv; len(argv) > 0 {
			out = append(out, argv...)
			continue
		}
		out = append(out, v)
	}
	return out
}

// word evaluates a word.
func (s *shell) word(w *syntax.Word) value {
	if w == nil {
		return value{}
	}
	if len(w.Parts) == 1 {
		return s.wordPart(w.Parts[0])
	}
	parts := make([]value, len(w.Parts))
	for i, p := range w.Parts {
		parts[i] = s.wordPart(p)
	}
	return s.join("", parts...)
}

func (s *shell) wordPart(part syntax.WordPart) value {
	switch p := part.(type) {
	case *syntax.Lit:
		return value{text: cut(unescape(p.Value)), literal: true}
	case *syntax.SglQuoted:
		return value{text: cut(p.Value), literal: true}
	case *syntax.DblQuoted:
		if len(p.Parts) == 1 {
			return s.wordPart(p.Parts[0])
		}
		parts := make([]value, len(p.Parts))
		for i, inner := range p.Parts {
			parts[i] = s.wordPart(inner)
		}
		return s.join("", parts...)
	case *syntax.ParamExp:
		return s.parameter(p)
	case *syntax.CmdSubst:
		at := s.at
		v := s.all(p.Stmts, value{})
		s.at = at
		v.setArgv(nil)
		if v.text != "" {
			v.text = strings.TrimRight(v.text, "\n")
		}
		return v
	case *syntax.ProcSubst:
		at := s.at
		if p.Op == syntax.CmdOut { // >(command)
			s.all(p.Stmts, value{})
			s.at = at
			return value{}
		}
		v := s.all(p.Stmts, value{})
		s.at = at
		return value{text: "/dev/fd/" + s.hole(v), from: v.from, literal: true}
	}
	return value{}
}

func unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			if i++; text[i] == '\n' {
				continue
			}
		}
		out.WriteByte(text[i])
	}
	return out.String()
}

// parameter evaluates a variable.
func (s *shell) parameter(p *syntax.ParamExp) value {
	if p.Param == nil || p.Length {
		return value{}
	}
	name := p.Param.Value
	v, set := s.variable(name)
	switch {
	case p.Exp != nil && p.Exp.Word != nil:
		other := s.word(p.Exp.Word)
		switch p.Exp.Op {
		case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
			if !set {
				from := v.from.with(other.from)
				if v.text == "" || hasHole(v.text) { // most likely the default
					v = other
				}
				v.from = from
				if p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull {
					s.set(name, v)
				}
			}
		case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		default:
			v = value{from: v.from}
		}
	case p.Slice != nil || p.Repl != nil || p.Exp != nil:
		v = value{from: v.from}
	}
	return v
}

// systemVariables are not secrets, and most scripts read them.
const systemVariables = " PATH PWD OLDPWD USER LOGNAME SHELL TERM LANG TMPDIR TMP TEMP HOSTNAME UID EUID RANDOM" +
	" SECONDS LINENO BASH_SOURCE IFS EDITOR DISPLAY CI PPID OSTYPE HOSTTYPE MACHTYPE BASH" +
	" BASH_VERSION OPTARG OPTIND REPLY COLUMNS LINES FUNCNAME PYTHONPATH NODE_ENV DEBUG PORT" +
	" VERSION NO_COLOR "

// variable returns the value of a variable, and whether the script sets it.
func (s *shell) variable(name string) (value, bool) {
	if v, ok := s.vars[name]; ok {
		return v, true
	}
	switch {
	case name == "HOME":
		return value{text: "~", literal: true}, true
	case strings.HasPrefix(name, "_h"):
		if v, ok := s.holeAt(name[2:]); ok {
			if v.text == "" && !v.literal {
				v.text = "\x00" + name[2:] + "\x01"
			}
			return v, true
		}
	case len(name) == 1 && (name >= "1" && name <= "9" || name == "@" || name == "*"):
		v := value{}
		if s.scope != "" {
			v.from = set{s.functionKey("call:", s.scope, " "+name)}
		} else {
			v.from = set{s.key("in:", s.reader.script)}
		}
		if s.scope != "" && name != "@" && name != "*" {
			v.from = v.from.with(set{s.functionKey("call:", s.scope, " @")})
		}
		v.text = s.hole(v)
		return v, false
	case name == strings.ToUpper(name) && len(name) > 2 && !strings.Contains(systemVariables, " "+name+" "):
		v := s.source(Fact{Kind: ReadsVariable, Detail: name, Sure: Likely})
		v.text = s.hole(v)
		s.vars[name] = v
		return v, false
	}
	v := value{}
	v.text = s.hole(v)
	s.vars[name] = v
	return v, false
}
