package scan

import (
	"bytes"
	"strings"
)

// permissionLiterals are switches and settings that turn an agent's permission prompts off.
func permissionLiterals() []literal {
	var table []literal
	for _, s := range []string{
		"--dangerously-skip-permissions", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-allow-all",
		"--allow-dangerously-skip-permissions", "--yolo", "--allow-all-tools", "--trust-all-tools", "bypasspermissions",
		"danger-full-access", "--skip-permissions", "--approval-mode yolo", "--approval-mode=yolo",
		"--ask-for-approval never",
		"--ask-for-approval=never", "approval_policy = \"never\"", "approval_policy=\"never\"", "approval_policy=never",
		"chat.tools.autoapprove", "dangerouslydisablesandbox", "auto-approve all", "auto-approve every",
		"--auto-approve-all", "skipdangerousmodepermissionprompt", "--always-approve", "--no-permissions",
	} {
		table = append(table, literal{text: s, check: checkSkip, name: s})
	}
	return table
}

// permissionSwitch finds such a switch.
func (t *text) permissionSwitch(l *literal, start, end int) {
	if is(t.after(end), isWordy) || t.after(end) == '-' && l.text[0] == '-' || is(t.before(start), isWordy) {
		return
	}
	if l.text[0] == '-' && t.before(start) == '-' {
		return
	}
	if l.text == "bypasspermissions" && t.namesMode(start, end) {
		return
	}
	if strings.HasPrefix(l.text, "auto-") {
		word, next := t.nextWord(end)
		if !oneOf(word, "tool", "tools", "permission", "permissions", "actions", "commands", "requests", "prompts",
			"edits", "calls", "shell") {
			return
		}
		end = next
	}
	t.hit(SkipPermission, start, end, string(t.data[start:end]))
}

// namesMode reports whether a mode of permissions is only named: in a list of modes, or in what an agent tells a hook.
func (t *text) namesMode(start, end int) bool {
	before := bytes.TrimRight(t.data[max(0, start-40):start], " \t\"'`")
	after := bytes.TrimLeft(t.data[end:min(len(t.data), end+8)], " \t\"'`")
	return bytes.HasSuffix(before, []byte("|")) || bytes.HasPrefix(after, []byte("|")) ||
		bytes.HasSuffix(bytes.TrimRight(before, " :\"'"), []byte("permission_mode"))
}

// credentialLiterals are paths of credentials, parts of reverse shells, and sudo.
func credentialLiterals() []literal {
	table := []literal{
		{text: "sudo", check: checkSudo},
		{text: "/dev/tcp/", check: checkReverse, name: "/dev/tcp"},
		{text: "/dev/udp/", check: checkReverse, name: "/dev/udp"},
		{text: "nc ", next: "-0123456789abcdefghijklmnopqrstuvwxyz$", check: checkReverse, name: "nc"},
		{text: "netcat ", check: checkReverse, name: "nc"},
		{text: "ncat ", check: checkReverse, name: "ncat"},
		{text: "mkfifo", check: checkReverse, name: "mkfifo"},
		{text: "pty.spawn(", check: checkReverse, name: "pty.spawn"},
		{text: "os.dup2(", check: checkReverse, name: "os.dup2"},
		{text: "net.sockets.tcpclient", check: checkReverse, name: "TCPClient"},
		{text: "exec:'bash", check: checkReverse, name: "socat"},
		{text: "exec:\"bash", check: checkReverse, name: "socat"},
		{text: "exec:/bin/", check: checkReverse, name: "socat"},
		{text: "exec:bash", check: checkReverse, name: "socat"},
	}
	for _, s := range []string{
		".ssh/id_", ".aws/credentials", ".netrc", ".docker/config.json", ".kube/config", "/etc/shadow",
		".git-credentials", ".pypirc",
		".gnupg/", ".config/gh/hosts.yml", "application_default_credentials.json", ".config/gcloud/credentials",
		".azure/accesstokens",
		".azure/msal_token_cache", "login.keychain", "find-generic-password", "find-internet-password",
		"dump-keychain", "cookies.sqlite", "key4.db", "logins.json", "/login data", "/network/cookies",
		"/default/cookies",
		".config/solana/id.json", "wallet.dat", ".claude/.credentials.json", ".codex/auth.json", "~/.npmrc",
		"$home/.npmrc",
		".vault-token", ".terraform.d/credentials",
	} {
		table = append(table, literal{text: s, check: checkCredential, name: s})
	}
	return table
}

