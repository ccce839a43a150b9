package lint

import (
	"bytes"
	"path"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/scan"
	"github.com/skillpm/skillpm/pkg/internal/syntax"
)

// collectCalls records the scripts that a page's code calls by path, which need a shebang and the executable bit. A
// code span counts if it has more than the script's name.
func (u *skillCheck) collectCalls(f *file, p *page) {
	if isForMaintainers(f.rel) {
		return
	}
	for _, line := range p.Commands() {
		if bytes.IndexByte(line, '/') >= 0 && mayCall(line) {
			u.addCalls(string(line), u.called)
		}
	}
	for _, span := range p.Spans {
		switch {
		case strings.HasPrefix(span.Text, "./"):
			u.addCalls(span.Text, u.called)
		case strings.ContainsAny(span.Text, " \t"):
			u.addCalls(span.Text, u.named)
		}
	}
}

// mayCall reports whether a line of a code block can start with the path of a script: not one of a table or a drawing,
// the rest of a command that redirects its output, or text with code spans.
func mayCall(line []byte) bool {
	line = bytes.TrimSpace(line)
	return bytes.IndexByte(line, '`') < 0 && !bytes.HasPrefix(line, []byte(">")) &&
		!(bytes.HasPrefix(line, []byte("|")) && bytes.HasSuffix(line, []byte("|")))
}

func (u *skillCheck) addCalls(code string, called map[string]bool) {
	direct, interpreted := programs(code)
	for _, at := range direct {
		called[u.ownPath(at)] = true
	}
	for _, at := range interpreted {
		u.interpreted[u.ownPath(at)] = true
	}
}

// isCalled reports whether the skill calls a script by its path. In a text, scripts/run.py --all may be short for a
// command that passes the script to an interpreter.
func (u *skillCheck) isCalled(rel string) bool {
	return u.called[rel] || u.named[rel] && !u.interpreted[rel]
}

// ownPath returns the part of a path after the skill's own directory, as of ~/.agents/skills/deploy/scripts/run.
func (u *skillCheck) ownPath(p string) string {
	if _, rest, ok := strings.Cut(p, "/"+path.Base(u.dir)+"/"); ok {
		return rest
	}
	return p
}

// checkScript checks a file that is a script by its name or directory.
func (u *skillCheck) checkScript(f *file) {
	if f.isText() && (scriptExtension(f.rel) || path.Ext(f.rel) == "" && inScripts(f.rel)) {
		u.checkShebangAndMode(f)
		u.checkLineEndings(f)
	}
}

func inScripts(rel string) bool {
	dir := path.Base(path.Dir(rel))
	return dir == "scripts" || dir == "bin" || dir == "hooks"
}

func (u *skillCheck) checkShebangAndMode(file *file) {
	src, rel := file.source, file.rel
	shebang := u.checkShebang(file)
	executable := u.executable(file)
	module := path.Base(rel) == "__init__.py"
	called := u.isCalled(rel) && !module
	f := finding{rule: rule.Shebang, src: src, line: 1, column: 1, fix: shebangFor(rel)}
	switch {
	case shebang && called && !executable && !u.l.NoModes:
		f.rule, f.edits = rule.Executable, file.makeExecutable
		f.message = "the skill calls the script by its path, but the script is not executable"
		f.fix = "make the script executable with: chmod +x " + u.l.show(src.path)
	case shebang || len(file.data) == 0 || path.Ext(rel) == "" && !executable:
		return
	case called:
		f.message = "the skill calls the script by its path, but the script does not have a shebang"
	case executable && !u.interpreted[rel] && !module:
		f.severity = new(diag.SeverityNote)
		f.message = "the script is executable, but does not have a shebang"
		if f.fix != "" {
			f.fix += ", or remove its executable bit"
		}
	case shellExtension(rel) && !u.interpreted[rel]:
		f.severity = new(diag.SeverityNote)
		f.message = "the script does not have a shebang"
	default:
		return
	}
	u.add(f)
}

// executable reports whether a file has an executable bit.
func (u *skillCheck) executable(f *file) bool { return !u.l.NoModes && f.mode&0o111 != 0 }

