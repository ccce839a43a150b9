package capability

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/scan"
	"github.com/skillpm/skillpm/pkg/internal/scan/flow"
	"github.com/skillpm/skillpm/pkg/internal/syntax"
	"github.com/skillpm/skillpm/pkg/policy"
)

// networkPrograms are programs that connect to other machines.
var networkPrograms = []string{
	"curl", "wget", "nc", "ncat", "netcat", "socat", "ssh", "scp", "sftp", "rsync", "ftp", "telnet", "aria2c",
	"httpie", "xh", "websocat", "nslookup",
	"invoke-webrequest", "invoke-restmethod", "iwr", "irm", "gh", "glab", "aws", "gcloud", "az", "kubectl", "docker",
	"openssl", "sendmail", "lftp", "rclone", "npx", "uvx", "bunx", "pipx", "pip", "pip3",
}

// writingPrograms are programs that create, change, or delete files.
var writingPrograms = []string{
	"rm", "rmdir", "mv", "cp", "mkdir", "touch", "tee", "dd", "truncate", "ln", "chmod", "chown", "shred", "unlink",
	"unzip", "tar", "bsdtar", "7z", "gunzip", "patch",
	"set-content", "add-content", "out-file", "new-item", "remove-item", "copy-item", "move-item", "del", "erase",
}

// code adds what the code of a script or the commands of a page do: of each capability and name the first place in the
// file. Data is nil for a page.
func (b *Builder) code(file string, sum *flow.Summary, data []byte) {
	before := len(b.found)
	b.facts(file, 0, sum)
	if sum.Partial() {
		b.unread(file, "has code that skillpm cannot analyze")
	}
	if data == nil {
		return
	}
	found := b.found[before:]
	has := func(c policy.Capability) bool {
		return slices.ContainsFunc(found, func(e Evidence) bool { return e.Capability == c })
	}
	for c, offset := range libraryUses(data) {
		if !has(c) {
			line := lineCounter(data)(offset)
			b.add(c, "", file, line, "has %s", quoted(strings.TrimSpace(string(lineAt(data, offset)))))
		}
	}
}

// unread adds what a script can do that is not analyzed.
func (b *Builder) unread(file, format string, args ...any) {
	for _, c := range []policy.Capability{policy.NetworkTools, policy.FileWrite} {
		b.add(c, "", file, 0, format, args...)
	}
}

// facts adds what the code of a file does. A line that is not 0 replaces the lines in the code.
func (b *Builder) facts(file string, line int, sum *flow.Summary) {
	seen := map[key]bool{}
	clients := map[string]bool{}
	add := func(c policy.Capability, name string, f flow.Fact, format string, args ...any) {
		if k := (key{c, name}); !seen[k] {
			seen[k] = true
			b.add(c, name, file, cmp.Or(line, f.Line), format, args...)
		}
	}
	for _, f := range sum.Facts() {
		switch {
		case f.Kind == flow.RunsFile:
			b.runs = append(b.runs, run{file: f.Detail, path: file, line: cmp.Or(line, f.Line)})
		case f.Inline || f.Shown && onlyExample(f):
		case f.Kind == flow.RunsComputed: // like code in a language that is not analyzed
			add(policy.NetworkTools, "", f, "runs computed code with %s", f.Detail)
			add(policy.FileWrite, "", f, "runs computed code with %s", f.Detail)
		case f.Network():
			clients[f.Client] = true
			add(policy.NetworkTools, f.Host, f, "%s", connects(f))
		case f.Kind == flow.Elevates:
			add(policy.Administrator, f.Detail, f, "runs %s", f.Detail)
		case f.Secret():
			what := cmp.Or(f.Detail, "all environment variables")
			add(policy.Secrets, what, f, "reads %s", what)
		case writes(f.Kind):
			clients[f.Client] = true
			name := f.Detail
			if f.Kind == flow.WritesFile {
				name = "" // in the skill or the project
			}
			add(policy.FileWrite, name, f, "%s", changes(f))
		}
	}
	for _, f := range sum.Programs() {
		switch name := f.Detail; {
		case clients[name]:
		case slices.Contains(networkPrograms, name):
			add(policy.NetworkTools, "", f, "runs %s", name)
		case slices.Contains(writingPrograms, name):
			add(policy.FileWrite, "", f, "runs %s", name)
		}
	}
}