// credentialPath finds a path where credentials are stored.
func (t *text) credentialPath(l *literal, start, end int) {
	first := l.text[0]
	if first == '.' && is(t.before(start), isWordy) || first != '.' && first != '/' && is(t.before(start), isWordy) {
		return
	}
	last := l.text[len(l.text)-1]
	if last != '/' && last != '_' && is(t.after(end), isWordy) {
		return
	}
	if last == '_' { // .ssh/id_
		for end < len(t.data) && is(t.data[end], isWordy) {
			end++
		}
		if bytes.HasPrefix(t.data[end:], []byte(".pub")) {
			return // the public half
		}
	}
	for start > 0 && bytes.IndexByte([]byte("~/$%"), t.data[start-1]) >= 0 {
		start--
	}
	t.hit(CredentialPath, start, end, string(t.data[start:end]))
}

// reverseShell finds a shell that is connected to another machine.
func (t *text) reverseShell(l *literal, start, end int) {
	if start < t.checkedTo[checkReverse] || l.text[0] == 'n' && is(t.before(start), isWordy) {
		return
	}
	const reach = 200
	yes := false
	switch l.name {
	case "/dev/tcp", "/dev/udp":
		// "< /dev/tcp/host/port" alone only tries whether a port is open.
		if c := t.after(end); !is(c, isWordy) && c != '$' {
			return
		}
		if hasLoopback(t.data[end:t.lineEnd(end, 40)]) {
			return
		}
		line := t.data[t.lineStart(start, reach):t.lineEnd(end, reach)]
		yes = containsAny(line, "sh -i", "0>&1", ">& /dev/", ">&/dev/", "0<&") || containsAny(line, "exec ") &&
			containsAny(line, "<>") && t.runsInput(end)
	case "nc", "ncat":
		rest := t.data[start:t.lineEnd(end, 60)]
		yes = containsAny(rest, " -e ", " -c ", " -ne ", " -nve ", " --exec", " -lvpe ", " -e/") &&
			containsAny(rest, "sh", "cmd", "powershell")
		end--
	case "mkfifo":
		yes = containsAny(t.data[start:t.lineEnd(end, reach)], "nc ", "ncat ", "telnet ", "s_client", "netcat ")
	case "pty.spawn":
		yes = containsAny(t.data[end:t.lineEnd(end, 40)], "sh", "cmd")
	case "os.dup2":
		yes = containsAny(t.data[end:t.lineEnd(end, 40)], "fileno()") &&
			containsAny(t.data[max(0, start-400):start], "socket")
	case "TCPClient":
		t.checkedTo[checkReverse] = end + 100
		near := t.around(start, 100, 600)
		yes = containsAny(near, "getstream") && containsAny(near, "iex", "invoke-expression")
	case "socat":
		line := toLowerASCII(t.data[t.lineStart(start, reach):t.lineEnd(end, reach)])
		yes = containsAny(line, "tcp:", "tcp4:", "openssl:", "udp:")
	}
	if yes {
		t.checkedTo[checkReverse] = t.lineEnd(end, reach)
		t.hit(ReverseShell, start, end, l.name)
	}
}

// hasLoopback reports whether an address begins with this machine.
func hasLoopback(b []byte) bool {
	host, _, _ := bytes.Cut(bytes.TrimLeft(b, "/"), []byte("/"))
	return oneOf(host, "localhost", "127.0.0.1", "::1")
}

// runsInput reports whether the lines after i run what comes from a connection: a shell has it as its input, or a loop
// reads commands from it.
func (t *text) runsInput(i int) bool {
	return containsAny(t.data[i:min(len(t.data), i+reach)], "sh <&", "sh 0<&", "sh<&", "sh -i", "| sh", "| bash", "|sh",
		"|bash", "eval ", "while read", "while IFS", "while :", "while true", "source /dev/fd", "dup2")
}

// sudo finds sudo at the position of a command: at the start of a line or of inline code, or after a separator of
// commands; followed by a command, not by the words of a sentence.
func (t *text) sudo(start, end int) {
	if t.after(end) != ' ' || is(t.before(start), isWordy) || t.before(start) == '-' {
		return
	}
	i := end
	for i < len(t.data) && t.data[i] == ' ' {
		i++
	}
	if c := t.after(i); !is(c, isLower) && bytes.IndexByte([]byte("-/~$."), c) < 0 {
		return
	}
	word, next := t.nextWord(i)
	if oneOf(word, "to", "is", "and", "or", "access", "privileges", "permissions", "permission", "password",
		"rights", "in", "for", "if", "when", "mode", "command", "commands", "user", "users", "usage", "group", "rules",
		"without",
		"with", "on", "may", "can", "as", "the", "requires", "required", "prompts", "prompt", "config", "configuration",
		"unless", "where") {
		return
	}
	head := bytes.TrimRight(t.data[t.lineStart(start, 40):start], " \t")
	k := bytes.LastIndexAny(head, " \t")
	if len(head) == 0 || bytes.IndexByte([]byte("`$#|;&(\"'>-:=*!{"), head[len(head)-1]) >= 0 ||
		oneOf(head[k+1:], "run", "then", "do", "else", "exec", "xargs", "time", "if") {
		t.hit(Sudo, start, end, excerpt(t.data[start:max(end, next)]))
	}
}
