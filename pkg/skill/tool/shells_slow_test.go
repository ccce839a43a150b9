//go:build slow

package tool

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// shellPrograms are the programs that a line must mean the same in. Those after the first four are compared if the
// machine has them.
func shellPrograms() [][]string {
	return [][]string{
		{"bash", "--norc", "--noprofile"},
		{"bash", "--norc", "--noprofile", "--posix"},
		{"dash"},
		{"zsh", "-f"},
		{"zsh", "-f", "-o", "extendedglob", "-o", "rcquotes", "-o", "shwordsplit"},
		{"busybox", "sh"},
		{"ksh"},
	}
}

// TestSplitLikeShells checks SPEC O10: for each line that split accepts, real shells run only the commands that split
// returns, with the same words, and create no file. The lines come from a grammar and from mutations.
// SKILLPM_SHELL_LINES is their number, SKILLPM_SHELL_SEED the first seed, and SKILLPM_SHELL_CORPUS a file with more
// lines to mutate, as Go strings.
func TestSplitLikeShells(t *testing.T) {
	maker := lineMaker{
		rand:  rand.New(rand.NewPCG(uint64(envNumber("SKILLPM_SHELL_SEED", 1)), 0)),
		seeds: seedLines(),
	}
	if file := os.Getenv("SKILLPM_SHELL_CORPUS"); file != "" {
		data, err := os.ReadFile(file)
		must(t, err)
		for quoted := range strings.Lines(string(data)) {
			if line, err := strconv.Unquote(strings.TrimSpace(quoted)); err == nil {
				maker.seeds = append(maker.seeds, line)
			}
		}
	}
	var available [][]string
	for i, shell := range shellPrograms() {
		if i >= envNumber("SKILLPM_SHELLS", len(shellPrograms())) {
			break
		}
		if _, err := exec.LookPath(shell[0]); err == nil {
			available = append(available, shell)
		} else if i < 4 {
			t.Errorf("%s is not installed", shell[0])
		}
	}
	const perBatch = 400
	count, seen := envNumber("SKILLPM_SHELL_LINES", 3000), map[string]bool{}
	var lines []string
	for _, line := range seedLines() {
		if _, refused := split(line); refused == "" {
			lines = append(lines, line)
		}
		seen[line] = true
	}
	for len(seen) < count {
		line := maker.line()
		if seen[line] {
			continue
		}
		seen[line] = true
		if _, refused := split(line); refused == "" {
			lines = append(lines, line)
		}
	}
	var wait sync.WaitGroup
	var mu sync.Mutex
	mismatches := make([]int, len(available))
	work := make(chan func())
	for range 2 {
		wait.Go(func() {
			for f := range work {
				f()
			}
		})
	}
	for batch := range slices.Chunk(lines, perBatch) {
		for i, shell := range available {
			work <- func() {
				n := compareBatch(t, shell, batch)
				mu.Lock()
				mismatches[i] += n
				mu.Unlock()
			}
		}
	}
	close(work)
	wait.Wait()
	for i, shell := range available {
		t.Logf("%s: %d lines, %d accepted, %d mismatches", strings.Join(shell, " "), len(seen), len(lines), mismatches[i])
	}
}

