package syntax

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// JSON returns the first problem of a JSON file, or nil. The name determines the dialect: one document; one on each
// line (.jsonl, .ndjson); or one with comments and trailing commas, for the files of tools that allow them. JSON5 is
// not checked. A file with a placeholder at the position of an error is a template, which is not checked from there on.
// Duplicate keys are not a problem.
func JSON(name string, text []byte) *Problem {
	dialect := jsonDialect(name)
	if dialect == jsonUnchecked {
		return nil
	}
	if p := unicodeText(text, "JSON"); p != nil {
		return p
	}
	content := bytes.TrimPrefix(text, bom)
	j := jsonScanner{content: content, text: content, lenient: dialect == jsonComments}
	var ok bool
	if dialect == jsonLines {
		ok = j.lines()
	} else {
		ok = j.file()
	}
	if ok || j.template {
		return nil
	}
	if p := conflict(text); p != nil {
		return p
	}
	return problem(text, len(text)-len(content)+j.bad, j.message)
}

// The dialects of JSON.
const (
	jsonStrict    = iota
	jsonComments  // comments and commas after the last value are allowed, and the file may be empty
	jsonLines     // one document on each line
	jsonUnchecked // another language
)

// jsonDialect returns the dialect of a file by its name.
func jsonDialect(name string) int {
	name = strings.ToLower(strings.ReplaceAll(name, `\`, "/"))
	base := path.Base(name)
	switch ext := path.Ext(base); {
	case ext == ".json5", ext == ".hjson":
		return jsonUnchecked
	case ext == ".jsonl", ext == ".ndjson", ext == ".jsonlines", ext == ".ldjson":
		return jsonLines
	case slices.Contains(commentedExtensions[:], ext), slices.Contains(commentedNames[:], base):
		return jsonComments
	}
	if ok, _ := path.Match("[jt]sconfig*.json", base); ok {
		return jsonComments
	}
	for dir := range strings.SplitSeq(path.Dir(name), "/") {
		if slices.Contains(commentedDirs[:], dir) {
			return jsonComments
		}
	}
	return jsonStrict
}

// Files of tools that read JSON with comments: TypeScript, VS Code and editors based on it, development containers,
// Babel, ESLint, JSHint, TSLint, SWC, Deno, Wrangler, Turborepo, Nx, Angular, API Extractor, TypeDoc, markdownlint,
// Biome, Oxlint, Sublime Text, Windows Terminal.
var (
	commentedExtensions = [...]string{
		".jsonc", ".code-workspace", ".code-snippets", ".code-profile", ".sublime-project", ".sublime-settings",
		".sublime-keymap", ".sublime-build", ".sublime-commands", ".babelrc", ".eslintrc", ".jshintrc", ".jslintrc",
		".jscsrc",
		".swcrc", ".hintrc", ".tern-project",
	}
	commentedNames = [...]string{
		"devcontainer.json", ".devcontainer.json", "devcontainer-feature.json", "devcontainer-template.json",
		".eslintrc.json", "babel.config.json", ".babelrc.json", "tslint.json", "api-extractor.json", "typedoc.json",
		"deno.json", "wrangler.json", "turbo.json", "nx.json", "angular.json", "biome.json", ".oxlintrc.json",
		".markdownlint.json", "language-configuration.json", "launch.json", "tasks.json", "keybindings.json",
		"c_cpp_properties.json", "argv.json", ".hintrc.json", "jsdoc.json", "rush.json",
	}
	commentedDirs = [...]string{".vscode", ".vscode-insiders", ".devcontainer", ".zed", ".cursor", ".windsurf"}
)

// unicodeText returns the problem of a text that is not UTF-8.
func unicodeText(text []byte, format string) *Problem {
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return &Problem{Line: 1, Column: 1, Message: "the file is UTF-16, but " + format + " must be UTF-8"}
	}
	if utf8.Valid(text) {
		return nil
	}
	at := 0
	for at < len(text) {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size <= 1 {
			break
		}
		at += size
	}
	return problem(text, at, fmt.Sprintf("byte 0x%02x is not valid UTF-8", text[at]))
}
