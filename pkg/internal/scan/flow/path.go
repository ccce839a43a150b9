package flow

import (
	"path"
	"slices"
	"strings"
)

// maxPath is the number of bytes of a path that are read.
const maxPath = 300

// cleanPath returns a path with slashes, the home directory as ~, and without quotes and needless parts.
func cleanPath(text string) string {
	text = strings.ReplaceAll(strings.Trim(text[:min(len(text), maxPath)], `"' `), `\`, "/")
	for _, home := range []string{
		"%userprofile%", "$env:userprofile", "$env:home", "%appdata%", "$env:appdata",
		"$env:localappdata", "%localappdata%",
	} {
		if len(text) >= len(home) && strings.EqualFold(text[:len(home)], home) {
			text = "~" + text[len(home):]
		}
	}
	if text == "" || strings.Contains(text, "://") {
		return text
	}
	cleaned := path.Clean(text)
	if strings.HasSuffix(text, "/") && cleaned != "/" {
		cleaned += "/"
	}
	return cleaned
}

// pathRule says what a path is that contains a text.
type pathRule struct {
	part string // in lower case
	kind Kind
}

// secretPaths are texts in the paths of secrets, in lower case. The first that a path contains decides.
var secretPaths = []pathRule{
	{"/.ssh/known_hosts", 0},
	{"/.ssh/config", 0},
	{"/.ssh/authorized_keys", 0},
	{".pub", 0},
	{"/nativemessaginghosts/", 0},
	{"/.ssh/", ReadsKey},
	{"/id_rsa", ReadsKey},
	{"/id_ed25519", ReadsKey},
	{"/.aws/credentials", ReadsKey},
	{"/.aws/config", 0},
	{"~/.aws/", ReadsKey},
	{"/.config/gcloud/", ReadsKey},
	{"application_default_credentials.json", ReadsKey},
	{"/.azure/", ReadsKey},
	{"/.kube/config", ReadsKey},
	{"/.docker/config.json", ReadsKey},
	{"/.netrc", ReadsKey},
	{"~/.npmrc", ReadsKey},
	{"/.pypirc", ReadsKey},
	{"/.git-credentials", ReadsKey},
	{"/.git/config", ReadsKey}, // addresses with tokens
	{"/.gnupg/", ReadsKey},
	{"/.config/gh/hosts.yml", ReadsKey},
	{"/.vault-token", ReadsKey},
	{"/etc/shadow", ReadsKey},
	{"/.terraform.d/credentials", ReadsKey},
	{"/.cargo/credentials", ReadsKey},
	{"/.pgpass", ReadsKey},
	{"/.password-store/", ReadsKey},
	{"/rclone.conf", ReadsKey},
	{"serviceaccount/token", ReadsKey},
	{"/.oci/config", ReadsKey},
	{"/etc/sudoers", ReadsKey},
	{"/login data", ReadsBrowser},
	{"cookies.sqlite", ReadsBrowser},
	{"/logins.json", ReadsBrowser},
	{"/key4.db", ReadsBrowser},
	{"places.sqlite", ReadsBrowser},
	{"/google/chrome/", ReadsBrowser},
	{"/google-chrome/", ReadsBrowser},
	{"/.mozilla/firefox", ReadsBrowser},
	{"/firefox/profiles", ReadsBrowser},
	{"bravesoftware", ReadsBrowser},
	{"/microsoft/edge/", ReadsBrowser},
	{"/safari/", ReadsBrowser},
	{"wallet.dat", ReadsWallet},
	{"/.electrum", ReadsWallet},
	{"/exodus/", ReadsWallet},
	{"/.exodus", ReadsWallet},
	{"/.ethereum/", ReadsWallet},
	{"/.bitcoin/", ReadsWallet},
	{"/solana/id.json", ReadsWallet},
	{"nkbihfbeogaeaoehlefnkodbefgpgknn", ReadsWallet},
	{"/ledger live/", ReadsWallet},
	{"/.monero", ReadsWallet},
	{"/library/keychains", ReadsKeychain},
	{"login.keychain", ReadsKeychain},
	{"/share/keyrings/login", ReadsKeychain},
	{"~/.local/share/keyrings", ReadsKeychain},
	{"/microsoft/credentials", ReadsKeychain},
	{".bash_history", ReadsHistory},
	{".zsh_history", ReadsHistory},
	{".python_history", ReadsHistory},
	{".psql_history", ReadsHistory},
	{".mysql_history", ReadsHistory},
	{".node_repl_history", ReadsHistory},
	{"consolehost_history", ReadsHistory},
	{"fish_history", ReadsHistory},
	{"/.claude/projects", ReadsAgent},
	{"/.claude.json", ReadsAgent},
	{"/.claude/.credentials", ReadsAgent},
	{"~/.claude/settings", ReadsAgent},
	{"/.codex/auth.json", ReadsAgent},
	{"/.codex/sessions", ReadsAgent},
	{"/.openclaw/media/", ReadsFile}, // pictures of conversations are what skills work with
	{"/.clawdbot/media/", ReadsFile},
	{"/.openclaw/", ReadsAgent},
	{"/.clawdbot/", ReadsAgent},
	{"/.gemini/oauth", ReadsAgent},
	{"~/.claude/history", ReadsAgent},
	{"claude_desktop_config.json", ReadsAgent},
	{"~/.cursor/", ReadsAgent},
	{"/.claude/skills/", ReadsSkill},
	{"/.codex/skills/", ReadsSkill},
	{"/.agents/skills/", ReadsSkill},
}

// readKind returns what kind of file a path names, and whether it is a secret or private.
func readKind(p string) (Kind, bool) {
	lower := strings.ToLower(p)
	base := path.Base(lower)
	switch base {
	case ".env", ".env.local", ".env.production", ".env.prod":
		return ReadsDotenv, true
	case "soul.md", "memory.md", "heartbeat.md":
		return ReadsAgent, true
	case "environ":
		if strings.HasPrefix(lower, "/proc/") {
			return ReadsEnvironment, true
		}
	}
	if !strings.HasPrefix(lower, "/") {
		lower = "/" + lower
	}
	for _, rule := range secretPaths {
		part := rule.part
		if strings.HasPrefix(part, "~") {
			part = "/" + part
		}
		if !strings.Contains(lower, part) && !(strings.HasSuffix(part, "/") && strings.HasSuffix(lower,
			part[:len(part)-1])) {
			continue
		}
		return rule.kind, rule.kind != 0
	}
	return 0, false
}

// isHome reports whether a path is the whole home directory, the root, or all files in one of them.
func isHome(p string) bool {
	switch strings.TrimSuffix(p, "/") {
	case "", "~", "/*", "~/*", "~/.*", "/root", "/home", "/Users", "/home/*", "/Users/*":
		return p != ""
	}
	return false
}

// persistPaths are texts in the paths of files that start programs automatically, in lower case.
var persistPaths = []string{
	"/.bashrc", "/.zshrc", "/.profile", "/.bash_profile", "/.zprofile", "/.zshenv", "/.zlogin", "/config.fish",
	"/etc/profile", "/etc/cron", "/var/spool/cron", "/launchagents/", "/launchdaemons/", "/systemd/system/",
	"/systemd/user/", "/.config/autostart/", "/etc/rc.local", "/etc/init.d/", "/authorized_keys", "/.git/hooks/",
	"/start menu/programs/startup", "/etc/ld.so.preload", "/sitecustomize.py", "/usercustomize.py",
	"microsoft.powershell_profile.ps1", "/etc/sudoers",
}

// agentFiles are the names of files with instructions for agents.
var agentFiles = []string{
	"CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md", ".cursorrules", ".windsurfrules", ".clinerules",
	"copilot-instructions.md", "SOUL.md", "MEMORY.md", "HEARTBEAT.md", ".claude.json", ".mcp.json",
	"claude_desktop_config.json",
}

// writeKind returns what writing a file means. It is WritesFile for a file of the project, and for a temporary one.
func writeKind(p string) Kind {
	lower := strings.ToLower(p)
	rooted := lower
	if !strings.HasPrefix(rooted, "/") {
		rooted = "/" + rooted
	}
	for _, part := range persistPaths {
		if strings.Contains(rooted, part) {
			return Persists
		}
	}
	for _, dir := range []string{"/tmp/", "/dev/", "/var/tmp/", "~/.cache/", "/private/tmp/"} {
		if strings.HasPrefix(lower, dir) {
			return WritesFile
		}
	}
	base := path.Base(p)
	if slices.Contains(agentFiles, base) {
		return WritesAgent
	}
	switch {
	case strings.Contains(rooted, "/.claude/settings"), strings.Contains(rooted, "/.claude/commands/"),
		strings.Contains(rooted, "/.claude/agents/"), strings.Contains(rooted, "/.codex/config.toml"),
		strings.Contains(rooted, "/.claude/hooks/"), strings.Contains(rooted, "/.cursor/rules/"),
		strings.Contains(rooted, "/.cursor/mcp.json"), strings.Contains(rooted, "/.gemini/settings"):
		return WritesAgent
	case strings.Contains(rooted, "/skills/"), base == "SKILL.md" && strings.Contains(lower, "/"):
		return WritesSkill
	case strings.HasPrefix(lower, "/"), strings.HasPrefix(lower, "~"), len(lower) > 2 && lower[1] == ':' &&
		lower[2] == '/':
		return Writes
	}
	return WritesFile
}

// fileKey returns the key of a file. Files with unknown names are those of one script.
func (r *reader) fileKey(p string) string {
	p = strings.TrimSuffix(strings.TrimPrefix(p, "./"), "/")
	if hasHole(p) {
		return "file:" + r.sum.path + " " + p
	}
	return "file:" + p
}

// read returns the content of a file whose path is a value.
func (r *reader) read(file value, client string) value {
	if choices := file.partsOrEmpty().choices; len(choices) > 0 {
		out := value{from: file.from}
		for _, choice := range choices {
			out = union(out, r.read(choice, client))
		}
		return out
	}
	text := cleanPath(file.text)
	switch {
	case text == "" || text == "-" || strings.HasPrefix(text, "/dev/null"):
		if file.literal {
			return value{}
		}
	case strings.HasPrefix(text, "/dev/fd"):
		return value{from: file.from}
	case strings.HasPrefix(text, "/dev/tcp/"), strings.HasPrefix(text, "/dev/udp/"):
		return r.source(connection(text))
	}
	if strings.Contains(text, "://") {
		return r.download(file, client)
	}
	out := value{from: file.from}
	if kind, ok := readKind(text); ok {
		sure := Certain
		if hasHole(text) {
			sure = Likely
		}
		out.from = out.from.with(set{r.fact(Fact{Kind: kind, Detail: text, Client: client, Sure: sure})})
		return out
	}
	if isHome(text) {
		out.from = out.from.with(set{r.fact(Fact{Kind: ReadsHome, Detail: text, Client: client})})
		return out
	}
	if text != "" {
		out.from = out.from.with(set{r.key(r.fileKey(text))})
	}
	if strings.HasPrefix(text, "\x00") || text == "" {
		out.from = out.from.with(set{r.fact(Fact{Kind: ReadsFile, Client: client, Sure: Possible})})
	}
	return out
}

// write records that content goes to a file whose path is a value.
func (r *reader) write(file, content value, client string) {
	if choices := file.partsOrEmpty().choices; len(choices) > 0 {
		for _, choice := range choices {
			r.write(choice, content, client)
		}
		return
	}
	text := cleanPath(file.text)
	switch {
	case text == "" || text == "-" || text == "/dev/null" || text == "/dev/stderr" || text == "/dev/stdout":
		return
	case strings.HasPrefix(text, "/dev/tcp/"), strings.HasPrefix(text, "/dev/udp/"):
		f := connection(text)
		f.Kind = Uploads
		r.sink(f, content)
		return
	case strings.HasPrefix(text, "/dev/sd"), strings.HasPrefix(text, "/dev/nvme"), strings.HasPrefix(text, "/dev/disk"):
		r.fact(Fact{Kind: Wipes, Detail: text, Client: client, Sure: Certain})
		return
	}
	if r.secured >= 0 && r.walks && len(content.from) > 0 && hasNode(content.from, r.secured) {
		r.fact(Fact{Kind: EncryptsFiles, Detail: "", Client: client, Sure: Possible})
	}
	r.reach(content.from, r.key(r.fileKey(text)))
	kind := writeKind(text)
	if kind == Persists && setsVariables(content.text) {
		kind = Writes
	}
	f := Fact{Kind: kind, Detail: text, Client: client}
	if kind != WritesFile && strings.HasPrefix(text, "\x00") {
		f.Sure = Possible
	}
	r.sink(f, content)
}

// setsVariables reports whether the text that is added to a shell profile only sets variables and aliases.
func setsVariables(text string) bool {
	if text == "" || strings.ContainsAny(text, "`;&|") || strings.Contains(text, "$(") {
		return false
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' && !strings.HasPrefix(line, "export ") {
			return false
		}
	}
	return true
}

func hasNode(s set, id int32) bool {
	return slices.Contains(s, id)
}

// connection returns the fact of a raw connection through a path such as /dev/tcp/host/port.
func connection(p string) Fact {
	parts := strings.Split(p, "/")
	f := Fact{Kind: Connects, Detail: strings.Join(parts[2:], "/"), Client: "/dev/tcp", Sure: Certain}
	if len(parts) > 3 {
		f.Host = bareHost(parts[3])
	}
	return f
}