func envNumber(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// recorders are the names of the functions that record their arguments.
func recorders() []string { return []string{"a", "b", "c", "d", "git", "ls", "find", "npm"} }

// compareBatch runs lines in a shell, and returns how many it runs differently than split.
func compareBatch(t *testing.T, shell, lines []string) (mismatches int) {
	dir, err := os.MkdirTemp("", "shells")
	must(t, err)
	defer os.RemoveAll(dir)
	bin := filepath.Join(dir, "bin")
	must(t, os.Mkdir(bin, 0o755))
	record := `printf '%s\0' "$#" "$n__" "$@" >>"$R__"`
	odd := "#!/bin/dash\nn__=${0##*/bin/}\n" + record + "\nexit $S__\n"
	var driver strings.Builder
	for _, name := range recorders() {
		fmt.Fprintf(&driver, "%s() { n__=%s; %s; return $S__; }\n", name, name, record)
	}
	fmt.Fprintf(&driver, "export PATH='%s' HOME=/HOME A='1 2' B='' C='x;c y' R__ S__\n", bin)
	for i, line := range lines {
		commands, _ := split(line)
		for _, c := range commands {
			if name := homeOf(firstWord(c)); isProgram(name) {
				_ = os.WriteFile(filepath.Join(bin, name), []byte(odd), 0o755)
			}
		}
		for mode := range modes(line) {
			place := fmt.Sprintf("%s/%d-%d", dir, i, mode)
			must(t, os.Mkdir(place, 0o755))
			quoted := "'" + strings.ReplaceAll(line, "'", `'\''`) + "'"
			fmt.Fprintf(&driver, "cd %s; S__=%d; R__=%s.rec; (eval %s\nwait) 2>%s.err </dev/null\n",
				place, mode, place, quoted, place)
		}
	}
	script := filepath.Join(dir, "driver")
	must(t, os.WriteFile(script, []byte(driver.String()), 0o600))
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, shell[0], append(slices.Clone(shell[1:]), script)...)
	cmd.Dir, cmd.Env = dir, []string{"LC_ALL=C.UTF-8"}
	output, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Errorf("%v: %v: %s", shell, err, output)
	}
	time.Sleep(50 * time.Millisecond) // commands in the background
	for i, line := range lines {
		if why := compareLine(dir, i, line); why != "" {
			mismatches++
			t.Errorf("%v: %q: %s", shell, line, why)
		}
	}
	return mismatches
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// modes is how often a line runs: if it depends on the result of a command, once with commands that succeed, and once
// with commands that fail.
func modes(line string) int {
	if strings.Contains(line, "&&") || strings.Contains(line, "||") {
		return 2
	}
	return 1
}

// isProgram reports whether the test installs a program that records its arguments.
func isProgram(name string) bool {
	return name != "" && !slices.Contains(recorders(), name) && !strings.Contains(name, "/") && name != "." &&
		name != ".." && len(name) < 200
}

// firstWord returns the first word of a command after assignments, "" if it is unknown.
func firstWord(c command) string {
	for _, w := range c.words {
		switch {
		case w.loose || w.globs:
			return ""
		case strings.HasPrefix(w.text, "~"):
			return ""
		case !sets(w.text):
			return w.text
		}
	}
	return ""
}

// sets reports whether a word before a command sets a variable.
func sets(text string) bool { return isAssignment(text) && !strings.Contains("0123456789+", text[:1]) }

// compareLine returns how a shell's commands differ from those of split, "" if they do not.
func compareLine(dir string, i int, line string) string {
	expected, _ := split(line)
	if slices.ContainsFunc(expected, runsOthers) {
		return ""
	}
	for mode := range modes(line) {
		place := fmt.Sprintf("%s/%d-%d", dir, i, mode)
		if files, _ := os.ReadDir(place); len(files) > 0 {
			return fmt.Sprintf("it creates %v", files)
		}
		data, _ := os.ReadFile(place + ".rec")
		if ran := readRecord(data); !allFit(expected, ran) {
			return fmt.Sprintf("it runs %q, expected %v", ran, wordsOf(expected))
		}
		stderr, _ := os.ReadFile(place + ".err")
		missing := "not found"
		if bytes.Contains(stderr, []byte("(eval):")) { // zsh, which also reports "x not found" for the word =x
			missing = "command not found"
		}
		if bytes.Contains(stderr, []byte(missing)) && !slices.ContainsFunc(expected, func(c command) bool {
			name := firstWord(c)
			return !isProgram(name) && !slices.Contains(recorders(), name)
		}) {
			return fmt.Sprintf("it runs another program: %s; expected %v", stderr, wordsOf(expected))
		}
	}
	return ""
}

// runsOthers reports whether a builtin of shells runs what its arguments name.
func runsOthers(c command) bool {
	return slices.Contains([]string{".", "source", "eval"}, firstWord(c))
}

// allFit reports whether each command that a shell ran is another one of those expected.
func allFit(expected []command, ran [][]string) bool {
	if len(ran) == 0 {
		return true
	}
	for i, c := range expected {
		if runsAs(c, ran[0]) && allFit(slices.Concat(expected[:i], expected[i+1:]), ran[1:]) {
			return true
		}
	}
	return false
}

// isLoose reports whether a word can expand to others. Wildcards match nothing in the empty working directory.
func isLoose(w word) bool { return w.loose || w.globs && strings.ContainsAny(w.text, "/~^#.") }