// run is a command that runs a file.
type run struct {
	file string // as the command names it
	path string // of the file with the command
	line int
}

// addRuns adds the files of the skill that its commands run although they do not look like scripts or programs. Their
// code is not analyzed. The directory of a file does not matter, because commands seldom show it.
func (b *Builder) addRuns() {
	known := map[string]bool{}
	for _, e := range b.found {
		if e.Capability == policy.Scripts || e.Capability == policy.NativeBinaries {
			known[e.Name] = true
		}
	}
	for _, r := range b.runs {
		for _, name := range b.files[path.Base(r.file)] {
			if known[clean(name)] {
				continue
			}
			known[clean(name)] = true
			b.add(policy.Scripts, name, r.path, r.line, "runs the file %s", name)
			b.unread(name, "is run, but skillpm does not analyze it, because its name is not that of a script")
		}
	}
	b.runs = nil
}

// onlyExample reports whether a fact of a code block does not count: requests to unknown or reserved hosts and files in
// the project are most often examples, and a > is too often not a redirection. The programs of such a block count.
func onlyExample(f flow.Fact) bool {
	return f.Network() && (f.Host == "" || f.Reserved()) || f.Kind == flow.WritesFile ||
		f.Kind == flow.Writes && f.Client == ">"
}

// writes reports whether facts of a kind create, change, or delete files.
func writes(k flow.Kind) bool {
	switch k {
	case flow.Writes, flow.WritesFile, flow.WritesAgent, flow.WritesSkill, flow.Persists, flow.Deletes, flow.Wipes,
		flow.EncryptsFiles:
		return true
	}
	return false
}

// connects describes a network fact.
func connects(f flow.Fact) string {
	switch {
	case f.Host == "" && f.Client == "":
		return "connects to another machine"
	case f.Host == "":
		return "connects with " + f.Client
	case f.Client == "":
		return "reaches " + f.Host
	}
	return "reaches " + f.Host + " with " + f.Client
}

// changes describes a fact of a file that is written or deleted.
func changes(f flow.Fact) string {
	text := "writes "
	if f.Kind == flow.Deletes || f.Kind == flow.Wipes {
		text = "deletes "
	}
	if strings.Trim(f.Detail, "…/") == "" {
		text += "a file"
	} else {
		text += f.Detail
	}
	if f.Client != "" && f.Client != ">" {
		text += " with " + f.Client
	}
	return text
}

// command adds what a command line does that stands at a line of a file. It returns false if the line cannot be parsed.
func (b *Builder) command(file string, line int, text string) bool {
	b.facts(file, line, flow.Summarize(flow.File{Path: "command.sh", Data: []byte(text)}))
	_, err := syntax.Statements([]byte(text))
	return err == nil
}

// summarize returns what the code in a file does. A script without a known language is one of a shell if the system
// would run it with one.
func summarize(f File) *flow.Summary {
	name := f.Path
	if f.Executable && !scriptName(name) && !scan.Shebang(f.Data) {
		name += ".sh"
	}
	return flow.Summarize(flow.File{Path: name, Data: f.Data})
}

// analyzed reports whether a script is in a language that is analyzed. The system runs a script with the program of its
// first line, whatever its name is.
func analyzed(f File) bool {
	switch {
	case scan.Shebang(f.Data):
		return flow.LanguageOf("", f.Data) != flow.Other
	case scriptName(f.Path):
		return flow.LanguageOf(f.Path, f.Data) != flow.Other
	}
	return f.Executable
}

// lineAt returns the line of an offset, from the offset on.
func lineAt(data []byte, offset int) []byte {
	line, _, _ := bytes.Cut(data[offset:], []byte("\n"))
	return line
}

// lineCounter returns a function that returns the line numbers of offsets. It is fast if the offsets grow, of which a
// hostile file has very many.
func lineCounter(data []byte) func(offset int) int {
	at, line := 0, 1
	return func(offset int) int {
		offset = min(offset, len(data))
		if offset < at {
			at, line = 0, 1
		}
		line += bytes.Count(data[at:offset], []byte("\n"))
		at = offset
		return line
	}
}
