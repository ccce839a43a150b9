package lint

import (
	"bytes"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/markdown"
)

// maxCommand is the length in bytes beyond which a line of a code block is not read as a command.
const maxCommand = 4 << 10

// followCommands follows the paths in the lines of shell code blocks, and reports scripts that do not exist.
func (w *walk) followCommands(f *file, p *page) {
	for _, b := range p.Blocks {
		if !b.Shell || bytes.IndexByte(f.data[b.Offset:b.End], '/') < 0 {
			continue
		}
		var others []pathUse // of which the block decides whose they are
		for at, line := range p.Lines(b) {
			if len(line) <= maxCommand && bytes.IndexByte(line, '/') >= 0 {
				others = append(others, w.followCommand(f, p, at, line, b.Language != "")...)
			}
		}
		if len(others) > 0 && w.onlyRuns(f, p, b) {
			for _, use := range others {
				w.checkMissing(f, p, use)
			}
		}
	}
}

// followCommand follows the paths in one line. It returns the missing scripts that the line runs by paths which can also
// be those of a project.
func (w *walk) followCommand(f *file, p *page, at int, line []byte, shell bool) []pathUse {
	var others []pathUse
	for start, word := range shellFields(line) {
		if !w.mayBeOwn(word) {
			continue
		}
		pw, ok := w.pathWord(string(word))
		pw.home = pw.home && !redirectsTo(line[:start]) // such a command installs the skill there
		if !ok || w.followPath(f, p, at+start, pw) || !scriptExtension(pw.name) || writesTo(line[:start]) {
			continue
		}
		use := pathUse{pathWord: pw, start: at + start, end: at + start + len(word), certain: true}
		if pw.sure {
			w.checkMissing(f, p, use)
		} else if runs(string(line), pw.name, shell) {
			others = append(others, use)
		}
	}
	return others
}

// onlyRuns reports whether the commands of a block only run scripts of directories that the skill has. With other
// commands, a block is about a project and its scripts.
func (w *walk) onlyRuns(f *file, p *page, b markdown.Block) bool {
	if bytes.Contains(f.data, []byte("git clone")) {
		return false
	}
	for _, line := range p.Lines(b) {
		if len(line) > maxCommand {
			return false
		}
		direct, interpreted := programs(string(line))
		if startsCommand(line) && len(direct)+len(interpreted) == 0 {
			return false
		}
		for _, name := range slices.Concat(direct, interpreted) {
			if first, _, _ := strings.Cut(name, "/"); !w.tree.isDir(first) {
				return false
			}
		}
	}
	return true
}

// mayBeOwn reports whether a path with a slash starts with a variable or with a directory that the skill can have, or
// contains the directory of a skill. Most paths do not.
func (w *walk) mayBeOwn(word []byte) bool {
	if word[0] == '@' {
		word = word[1:]
	}
	word = bytes.TrimPrefix(word, []byte("./"))
	first, _, _ := bytes.Cut(word, []byte("/"))
	if len(first) == 0 {
		return bytes.Contains(word, []byte("skills/"))
	}
	return strings.IndexByte("${<", first[0]) >= 0 || standardDirs[string(first)] || w.tree.isDir(string(first)) ||
		bytes.Contains(word, []byte("skills/"))
}

// startsCommand reports whether a line of a shell code block starts with a command: not with a comment, an option, or an
// argument.
func startsCommand(line []byte) bool {
	return len(line) > 0 && (line[0] >= 'a' && line[0] <= 'z' || line[0] == '$')
}

// runs reports whether a command line runs the script of a path. Without a language, a block may also be a list of files,
// so only what an interpreter runs counts.
func runs(line, name string, shell bool) bool {
	for _, tool := range []string{" -m ", "npx ", "deno "} {
		if strings.Contains(line, tool) {
			return false
		}
	}
	direct, interpreted := programs(line)
	return slices.Contains(interpreted, path.Clean(name)) || shell && slices.Contains(direct, path.Clean(name))
}

// shellFields returns the words of a command line that have a slash, with their offsets, and without quotes and operators
// around them.
func shellFields(line []byte) iter.Seq2[int, []byte] {
	separates := func(c byte) bool {
		switch c {
		case '"', '\'', '`', ';', '|', '&', '(', ')', '=', ',':
			return true
		}
		return c <= ' '
	}
	return func(yield func(int, []byte) bool) {
		for at := 0; at < len(line); {
			if separates(line[at]) {
				at++
				continue
			}
			end := at
			for end < len(line) && !separates(line[end]) {
				end++
			}
			if bytes.IndexByte(line[at:end], '/') >= 0 && !yield(at, line[at:end]) {
				return
			}
			at = end
		}
	}
}

// writesTo reports whether the part of a command line before a path means that the command creates the file.
func writesTo(before []byte) bool {
	words := strings.Fields(string(before))
	if len(words) == 0 {
		return false
	}
	switch words[0] {
	case "touch", "mkdir", "cp", "mv":
		return true
	}
	return redirectsTo(before)
}

// redirectsTo reports whether the part of a command line before a path makes the file an output.
func redirectsTo(before []byte) bool {
	words := strings.Fields(string(bytes.TrimRight(before, "\"' ")))
	if len(words) == 0 {
		return false
	}
	switch last := words[len(words)-1]; last {
	case "-o", "--output", "-O", "tee", "touch":
		return true
	default:
		return strings.HasSuffix(last, ">")
	}
}