// wordsOf returns words with a + if they expand to others, and a * if they are wildcards.
func wordsOf(commands []command) (all [][]string) {
	for _, c := range commands {
		var words []string
		for _, w := range c.words {
			text := strconv.Quote(w.text)
			if w.loose {
				text += "+"
			}
			if w.globs {
				text += "*"
			}
			words = append(words, text)
		}
		all = append(all, words)
	}
	return all
}

// readRecord reads the commands that recorders wrote: the number of arguments, the name, and the arguments.
func readRecord(data []byte) (commands [][]string) {
	fields := strings.Split(string(data), "\x00")
	for len(fields) > 1 {
		n, err := strconv.Atoi(fields[0])
		if err != nil || len(fields) < n+2 {
			return append(commands, []string{"unreadable record"})
		}
		commands = append(commands, fields[1:n+2])
		fields = fields[n+2:]
	}
	return commands
}

// runsAs reports whether a shell could run words for a command.
func runsAs(c command, words []string) bool {
	expected := c.words
	for len(expected) > 0 && sets(expected[0].text) {
		expected = expected[1:]
	}
	return wordsFit(expected, words)
}

func wordsFit(expected []word, words []string) bool {
	if len(expected) == 0 {
		return len(words) == 0
	}
	w := expected[0]
	if isLoose(w) {
		for n := range len(words) + 1 {
			if wordsFit(expected[1:], words[n:]) {
				return true
			}
		}
		return false
	}
	return len(words) > 0 && homeOf(w.text) == words[0] && wordsFit(expected[1:], words[1:])
}

// homeOf returns the text of a word as shells expand it.
func homeOf(text string) string {
	switch {
	case text == "~" || strings.HasPrefix(text, "~/"):
		return "/HOME" + text[1:]
	case strings.HasPrefix(text, literalTilde):
		return text[1:]
	}
	return text
}

// lineMaker makes lines from a grammar, and by mutation of lines.
type lineMaker struct {
	rand  *rand.Rand
	seeds []string
}

func (m *lineMaker) pick(all []string) string { return all[m.rand.IntN(len(all))] }

func (m *lineMaker) chance(percent int) bool { return m.rand.IntN(100) < percent }

// line returns a new line.
func (m *lineMaker) line() string {
	switch n := m.rand.IntN(100); {
	case n < 55:
		return m.list()
	case n < 80:
		return m.mutated(m.list())
	case n < 95:
		return m.mutated(m.pick(m.seeds))
	}
	return m.soup()
}

// list returns commands that are joined by operators.
func (m *lineMaker) list() string {
	var out strings.Builder
	for i := range 1 + m.rand.IntN(3) {
		if i > 0 {
			out.WriteString(m.pick(spaces()) + m.operator() + m.pick(spaces()))
		}
		out.WriteString(m.command())
	}
	if m.chance(10) {
		out.WriteString(m.operator())
	}
	return out.String()
}

func (m *lineMaker) operator() string {
	if all := operators(); m.chance(30) {
		return m.pick(all)
	}
	return m.pick([]string{";", "&&", "||", "|", "&", "\n"})
}

func (m *lineMaker) command() string {
	var parts []string
	if m.chance(5) {
		parts = append(parts, m.pick(beforeCommands()))
	}
	if m.chance(6) {
		parts = append(parts, m.redirect())
	}
	if m.chance(6) {
		parts = append(parts, m.pick(assignments()))
	}
	m.rand.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	if m.chance(92) {
		parts = append(parts, m.pick(commandWords()))
	} else {
		parts = append(parts, m.word())
	}
	for range m.rand.IntN(4) {
		if m.chance(18) {
			parts = append(parts, m.redirect())
			continue
		}
		parts = append(parts, m.word())
	}
	var out strings.Builder
	for i, p := range parts {
		if i > 0 {
			out.WriteString(m.space())
		}
		out.WriteString(p)
	}
	return out.String()
}

// space returns what separates two words.
func (m *lineMaker) space() string {
	if m.chance(85) {
		return " "
	}
	return m.pick([]string{"  ", "\t", " \\\n", " \\\n ", "\t\\\n\t", "\\\n"})
}

