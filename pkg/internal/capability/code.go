package capability

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

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
	"openssl", "sendmail", "lftp", "rclone",
}

// writingPrograms are programs that create, change, or delete files.
var writingPrograms = []string{
	"rm", "rmdir", "mv", "cp", "mkdir", "touch", "tee", "dd", "truncate", "ln", "chmod", "chown", "shred", "unlink",
	"unzip", "patch",
	"set-content", "add-content", "out-file", "new-item", "remove-item", "copy-item", "move-item", "del", "erase",
}

// api is code that connects or writes with a library that [flow] does not know.
type api struct {
	capability policy.Capability
	pattern    *regexp.Regexp
}

// apis match names of libraries, and calls. They are wide: what they find is for users to look at, and a script that
// hides it is still a script.
var apis = sync.OnceValue(func() []api {
	return []api{
		{policy.NetworkTools, regexp.MustCompile(
			`\b(?:requests|httpx|aiohttp|urllib3?|http\.client|httplib2?|socket|websockets?|smtplib|ftplib` +
				`|paramiko|boto3|axios|node-fetch|undici|got|superagent|net|tls|dgram)\b[^\n]{0,40}?\b(?:import|get` +
				`|post|put|patch|delete|request|Session|AsyncClient|Client|ClientSession|urlopen|connect` +
				`|create_connection|socket|SMTP|FTP|require)\b` +
				`|\b(?:import|from|require\()\s*['"]?(?:requests|httpx|aiohttp|urllib|urllib3|http\.client` +
				`|socket|websockets?|smtplib|ftplib|paramiko|boto3|axios|node-fetch|undici|node:https?|node:net` +
				`|https?|net/http|net/https)\b` +
				`|\bfetch\(|\bXMLHttpRequest\b|\bWebSocket\(|\bNet::HTTP\b|\bTcpClient\b|\bWebClient\b|/dev/(?:tcp|udp)/` +
				`|\b(?:playwright|puppeteer|selenium)\b`)},
		{policy.FileWrite, regexp.MustCompile(
			`\bopen\([^\n)]{0,200}['"][rbt]*[wax][bt+]*['"]|\.(?:write_text|write_bytes|unlink|rmdir|touch|mkdir` +
				`|rename|symlink_to|to_csv|to_excel|to_json|savefig|save)\(` +
				`|\b(?:os\.(?:remove|unlink|rename|replace|rmdir|removedirs|mkdir|makedirs|chmod|truncate` +
				`|symlink)|shutil\.\w+|tempfile\.\w+)\(` +
				`|\b(?:writeFile|writeFileSync|appendFile|appendFileSync|createWriteStream|mkdirSync|unlinkSync` +
				`|rmSync|renameSync|copyFileSync|Deno\.write\w*|Bun\.write|fs\.(?:mkdir|rm|unlink|rename` +
				`|copyFile|cp))\b` +
				`|\b(?:File\.(?:write|open|delete|rename)|FileUtils\.\w+|IO\.write)\b`)},
	}
})

// code adds what the code of a script or the commands of a page do: of each capability and name the first place in the
// file. Data is nil for a page.
func (b *Builder) code(file string, sum *flow.Summary, data []byte) {
	before := len(b.found)
	b.facts(file, 0, sum)
	if data == nil {
		return
	}
	found := b.found[before:]
	has := func(c policy.Capability) bool {
		return slices.ContainsFunc(found, func(e Evidence) bool { return e.Capability == c })
	}
	for _, a := range apis() {
		if offsets := a.pattern.FindIndex(data); offsets != nil && !has(a.capability) {
			text := strings.TrimSpace(string(data[offsets[0]:offsets[1]]))
			b.add(a.capability, "", file, lineOf(data, offsets[0]), "has %s", quoted(text))
		}
	}
	if sum.Partial() {
		b.unread(file, "has code that skillpm cannot analyze")
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
		case f.Inline:
		case f.Network():
			clients[f.Client] = true
			add(policy.NetworkTools, f.Host, f, "%s", connects(f))
		case f.Secret():
			add(policy.Secrets, cmp.Or(f.Detail, "all environment variables"), f, "reads %s",
				cmp.Or(f.Detail, "all environment variables"))
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

// analyzed reports whether a script is in a language that is analyzed.
func analyzed(f File) bool {
	return flow.LanguageOf(f.Path, f.Data) != flow.Other || f.Executable && !scriptName(f.Path) && !scan.Shebang(f.Data)
}

// lineOf returns the line number of an offset.
func lineOf(data []byte, offset int) int {
	return 1 + bytes.Count(data[:min(offset, len(data))], []byte("\n"))
}
