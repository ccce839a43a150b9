package syntax

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"runtime"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// maxShell is the size in bytes of the largest script that is parsed.
const maxShell = 1 << 20

// Shell returns the first problem of a shell script, or nil. The first line, or else the name, determines the shell.
// Shell does not check binary files, files larger than a megabyte, and scripts for shells other than sh, bash, mksh,
// and bats. It ignores what follows an exit or exec at the top level, because shells read one statement after the
// other.
func Shell(name string, text []byte) *Problem {
	variant := shellVariant(name, text)
	if variant == 0 || len(text) > maxShell || bytes.IndexByte(text, 0) >= 0 {
		return nil
	}
	content := bytes.TrimPrefix(text, bom)
	at, message := parseShell(content, variant)
	if message == "" {
		return nil
	}
	if p := conflict(text); p != nil {
		return p
	}
	if line, start := lineAt(content, at); hasTemplate(line, at-start) {
		return nil
	}
	return problem(text, len(text)-len(content)+at, message)
}

// IsBash reports whether a script is checked with the syntax of bash.
func IsBash(name string, text []byte) bool { return shellVariant(name, text) == syntax.LangBash }

// shellVariant returns the language of a script, or 0 for one that is not checked.
func shellVariant(name string, text []byte) syntax.LangVariant {
	if line, ok := bytes.CutPrefix(bytes.TrimPrefix(text, bom), []byte("#!")); ok {
		line, _, _ = bytes.Cut(line, []byte{'\n'})
		return variantOf(interpreter(strings.Fields(string(line))))
	}
	base := strings.ToLower(path.Base(strings.ReplaceAll(name, `\`, "/")))
	switch base {
	case ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", "bashrc":
		return syntax.LangBash
	}
	switch ext := path.Ext(base); ext {
	case ".sh":
		return syntax.LangBash // a part of a script, or started with the name of a shell
	case ".bash", ".mksh", ".bats":
		return variantOf(ext[1:])
	}
	return 0
}

// interpreter returns the name of the program that a #! line starts.
func interpreter(words []string) string {
	for i, word := range words {
		base := path.Base(word)
		if i == 0 && base != "env" && base != "busybox" {
			return base
		}
		if i > 0 && !strings.HasPrefix(word, "-") && !strings.Contains(word, "=") {
			return base
		}
	}
	return ""
}

func variantOf(program string) syntax.LangVariant {
	switch program {
	case "sh", "dash", "ash":
		return syntax.LangPOSIX
	case "bash", "rbash":
		return syntax.LangBash
	case "mksh", "lksh":
		return syntax.LangMirBSDKorn
	case "bats":
		return syntax.LangBats
	}
	return 0
}

// parseShell returns the offset and the message of a script's error. The message is empty if the script is valid or the
// parser is not certain.
func parseShell(text []byte, variant syntax.LangVariant) (at int, message string) {
	defer ignorePanic(&message)
	r := &shallowReader{rest: text}
	var first error
	// The loop must not end early: the parser would continue to call its body.
	for stmt, err := range syntax.NewParser(syntax.Variant(variant)).StmtsSeq(r) {
		switch {
		case r.done:
		case err != nil:
			first, r.done = err, true
		case ends(stmt):
			r.done = true
		}
	}
	if first == nil {
		return 0, ""
	}
	return shellMessage(text, first)
}

func shellMessage(text []byte, err error) (int, string) {
	var bad syntax.ParseError
	var foreign syntax.LangError
	switch {
	case errors.As(err, &bad) && !late(bad):
		return int(bad.Pos.Offset()), bad.Text
	case errors.As(err, &foreign) && !polyglot(text) && (foreign.LangUsed == syntax.LangPOSIX || !expansion(foreign)):
		return int(foreign.Pos.Offset()), foreignMessage(foreign)
	case errors.Is(err, errDeep):
		return 0, err.Error()
	}
	return 0, ""
}

// late reports whether shells see an error only when they run the line, if at all. That holds for arithmetic, where the
// parser also reads the ( of a subshell as arithmetic, for the operators of ${name}, and for text that is not UTF-8.
func late(e syntax.ParseError) bool {
	if e.Incomplete {
		return false
	}
	for _, part := range [...]string{
		"arithmetic", "ternary operator", "must follow a name", "must follow an expression",
		"followed by an expression",
		"matching `((`", "matching `$((`", "matching `$[`", "matching `[`", "arameter", "@ expansion operator",
		"cannot be followed by a word",
		"`a[b]`", "`a[b]+`", "arrays cannot be nested", "invalid UTF-8",
	} {
		if strings.Contains(e.Text, part) {
			return true
		}
	}
	return false
}

// expansion reports whether an error is inside ${ } or arithmetic, which bash and mksh parse when they run the line.
// For sh such errors are reported, because sh does not support most of what they use.
func expansion(e syntax.LangError) bool {
	for _, part := range [...]string{"expansion", "arithmetic", "subscript", "unsigned", "${"} {
		if strings.Contains(e.Feature, part) {
			return true
		}
	}
	return false
}

// polyglot reports whether a script does not name its shell, or checks which shell runs it. Such a script may have
// parts for one shell only.
func polyglot(text []byte) bool {
	if !bytes.HasPrefix(text, []byte("#!")) {
		return true
	}
	for _, name := range [...]string{"BASH_VERSION", "BASH_VERSINFO", "ZSH_VERSION", "KSH_VERSION"} {
		if bytes.Contains(text, []byte(name)) {
			return true
		}
	}
	return false
}

func foreignMessage(e syntax.LangError) string {
	verb := "is"
	if strings.HasSuffix(strings.TrimSuffix(e.Feature, "`"), "s") {
		verb = "are"
	}
	var langs []string
	for _, l := range e.Langs {
		langs = append(langs, l.String())
	}
	used := e.LangUsed.String()
	if e.LangUsed == syntax.LangPOSIX {
		used = "sh"
	}
	return fmt.Sprintf("%s %s for %s, but this script is for %s", e.Feature, verb, strings.Join(langs, " or "), used)
}

// ends reports whether the shell reads nothing after a statement: exit, or exec of a program.
func ends(stmt *syntax.Stmt) bool {
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || stmt.Background || stmt.Negated || len(call.Args) == 0 {
		return false
	}
	switch wordText(call.Args[0]) {
	case "exit":
		return true
	case "exec":
		return len(call.Args) > 1
	}
	return false
}

// wordText returns a word without its quotes, or "" if it has an expansion.
func wordText(word *syntax.Word) string {
	var text strings.Builder
	for _, part := range word.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			text.WriteString(part.Value)
		case *syntax.SglQuoted:
			text.WriteString(part.Value)
		case *syntax.DblQuoted:
			if len(part.Parts) == 0 {
				continue
			}
			lit, ok := part.Parts[0].(*syntax.Lit)
			if !ok || len(part.Parts) > 1 {
				return ""
			}
			text.WriteString(lit.Value)
		default:
			return ""
		}
	}
	return text.String()
}

// maxFrames limits the recursion of the parser. Real scripts need some hundred frames.
const maxFrames = 4000

var errDeep = errors.New("the script is nested too deeply")

// shallowReader passes a script to the parser in small parts, and ends the input if the parser, which recurses into
// nested constructs, could overflow its stack.
type shallowReader struct {
	rest []byte
	done bool // the parser needs no more input
}

// Read implements [io.Reader].
func (r *shallowReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 || r.done {
		return 0, io.EOF
	}
	var pc [1]uintptr
	if runtime.Callers(maxFrames, pc[:]) > 0 {
		return 0, errDeep
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// bashParsers has parsers, which are large and can be used again.
var bashParsers = sync.Pool{New: func() any { return syntax.NewParser(syntax.Variant(syntax.LangBash)) }}

// Statements returns the statements of a shell script before its first error, and the error. It accepts the syntax of
// bash. The error is a [syntax.ParseError] or [syntax.LangError], or another one if the script is nested too deeply.
func Statements(text []byte) (stmts []*syntax.Stmt, err error) {
	defer ignorePanic(new(string))
	r := &shallowReader{rest: text}
	// The loop must not end early: the parser would continue to call its body.
	parser := bashParsers.Get().(*syntax.Parser)
	for stmt, e := range parser.StmtsSeq(r) {
		switch {
		case r.done:
		case e != nil:
			err, r.done = e, true
		default:
			stmts = append(stmts, stmt)
		}
	}
	bashParsers.Put(parser) // unless it panicked
	return stmts, err
}