func (m *lineMaker) redirect() string {
	if m.chance(50) {
		return m.pick([]string{">/dev/null", "2>&1", "2>/dev/null", "> /dev/null", "&>/dev/null", ">&2", "</dev/null"})
	}
	return m.pick([]string{"", "", "", "1", "2", "2", "0", "3", "10", "99", "{fd}", "-", "a"}) +
		m.pick([]string{">", ">", ">>", "<", "&>", "&>>", ">&", "<&", ">|", "<>", "<<", "<<<", ">&1", "&>|"}) +
		m.pick([]string{"", "", " ", "\t", "\\\n"}) +
		m.pick([]string{
			"/dev/null", "/dev/null", "/dev/null", "1", "2", "-", "3", "10", "b", "'/dev/null'", "/dev/null/", "$A", "&1",
			"1-", "-b", "1b", "2>&1", "/dev/nul\\l", "p", "!",
		})
}

// word returns a word with one part or several.
func (m *lineMaker) word() string {
	var out strings.Builder
	for {
		parts := wordParts()
		if m.chance(75) {
			parts = parts[:commonParts]
		}
		out.WriteString(m.pick(parts))
		if !m.chance(30) {
			return out.String()
		}
	}
}

// mutated inserts, deletes, repeats, or replaces parts of a line.
func (m *lineMaker) mutated(line string) string {
	for range 1 + m.rand.IntN(3) {
		at := m.rand.IntN(len(line) + 1)
		end := min(len(line), at+m.rand.IntN(4))
		switch m.rand.IntN(5) {
		case 0:
			line = line[:at] + line[end:]
		case 1:
			line = line[:end] + line[at:]
		case 2:
			line = line[:at] + m.pick(fragments()) + line[end:]
		default:
			line = line[:at] + m.pick(fragments()) + line[at:]
		}
	}
	return line
}

// soup returns random fragments.
func (m *lineMaker) soup() string {
	var out strings.Builder
	out.WriteString(m.pick(commandWords()) + " ")
	for range 2 + m.rand.IntN(8) {
		out.WriteString(m.pick(fragments()))
	}
	return out.String()
}

func spaces() []string {
	return []string{"", "", "", "", " ", " ", " ", " ", " ", " ", " ", " ", "\t", "\n", "\\\n", " \\\n", "  "}
}

func operators() []string {
	return []string{
		";", ";", "&&", "&&", "||", "||", "|", "|", "&", "\n", "\n", "|&", ";;", ";&", ";|", "&|", "&!", "\n\n", "!|",
		"& &", "||\n", "&&\n", "|\n", ";\n", "&\n", "\r\n", "; #", "\n#\n", "|| !", "&& !",
	}
}

func beforeCommands() []string {
	return []string{
		"!", "time", "time -p", "coproc", "{", "(", "((", "[[", "if", "then", "do", "done", "else", "fi", "while", "for",
		"case", "esac", "in", "function", "select", "until", "repeat 1", "repeat", "foreach", "end", "nocorrect",
		"noglob", "-", "export", "declare", "local", "typeset", "readonly", "integer", "float", "let", "alias a=b;",
		"alias a=b\n", ":", "[", "test", "trap", "}", ")", "))", "]]", "nameref", "private", "elif", "always", "autoload",
		"functions", "set --", "unset", "hash -d a=/x;", "setopt", "set -o", "shift",
	}
}

func assignments() []string {
	return []string{"A=1", "A=", "B=$A", "A+=x", "X='a b'", "A[0]=1", "A=~", "A=(b)", "1=2", "A=*", "A={a,b}", "A=a:~"}
}

func commandWords() []string {
	return []string{
		"a", "a", "a", "b", "b", "c", "d", "git", "npm", "find", "ls", "'a'", `"b"`, `\a`, `a''`, "a\\\n", "./x", "x-y", "1",
		"a.b", "10", "a~", "a=b", "A", "a,b", "a:b", "a%", "a+", "a@", "%1", "%", "@", "a^b", "a#b", "-a", "+a", "~/a", "~",
		"'~/a'", "=a", "'=a'", "a}", "{a", "{a}", "{}", "é", "é=1", "a[1]", "a*", "a?", "^a", ",", "_", "a/", "..", "!a", "a!", "]",
	}
}

// commonParts is how many of wordParts most shells read alike.
const commonParts = 57

