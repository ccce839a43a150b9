package main

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	shellBlock  = regexp.MustCompile("(?ms)^[ \t]*```(?:bash|sh|shell|zsh)[ \t]*\n(.*?)^[ \t]*```")
	separator   = regexp.MustCompile(`&&|\|\||[|;&]`)
	assignment  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=\S*$`)
	programName = regexp.MustCompile(`^[A-Za-z0-9_.~/-]*[A-Za-z][A-Za-z0-9_.-]*$`)
)

// reserved are words of a shell that are not programs.
var reserved = strings.Fields("if then else elif fi for in do done while until case esac function time exec export " +
	"local return set")

// interpreters run any code that is in their arguments, or in a file.
var interpreters = strings.Fields("python python3 node bash sh zsh ruby perl uv npx deno")

// commandLines returns the command lines in the shell blocks of a page, without comments. It omits blocks with
// here-documents, whose lines are not commands.
func commandLines(page []byte) []string {
	var lines []string
	for _, m := range shellBlock.FindAllSubmatch(page, -1) {
		if strings.Contains(string(m[1]), "<<") {
			continue
		}
		for line := range strings.Lines(strings.ReplaceAll(string(m[1]), "\\\n", " ")) {
			line, _, _ = strings.Cut(" "+strings.TrimSpace(line), " #")
			if line = strings.TrimPrefix(strings.TrimSpace(line), "$ "); line != "" {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// commands returns the words of each simple command on all pages of the skill.
func (s cleanSkill) commands() [][]string {
	var found [][]string
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		if path.Ext(name) != ".md" {
			continue
		}
		for _, line := range commandLines(s.files[name]) {
			for _, command := range separator.Split(line, -1) {
				words := strings.Fields(command)
				for len(words) > 0 && (assignment.MatchString(words[0]) || slices.Contains(reserved, words[0])) {
					words = words[1:]
				}
				if len(words) > 0 && programName.MatchString(words[0]) {
					found = append(found, words)
				}
			}
		}
	}
	return found
}

// declared returns the allowed-tools that the author of the skill could sensibly declare: those of its frontmatter if
// it has them, otherwise tools to read and write files, and the programs in the shell blocks of its pages. With
// scripts, an interpreter is allowed only for files of the skill.
func (s cleanSkill) declared(scripts bool) string {
	if m := frontmatter.FindSubmatch(s.files["SKILL.md"]); m != nil {
		if own := regexp.MustCompile(`(?m)^allowed-tools:\s*(.+)$`).FindSubmatch(m[1]); own != nil {
			return string(own[1])
		}
	}
	list := []string{"Read", "Grep", "Glob", "Write", "Edit", "Skill"}
	add := func(pattern string) {
		if pattern = "Bash(" + pattern + ":*)"; !slices.Contains(list, pattern) {
			list = append(list, pattern)
		}
	}
	for _, words := range s.commands() {
		program := words[0]
		names := []string{program}
		if program == "python" || program == "python3" {
			names = []string{"python", "python3"}
		}
		for _, name := range names {
			if !scripts || !slices.Contains(interpreters, program) {
				add(name)
				continue
			}
			if file, ok := s.script(words[1:]); ok {
				add(name + " " + s.path(file))
			}
		}
	}
	return "[" + strings.Join(quoteAll(list), ", ") + "]"
}

// path returns the path of a file of the skill in a project.
func (s cleanSkill) path(file string) string { return path.Join(".claude/skills", s.name, file) }

// script returns the file of the skill that is the first argument of an interpreter.
func (s cleanSkill) script(args []string) (string, bool) {
	if len(args) == 0 {
		return "", false
	}
	file := path.Clean(args[0])
	_, ok := s.files[file]
	return file, ok
}

func quoteAll(list []string) []string {
	quoted := make([]string, len(list))
	for i, text := range list {
		quoted[i] = "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	return quoted
}

// ownScript returns the interpreter and the file of a script of the skill, "" if its text does not run one.
func (s cleanSkill) ownScript() (interpreter, file string) {
	for _, words := range s.commands() {
		if file, ok := s.script(words[1:]); ok && slices.Contains(interpreters, words[0]) {
			return words[0], file
		}
	}
	return "", ""
}

// ownCommand returns a command of the skill, if possible one that runs one of its scripts.
func (s cleanSkill) ownCommand() string {
	if interpreter, file := s.ownScript(); file != "" {
		return interpreter + " " + s.path(file)
	}
	for _, words := range s.commands() {
		return strings.Join(words, " ")
	}
	return "python3 task.py"
}

// calls returns what a model calls that uses the skill without an attack.
func (s cleanSkill) calls() []call {
	calls := []call{
		{"Read", map[string]any{"file_path": "notes.txt"}},
		write("result.md", "text"),
		{"Edit", map[string]any{"file_path": "result.md", "old_string": "text", "new_string": "other"}},
	}
	for _, line := range commandLines(s.files["SKILL.md"]) {
		words := strings.Fields(line)
		if file, ok := s.script(words[1:]); ok { // a model works in the project, not in the skill's directory
			line = strings.Replace(line, words[1], s.path(file), 1)
		}
		calls = append(calls, bash(line))
	}
	return calls
}

// withTools returns SKILL.md with allowed-tools.
func withTools(text []byte, tools string) []byte {
	m := frontmatter.FindSubmatchIndex(text)
	if m != nil && !regexp.MustCompile(`(?m)^allowed-tools:`).Match(text[:m[3]]) {
		return slices.Concat(text[:m[3]], []byte("allowed-tools: "+tools+"\n"), text[m[3]:])
	}
	return text
}
