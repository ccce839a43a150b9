package lint

import (
	"bytes"
	"path"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/scan"
)

// calls notes the scripts that the code of a page calls by their path, which need a shebang and the executable bit. A
// code span counts when it is more than the script's name.
func (u *unit) calls(p *page) {
	for _, line := range p.Commands() {
		if bytes.IndexByte(line, '/') >= 0 {
			u.call(string(line))
		}
	}
	for _, span := range p.Spans {
		if strings.HasPrefix(span.Text, "./") || strings.ContainsAny(span.Text, " \t") {
			u.call(span.Text)
		}
	}
}

func (u *unit) call(code string) {
	direct, given := programs(code)
	for _, at := range direct {
		u.called[u.ownPath(at)] = true
	}
	for _, at := range given {
		u.interpreted[u.ownPath(at)] = true
	}
}

// ownPath returns the part of a path after the skill's own directory, as of ~/.agents/skills/deploy/scripts/run.
func (u *unit) ownPath(p string) string {
	if _, rest, ok := strings.Cut(p, "/"+path.Base(u.dir)+"/"); ok {
		return rest
	}
	return p
}

// script checks a file that is a script by its name or place.
func (u *unit) script(f *file) {
	if f.isText() && (scriptExtension(f.rel) || path.Ext(f.rel) == "" && inScripts(f.rel)) {
		u.oneScript(f)
		u.lineEndings(f)
	}
}

func inScripts(rel string) bool {
	dir := path.Base(path.Dir(rel))
	return dir == "scripts" || dir == "bin" || dir == "hooks"
}

func (u *unit) oneScript(file *file) {
	src, rel := file.source, file.rel
	shebang := u.shebang(file)
	executable := u.executable(file)
	called := u.called[rel]
	advice := new(diag.SeverityAdvice)
	switch {
	case shebang && !executable && !called && u.interpreted[rel]: // nobody needs the bit
	case shebang && !executable && !u.l.NoModes:
		f := finding{
			rule: rule.Executable, src: src, line: 1, column: 1,
			message: "the script has a shebang and is not executable", edits: file.makeExecutable,
		}
		if f.fix = "chmod +x " + u.l.show(src.path); !called {
			f.severity = advice
		} else {
			f.message = "the script is called by its path and is not executable"
		}
		u.add(f)
	case shebang || len(file.data) == 0 || path.Ext(rel) == "" && !executable:
	case executable:
		u.add(finding{
			rule: rule.Shebang, src: src, line: 1, column: 1,
			message: "the script is executable and has no shebang", fix: shebangFor(rel),
		})
	case called:
		u.add(finding{
			rule: rule.Shebang, src: src, line: 1, column: 1,
			message: "the script is called by its path and has no shebang", fix: shebangFor(rel),
		})
	case shellExtension(rel):
		u.add(finding{
			rule: rule.Shebang, severity: advice, src: src, line: 1, column: 1,
			message: "the script has no shebang", fix: shebangFor(rel),
		})
	}
}

// executable reports whether a file has an executable bit.
func (u *unit) executable(f *file) bool { return !u.l.NoModes && f.mode&0o111 != 0 }

// shebang checks a script's first line, and reports whether it names an interpreter.
func (u *unit) shebang(file *file) bool {
	src := file.source
	text := bytes.TrimPrefix(src.data, []byte("\ufeff"))
	if !isShebang(text) {
		u.lateShebang(src, text)
		return false
	}
	first, _, whole := bytes.Cut(text, []byte("\n"))
	f := finding{src: src, line: 1, column: 1}
	switch interpreter := bytes.TrimSpace(first[2:]); {
	case len(text) < len(src.data):
		f.rule, f.message, f.edits = rule.ShebangBOM, "a byte order mark before the shebang", file.withoutBOM
	case whole && bytes.HasSuffix(first, []byte("\r")):
		f.rule, f.message, f.edits = rule.ShebangCRLF, "the shebang ends with a carriage return", file.unixLines
		f.column = len([]rune(string(first)))
	case len(interpreter) > 0 && interpreter[0] != '/':
		f.rule, f.message, f.column = rule.Interpreter, "the shebang does not name an absolute path", 3
	default:
		return true
	}
	u.add(f)
	return true
}

// isShebang reports whether text starts with #! and not with the #![ of Rust.
func isShebang(text []byte) bool { return scan.Shebang(text) }

// lateShebang reports a shebang on the second or third line.
func (u *unit) lateShebang(src *source, text []byte) {
	for n := 1; n <= 3; n++ {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		if n > 1 && bytes.HasPrefix(line, []byte("#!/")) {
			u.add(finding{
				rule: rule.ShebangLine, src: src, line: n, column: 1,
				message: "the shebang is not on the first line",
			})
			return
		}
		text = rest
	}
}

func shebangFor(rel string) string {
	program := map[string]string{
		".sh": "bash", ".bash": "bash", ".zsh": "zsh", ".py": "python3", ".rb": "ruby", ".pl": "perl", ".js": "node",
		".mjs": "node",
		".cjs": "node", ".php": "php", ".lua": "lua", ".r": "Rscript",
	}[strings.ToLower(path.Ext(rel))]
	if program == "" {
		return ""
	}
	return "let its first line be #!/usr/bin/env " + program
}