func wordParts() []string {
	return []string{
		"a", "b", "-x", "--x=y", "1", "10", "2", "x.y", "/tmp", "../..", "é", "'a b'", `"a b"`, "''", `""`, `'a;b'`,
		`"a;b"`, `'a"b'`, `"a'b"`, `"$A"`, "$A", "${A}", "$B", `"${B}"`, "$?", "$", `"$"`, "'$A'", `\$A`, `"\$A"`, `\ `,
		`\;`, `\&`, `\|`, `\\`, `\'`, `\"`, "\\\n", `"\a"`, `"\\"`, `"\""`, "\"\\`\"", `"\!"`, "'\\'", `'a\'`, `'\n'`, "{a,b}",
		"{a", "a}", "{}", "{1..3}", "{a,", "}", "{", "~", "~/x", "~a", "~+", "~-", "'~'", `"~/x"`, `\~`, "a~", "a=~/x",
		"a:~/x", "=a", "a=b", "a==b", "=", "==", "*", "?", "[a]", "[!a]", "[^a]", "[", "]", "a*b", "**", "**/*", `\*`, "'*'",
		`"?"`, "^a", "a^b", "^", "#a", "a#", "a#b", "##", "a##", "%1", "@", "@a", "+", "-", "--", ",", ":", "!", "!a", "!!",
		"a!", "!$", "!-1", "'!'", `"!a"`, "+(a)", "@(a|b)", "?(a)", "!(a)", "*(e:a:)", "*(.)", "(a)", "<(a)", ">(a)", "=(a)",
		"$(b)", "`b`", "$((1))", "$[1]", "$'a'", `$'\x61'`, `$"a"`, `"$(b)"`, "${A:-b}", "${A:=b}", "$A[1]", `"$A[1]"`,
		"${A[1]}", "$1", "$@", "$*", "$#", "$$", "$!", "$-", "$=A", "$~A", "$^A", "$+A", "${(e)A}", "$A:h", "\u00a0", "\u2028",
		"\v", "\f", "\r", "\x00", "\x7f", "\u0085", "\u3000", "<<E\na\nE\n", "<<<a", "#", "'", `"`, `\`, "`", ")", "(", ";;",
		"a\\\nb", "'a\nb'", "\"a\nb\"", "\"a\\\nb\"", "done", "if", "then", "do", "in", "esac", "function", "time", "repeat",
		"<1-2>", "<a>", "<->", "a<b", "a>b", "a&b", "2>&1", "a|b", "$A$B", "$A'b'", `"$A"b`, `$A"b"`, "$Ab", "[[", "]]",
		"a,b", "a:b", "\\a", "'é'", "\\é", "ab\\", "|&", "&>", "&>/dev/null", ">&/dev/null", "10>/dev/null", "1>&2", "a\\;b",
		"\\{a,b\\}", "'{a,b}'", "a{b,c}d", "{a,b", "a,b}", "{,}", "{a..b}", "x{1..2}",
	}
}

// fragments are texts that mutations insert.
func fragments() []string {
	return append(wordParts(), " ", " ", "\t", "\n", ";", "&", "|", "<", ">", "(", ")", "{", "}", "'", `"`, `\`, "$", "`", "#",
		"!", "*", "?", "[", "]", "~", "=", "%", "^", "+", "-", "@", ",", ".", ":", "/", "0", "1", "2", "a", "b", "c", "&&", "||",
		">>", "<<", "<<-", "<<<", "<>", ">|", ">&", "<&", "&>", "&>>", "|&", "&|", "&!", ";;", ";&", ";;&", ";|", "/dev/null",
		" /dev/null", ">/dev/null", "\r", "\n#", " #", "\\\n", "\\\r\n", "EOF", "=(", "<(", "$(", "${", "$((", "((", "))", "[[",
		"]]", " b ", " ; b ", " & b ", "| b", "\nb\n", "10", "{fd}", "$'", `$"`, "=~", "~/", "a=", "A=")
}

// seedLines are lines that shells read differently, or that look like it.
func seedLines() []string {
	return []string{
		"find . &>/dev/null echo -maxdepth 0 -exec b", "a 10>/dev/null b", "a 2>&1 | b", "a >/dev/null 2>&1 &",
		"git log --format='%h %s' -n 5 | a", `git commit -m "b; c" && git push`, "npm run test -- --x=y > /dev/null",
		"a <<E\nb\nE\nc", "a &>/dev/null & b", "a >&2; b", "a 2>/dev/null || b", "a \\\n  b \\\n  c",
		"ls -la ~/x; a 'it'\\''s'", `a "x $A y" ${B}`, "a;b;c", "a && { b; }", "for x in a; do b; done", "a $(b) `c`",
		"if a; then b; fi", "a <(b) >(c)", "a {fd}>/dev/null b", "a >& /dev/null b", "a |& b", "! a", "time a", "a # b",
	}
}
