package capability

import (
	"bytes"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/internal/markdown"
	"github.com/skillpm/skillpm/pkg/internal/scan"
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

// programsOf returns the programs that shell code runs: the first word of each command.
func programsOf(code string) []string {
	var names []string
	for line := range strings.Lines(commandEnds().Replace(code)) {
		for word := range strings.FieldsSeq(line) {
			word = strings.Trim(word, `"'`)
			name := strings.TrimSuffix(strings.ToLower(path.Base(strings.ReplaceAll(word, `\`, "/"))), ".exe")
			if isPrefix(name) || strings.HasPrefix(word, "-") {
				continue
			}
			names = append(names, name)
			break
		}
	}
	return names
}

// commandEnds replaces the separators of shell commands by line breaks.
var commandEnds = sync.OnceValue(func() *strings.Replacer {
	var pairs []string
	for _, end := range []string{"&&", "||", ";", "|", "$(", "`", "(", "{", "&"} {
		pairs = append(pairs, end, "\n")
	}
	return strings.NewReplacer(pairs...)
})

// isPrefix reports whether a word stands before the command that is run.
func isPrefix(word string) bool {
	switch word {
	case "sudo", "doas", "exec", "time", "nohup", "command", "builtin", "env", "xargs", "busybox", "timeout", "nice",
		"then", "do", "else", "if", "while", "until", "not", "$", ">", "!", "":
		return true
	}
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && !strings.ContainsAny(name, "/.-")
}

// api are what programs of other languages call for it.
type api struct {
	capability policy.Capability
	pattern    *regexp.Regexp
}

// apis are regular expressions of what scripts have that connect or write. They are wide: what is found is for people
// to look at, and a script that hides it is a script still.
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
				`|\bfetch\(|\bXMLHttpRequest\b|\bWebSocket\(|\bNet::HTTP\b|\bLWP::|\bcurl_exec\b|\bfsockopen\b` +
				`|\bfile_get_contents\(['"]https?:|\bTcpClient\b|\bWebClient\b|/dev/(?:tcp|udp)/` +
				`|\b(?:playwright|puppeteer|selenium)\b`)},
		{policy.FileWrite, regexp.MustCompile(
			`\bopen\([^\n)]{0,200}['"][rbt]*[wax][bt+]*['"]|\.(?:write_text|write_bytes|unlink|rmdir|touch|mkdir` +
				`|rename|symlink_to|to_csv|to_excel|to_json|savefig|save)\(` +
				`|\b(?:os\.(?:remove|unlink|rename|replace|rmdir|removedirs|mkdir|makedirs|chmod|truncate` +
				`|symlink)|shutil\.\w+|tempfile\.\w+)\(` +
				`|\b(?:writeFile|writeFileSync|appendFile|appendFileSync|createWriteStream|mkdirSync|unlinkSync` +
				`|rmSync|renameSync|copyFileSync|Deno\.write\w*|Bun\.write|fs\.(?:mkdir|rm|unlink|rename` +
				`|copyFile|cp))\b` +
				`|\b(?:File\.(?:write|open|delete|rename)|FileUtils\.\w+|IO\.write)\b|\bfile_put_contents\(` +
				`|\bfopen\([^\n)]{0,200}['"][wax]`)},
	}
})

// redirection is a shell's, to a file and not to another descriptor or nowhere.
var redirection = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[^<>&=\-0-9])[0-9]?>{1,2}\|?\s*(?:[^\s&>|=(/]|/[^d\s]|/d[^e\s])` +
		`|\bsed\s[^\n]*-i\b|\bperl\s+-[a-z]*i`)
})

// program looks at a script: the first place of each thing is enough.
func (r *reader) program(file string, data []byte) {
	for _, a := range apis() {
		if offsets := a.pattern.FindIndex(data); offsets != nil {
			found := strings.TrimSpace(string(data[offsets[0]:offsets[1]]))
			r.add(a.capability, file, lineOf(data, offsets[0]), "has %s", quoted(found))
		}
	}
	if shellScript(file, data) {
		r.lines(file, data, 1)
	}
}

// shellScript reports whether a script is one of a shell.
func shellScript(file string, data []byte) bool {
	switch strings.ToLower(path.Ext(file)) {
	case ".sh", ".bash", ".zsh", ".ksh", ".fish", ".csh", ".ps1", ".psm1", ".bat", ".cmd", ".command":
		return true
	}
	first, _, _ := bytes.Cut(data, []byte("\n"))
	return scan.Shebang(data) && bytes.Contains(first, []byte("sh"))
}

// lines looks at the lines of a shell. Of each capability the first place is enough.
func (r *reader) lines(file string, data []byte, first int) {
	before := len(r.found)
	n := first - 1
	for line := range bytes.Lines(data) {
		n++
		r.line(file, n, line, before, true)
	}
}

// line looks at one line of a shell. On a page a > is too often something else than a redirection.
func (r *reader) line(file string, n int, line []byte, since int, redirects bool) {
	text := strings.TrimSpace(string(line))
	if text == "" || strings.HasPrefix(text, "#") {
		return
	}
	mark := len(r.found)
	r.commands(file, n, text)
	if redirects && redirection().MatchString(text) {
		r.add(policy.FileWrite, file, n, "writes to a file")
	}
	merged := r.found[:mark]
	for _, e := range r.found[mark:] {
		if !merged[since:].Has(e.Capability) {
			merged = append(merged, e)
		}
	}
	r.found = merged
}

// page looks at the commands that a page of Markdown tells to run.
func (r *reader) page(file string, data []byte, offset int) {
	p := markdown.Read(data, offset)
	before := len(r.found)
	end, n := 0, 1 // the offsets come in order
	for offset, line := range p.Commands() {
		if offset < end {
			end, n = 0, 1
		}
		n += lineOf(data[end:], offset-end) - 1
		end = offset
		r.line(file, n, line, before, false)
	}
}
