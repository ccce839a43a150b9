package interpreter_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/publish/internal/interpreter"
)

// TestCheck covers row M1 of the specification for Python and JavaScript: the position of syntax errors, and scripts
// that are correct in some context.
func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name, program, text string
		line, column        int // 0 for a script without a problem
	}{
		{"a.py", "python3", "print(1)\n", 0, 0},
		{"a.py", "python3", "x = 1\nif x\n    pass\n", 2, 5},
		{"a.py", "python3", "x = é é\n", 1, 7},
		{"a.py", "python3", "# -*- coding: latin-1 -*-\nx = '\xe9'\n", 0, 0},
		{"a.py", "python3", "\ufeffimport os\n", 0, 0},
		{"a.py", "python3", strings.Repeat("(", 1<<20), 1, 200},
		{"a.mjs", "node", "import x from 'x'\nexport default await x\n", 0, 0},
		{"a.mjs", "node", "import x from 'x'\nlet y = \n}\n", 3, 1},
		{"a.js", "node", "#!/usr/bin/env node\nconst x = require('x')\nreturn x\n", 0, 0},
		{"a.js", "node", "export const x = 1\nconst y = await x\n", 0, 0},
		{"a.js", "node", "export const x = 1\nreturn x\n", 0, 0},
		{"a.js", "node", "const x = <div/>\n", 0, 0},
		{"a.js", "node", "const x = 1\nconst x = 2\n", 2, 7},
		{"a.cjs", "node", "console.log('ready'\n", 1, 13},
		{"a.js", "node", strings.Repeat("[", 1<<20), 0, 0}, // too deep for the interpreter
		{"a.js", "node", "const x = 1\n", 0, 0},
	} {
		c := interpreter.New(environ.Process(""))
		_, err := exec.LookPath(tt.program)
		p := c.Check(tt.name, []byte(tt.text))
		c.Close()
		text := tt.text[:min(len(tt.text), 80)]
		switch {
		case err != nil:
			t.Logf("skipped: %s is not installed", tt.program)
		case p == nil && tt.line > 0:
			t.Errorf("%s %q: no problem", tt.name, text)
		case p == nil:
		case p.Line != tt.line || tt.column > 0 && tt.column != p.Column && len(tt.text) < 1<<20:
			t.Errorf("%s %q: got %+v, want %d:%d", tt.name, text, p, tt.line, tt.column)
		}
	}
}

// TestNothingRuns covers row M1 of the specification: scripts, and files next to them, are not executed, and neither is
// code that variables name.
func TestNothingRuns(t *testing.T) {
	dir := t.TempDir()
	mark := filepath.Join(dir, "executed")
	python := "open(" + quote(mark) + ", 'w').close()\n"
	node := "require('fs').writeFileSync(" + quote(mark) + ", '')\n"
	for name, text := range map[string]string{
		"json.py": python, "base64.py": python, "sitecustomize.py": python, "start.js": node,
		"package.json": `{"type": "module"}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	t.Setenv("PYTHONPATH", dir)
	t.Setenv("PYTHONSTARTUP", filepath.Join(dir, "json.py"))
	t.Setenv("NODE_OPTIONS", "--require "+filepath.Join(dir, "start.js"))
	c := interpreter.New(environ.Process(""))
	for name, text := range map[string]string{
		"a.py": python, "a.js": node, "b.js": "(function () { " + node + "})()\n", "a.mjs": "import './start.js'\n",
	} {
		if p := c.Check(name, []byte(text)); p != nil {
			t.Errorf("%s: %+v", name, p)
		}
	}
	c.Close()
	if _, err := os.Stat(mark); err == nil {
		t.Error("a script was executed")
	}
}

func quote(s string) string { return "'" + strings.ReplaceAll(filepath.ToSlash(s), "'", `\'`) + "'" }

// TestExamples checks the examples of the rules that need interpreters.
func TestExamples(t *testing.T) {
	c := interpreter.New(environ.Process(""))
	defer c.Close()
	for id, program := range map[string]string{rule.PythonSyntax: "python3", rule.JavaScriptSyntax: "node"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Logf("skipped: %s is not installed", program)
			continue
		}
		r, _ := rule.Lookup(id)
		for example, want := range map[string]bool{r.Bad: true, r.Good: false} {
			f := rule.Files(example)[1]
			if p := c.Check(f.Path, []byte(f.Text)); (p != nil) != want {
				t.Errorf("%s: got %+v for %q", id, p, f.Text)
			}
		}
	}
}