// checkShebang checks a script's first line, and reports whether it names an interpreter.
func (u *skillCheck) checkShebang(file *file) bool {
	src := file.source
	text := bytes.TrimPrefix(src.data, []byte("\ufeff"))
	if !isShebang(text) {
		u.checkLateShebang(src, text)
		return false
	}
	first, _, terminated := bytes.Cut(text, []byte("\n"))
	f := finding{src: src, line: 1, column: 1}
	if !u.runsDirectly(file.rel) { // an interpreter reads the shebang as a comment
		f.severity = new(diag.SeverityNote)
	}
	switch interpreter := bytes.TrimSpace(first[2:]); {
	case len(text) < len(src.data):
		f.rule, f.message, f.edits = rule.ShebangBOM, "the script has a byte order mark before the shebang", file.withoutBOM
	case u.hasLineEndings(file):
		return true // a finding about the whole file
	case terminated && bytes.HasSuffix(first, []byte("\r")):
		f.rule, f.message, f.edits = rule.ShebangCRLF, "the shebang ends with a carriage return", file.unixLines
		f.column = len([]rune(string(first)))
	case len(interpreter) > 0 && interpreter[0] != '/':
		f.rule, f.message, f.column, f.severity = rule.Interpreter, "the shebang does not contain an absolute path", 3, nil
	default:
		return true
	}
	u.add(f)
	return true
}

// runsDirectly reports whether the skill's text, or one of its shell scripts, calls a script by its path.
func (u *skillCheck) runsDirectly(rel string) bool {
	if u.scriptCalls == nil {
		u.scriptCalls = map[string]bool{}
		for _, f := range u.files {
			if !f.isText() || !shellExtension(f.rel) {
				continue
			}
			direct, _ := programs(string(f.data))
			for _, at := range direct {
				u.scriptCalls[path.Base(at)] = true
			}
		}
	}
	return u.isCalled(rel) || u.scriptCalls[path.Base(rel)]
}

// isShebang reports whether text starts with #! and not with the #![ of Rust.
func isShebang(text []byte) bool { return scan.Shebang(text) }

// checkLateShebang reports a shebang on the second or third line.
func (u *skillCheck) checkLateShebang(src *source, text []byte) {
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
	return "start the script with #!/usr/bin/env " + program
}

// shellWords splits a command line at spaces that are not in quotes. It is not a shell: nothing is expanded.
func shellWords(line string) []string {
	var words []string
	var word strings.Builder
	var quote rune
	started := false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, started = r, true
		case r == ' ' || r == '\t' || r == '\n' || r == '\r':
			if started || word.Len() > 0 {
				words = append(words, word.String())
			}
			word.Reset()
			started = false
		default:
			word.WriteRune(r)
		}
	}
	if started || word.Len() > 0 {
		words = append(words, word.String())
	}
	return words
}

// skillVariables are written for the skill's own directory.
var skillVariables = []string{
	"${CLAUDE_SKILL_DIR}/", "$CLAUDE_SKILL_DIR/", "{baseDir}/", "${SKILL_DIR}/", "$SKILL_DIR/",
	"{base_path}/", "{skill_dir}/",
}

// pluginVariables are written for the directory that a plugin's skills are in, of which a skill alone knows nothing.
var pluginVariables = []string{"${CLAUDE_PLUGIN_ROOT}/", "$CLAUDE_PLUGIN_ROOT/"}

// withoutVariable removes ./ or a variable for the skill's directory from the front of a path.
func withoutVariable(p string) string {
	for _, list := range [...][]string{skillVariables, pluginVariables} {
		for _, v := range list {
			if rest, ok := strings.CutPrefix(p, v); ok {
				return rest
			}
		}
	}
	return strings.TrimPrefix(p, "./")
}

func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.Trim(name,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789") == ""
}

func isInterpreter(program string) bool {
	switch program {
	case "python", "python3", "node", "bash", "sh", "zsh", "ruby", "perl", "bun", "tsx", "ts-node", "php", "pwsh",
		"Rscript", "lua":
		return true
	}
	return false
}

// isPrefix reports whether a word stands before the command that is really run: a prompt, an assignment, or a command
// that runs another.
func isPrefix(word string) bool {
	switch word {
	case "sudo", "exec", "time", "nohup", "command", "env", "$", ">", "!":
		return true
	}
	return isAssignment(word)
}

func scriptExtension(name string) bool { return scan.ScriptName(name) }

func shellExtension(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".sh", ".bash", ".zsh":
		return true
	}
	return false
}

