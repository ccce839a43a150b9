package syntax

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"runtime"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxShell is the size in bytes of the largest script that is parsed.
const maxShell = 1 << 20

// Shell returns the first problem of a shell script, or nil. Its first line determines the shell, else its name; it
// does not check scripts for other shells than sh, bash, mksh and bats, binary files, and files larger than a megabyte.
// Shells read one statement after the other, so it ignores what follows an exit or exec at the top level.
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

// shellVariant returns the language of a script, or 0 for one that is not read.
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

// interpreter returns the name of the program that the words after #! start.
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

// parseShell returns where and why a script cannot be read; no message if it can, or if that cannot be told.
func parseShell(text []byte, variant syntax.LangVariant) (at int, message string) {
	defer ignorePanic(&message)
	r := &shallowReader{rest: text}
	var first error
	// The loop is not left early: the parser would go on calling its body.
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

// late reports whether an error is one that shells see only when they run the line, if at all: in arithmetic, where the
// parser also takes the ( of a subshell for arithmetic's, in the operators of ${name}, and in text that is not UTF-8.
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

// expansion reports whether an error is about what stands in ${ } or in arithmetic, which bash and mksh read when they
// run the line. What they lack there, sh mostly lacks too, and to it the error is worth telling.
func expansion(e syntax.LangError) bool {
	for _, part := range [...]string{"expansion", "arithmetic", "subscript", "unsigned", "${"} {
		if strings.Contains(e.Feature, part) {
			return true
		}
	}
	return false
}

// polyglot reports whether a script does not say which shell it is for, or asks which one reads it: then what only some
// shells have may be in a part for those.
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
	return fmt.Sprintf("%s %s for %s, and this script is for %s", e.Feature, verb, strings.Join(langs, " or "), used)
}

// ends reports whether a statement is one after which the shell reads no further: exit, or exec of a program.
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

// wordText returns a word without its quotes, "" for one with an expansion.
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

// maxFrames is how deep the parser may call itself. Real scripts need some hundred frames.
const maxFrames = 4000

var errDeep = errors.New("the script nests too deep to be read")

// shallowReader gives a script to the parser in small parts, and ends it when the parser, which calls itself for
// everything that lies in something else, is in so deep that a stack could run out.
type shallowReader struct {
	rest []byte
	done bool // nothing more is wanted
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
