package run

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Line is the command line for the `command` field of a skill.
type Line struct {
	Argv []string
	Env  map[string]string // variables with the arguments
}

// maxCommand is the maximum length of a skill's command in bytes.
const maxCommand = 64 << 10

// Shell returns the command line for the `command` field of the skill in dir. The shell sh parses the field, which its
// author wrote; it never parses the arguments:
//
//   - The arguments are $1, $2, and "$@". $ARGUMENTS has all of them, joined with spaces.
//   - Names are variables for the arguments in the same order. A name must be lowercase; input-file becomes
//
// $input_file.
//   - If the command refers to none of these, the arguments are appended to its last program call.
//   - A word that is the path of a file of the skill, such as scripts/convert.py, means that file in any working
//     directory.
//
// Shell returns an error if the command is not valid shell syntax.
func Shell(dir, name, command string, names, args []string) (Line, error) {
	line := Line{Env: map[string]string{"ARGUMENTS": strings.Join(args, " ")}}
	for i, n := range names {
		if v := variable(n); v != "" {
			line.Env[v] = ""
			if i < len(args) {
				line.Env[v] = args[i]
			}
		}
	}
	if len(command) > maxCommand {
		return Line{}, diag.Errorf(diag.Invalid,
			"the command of %s has %d bytes; the limit is %d", name, len(command), maxCommand).
			WithHint("move the command to a script of the skill, and use the script as the command")
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil {
		return Line{}, diag.Errorf(diag.Invalid, "the command of %s is not a valid shell command: %w", name, err).
			WithHint("fix the field command in SKILL.md")
	}
	refers := false
	var words []uint // offsets of the words that name files of the skill
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			for _, w := range n.Args {
				if text := literal(w); text != "" && inside(dir, text) {
					words = append(words, w.Pos().Offset())
				}
			}
		case *syntax.ParamExp:
			if n.Param != nil {
				_, named := line.Env[n.Param.Value]
				refers = refers || named || positional(n.Param.Value)
			}
		}
		return true
	})
	inserts := map[uint]string{}
	for _, offset := range words {
		inserts[offset] = `"$SKILL_DIR"/`
	}
	if call := lastCall(file.Stmts); call != nil && !refers {
		inserts[call.Args[len(call.Args)-1].End().Offset()] = ` "$@"`
	}
	var text strings.Builder
	start := uint(0)
	for _, offset := range slices.Sorted(maps.Keys(inserts)) {
		text.WriteString(command[start:offset] + inserts[offset])
		start = offset
	}
	text.WriteString(command[start:])
	line.Argv = append([]string{"sh", "-c", text.String(), name}, args...)
	return line, nil
}

// lastCall returns the last program call of a list of statements, or nil if the list ends with something else.
func lastCall(list []*syntax.Stmt) *syntax.CallExpr {
	if len(list) == 0 {
		return nil
	}
	switch c := list[len(list)-1].Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Args) > 0 {
			return c
		}
	case *syntax.BinaryCmd:
		return lastCall([]*syntax.Stmt{c.Y})
	}
	return nil
}

// positional reports whether a shell parameter stands for arguments.
func positional(name string) bool {
	return name == "@" || name == "*" || name == "#" || name != "0" && strings.Trim(name, "0123456789") == ""
}

// variable returns the name of the variable for a named argument, or "" if there can be none. Names in capital letters
// are reserved for the system.
func variable(name string) string {
	v := strings.ReplaceAll(name, "-", "_")
	system := func(n string) bool { return sameName(n, v) }
	if !variables().MatchString(v) || slices.ContainsFunc(append(inheritedNames(), "PATH"), system) {
		return ""
	}
	return v
}

var variables = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`) })

// literal returns the text of a word without expansions, or "".
func literal(w *syntax.Word) string {
	if len(w.Parts) != 1 {
		return ""
	}
	switch p := w.Parts[0].(type) {
	case *syntax.Lit:
		if !strings.ContainsAny(p.Value, `\*?[~{=`) {
			return p.Value
		}
	case *syntax.SglQuoted:
		if !p.Dollar {
			return p.Value
		}
	case *syntax.DblQuoted:
		if len(p.Parts) != 1 {
			return ""
		}
		if lit, ok := p.Parts[0].(*syntax.Lit); ok && !strings.Contains(lit.Value, `\`) {
			return lit.Value
		}
	}
	return ""
}

// inside reports whether a relative path with a slash names a regular file of the skill.
func inside(dir, name string) bool {
	clean := path.Clean(name)
	if dir == "" || !strings.Contains(name, "/") || !fs.ValidPath(clean) ||
		!filepath.IsLocal(filepath.FromSlash(clean)) {
		return false
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer root.Close()
	info, err := root.Stat(clean)
	return err == nil && info.Mode().IsRegular()
}