var separators = strings.NewReplacer("&&", "\n", "||", "\n", ";", "\n", "|", "\n", "$(", "\n", "`", "\n")

// programs returns the programs that a piece of shell runs by a path, and the scripts that it gives to an interpreter:
// as paths without ./ or a variable before them.
func programs(code string) (direct, interpreted []string) {
	if !strings.Contains(code, "/") {
		return nil, nil
	}
	for line := range strings.Lines(separators.Replace(code)) {
		if !strings.Contains(line, "/") {
			continue
		}
		words := shellWords(line)
		for len(words) > 0 && isPrefix(words[0]) {
			words = words[1:]
		}
		switch {
		case len(words) == 0:
		case isInterpreter(path.Base(words[0])) || words[0] == "uv" || words[0] == "npx" || words[0] == "deno":
			for _, word := range words[1:] {
				if strings.Contains(word, "/") && scriptExtension(word) {
					interpreted = append(interpreted, path.Clean(withoutVariable(word)))
					break
				}
			}
		case strings.Contains(words[0], "/"):
			direct = append(direct, path.Clean(withoutVariable(words[0])))
		}
	}
	return direct, interpreted
}

// ScriptProblem is a syntax error of a script. Lines and columns count from 1, columns in characters; column 0 means
// that it is unknown.
type ScriptProblem struct {
	Line, Column int
	Message      string // one sentence without a full stop
}

// checkScriptSyntax reports a script that an interpreter cannot parse. Python 2 and templates are other languages.
func (u *skillCheck) checkScriptSyntax(f *file, id string) {
	if u.l.CheckScript == nil {
		return
	}
	first, _, _ := bytes.Cut(f.data, []byte("\n"))
	if isShebang(first) && bytes.Contains(first, []byte("python2")) {
		return
	}
	if p := u.l.CheckScript(f.rel, f.data); p != nil && !syntax.HasDirective([]byte(f.line(p.Line))) {
		u.add(finding{
			rule: id, src: f.source, line: min(p.Line, len(f.index())), column: max(p.Column, 1), message: p.Message,
		})
	}
}

// checkSyntax reports scripts and data files with syntax errors.
func (u *skillCheck) checkSyntax(f *file) {
	if !f.isText() {
		return
	}
	id, check := rule.ShellSyntax, syntax.Shell
	switch ext := strings.ToLower(path.Ext(f.rel)); {
	case ext == ".json", ext == ".jsonl", ext == ".ndjson":
		id, check = rule.JSONSyntax, syntax.JSON
	case ext == ".yaml", ext == ".yml":
		id, check = rule.YAMLSyntax, syntax.YAML
	case ext == ".py":
		u.checkScriptSyntax(f, rule.PythonSyntax)
		return
	case ext == ".js", ext == ".mjs", ext == ".cjs", ext == ".ts", ext == ".mts", ext == ".cts":
		u.checkScriptSyntax(f, rule.JavaScriptSyntax)
		return
	case ext == ".sh", ext == ".bash", ext == ".zsh", ext == "" && isShebang(f.data):
		if f.summary != nil && f.summary.ValidBash() && syntax.IsBash(f.rel, f.data) {
			return
		}
	default:
		return
	}
	if id != rule.ShellSyntax && isBrokenSample(f.rel) {
		return
	}
	if p := check(f.rel, f.data); p != nil && (id != rule.YAMLSyntax || !hasPlaceholderKey(f.line(p.Line))) {
		u.add(finding{rule: id, src: f.source, line: p.Line, column: p.Column, message: p.Message})
	}
}

// isBrokenSample reports whether the path of a data file means that it is the input of a test.
func isBrokenSample(rel string) bool {
	dir, name := path.Split(strings.ToLower(rel))
	for _, word := range []string{"broken", "corrupt", "fixture", "invalid", "malformed"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	for _, word := range []string{"fixtures/", "test/", "testdata/", "tests/"} {
		if strings.HasPrefix(dir, word) || strings.Contains(dir, "/"+word) {
			return true
		}
	}
	return false
}

// hasPlaceholderKey reports whether a line of YAML is one of a template whose keys start with a placeholder, as in
// [role_name]_port: 80.
func hasPlaceholderKey(line string) bool {
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), "[")
	_, rest, closed := strings.Cut(rest, "]")
	return ok && closed && rest != "" && rest[0] != ':' && rest[0] != ' ' && strings.Contains(rest, ":")
}
