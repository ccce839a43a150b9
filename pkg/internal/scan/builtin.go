// Code generated from the rule files in rules; DO NOT EDIT.
// Write it with: go test ./pkg/internal/scan/rulefile -update

package scan

import "github.com/skillpm/skillpm/pkg/diag"

// Builtin returns the rules of skillpm.
func Builtin() []*Rule {
	list := make([]*Rule, len(builtin))
	for i := range builtin {
		list[i] = &builtin[i]
	}
	return list
}

var builtin = [...]Rule{
	{
		ID: "SEC101", Title: "password-protected archive", Severity: diag.SeverityError,
		Signal: "evasion", Points: 10,
		Shapes: []Shape{
			{
				In:   117,
				Kind: EncryptedArchive,
			},
		},
	},
	{
		ID: "SEC102", Title: "encoded text that a shell runs", Severity: diag.SeverityError,
		Signal: "evasion", Points: 10,
		Shapes: []Shape{
			{
				In:   13,
				Kind: FlowDecoded,
			},
			{
				In:   125,
				Kind: Base64Shell,
			},
		},
	},
	{
		ID: "SEC103", Title: "encoded text that is a command", Severity: diag.SeverityError,
		Signal: "evasion", Points: 10,
		Shapes: []Shape{
			{
				In:   127,
				Kind: EncodedCommand,
			},
		},
	},
	{
		ID: "SEC104", Title: "program from a bare IP address", Severity: diag.SeverityError,
		Signal: "execution", Points: 10,
		Shapes: []Shape{
			{
				In:   125,
				Kind: RawIPShell,
			},
		},
	},
	{
		ID: "SEC105", Title: "link to a paste site", Severity: diag.SeverityError,
		Signal: "supply-chain", Points: 10,
		Shapes: []Shape{
			{
				In:   125,
				Kind: PasteSite,
			},
			{
				In:       60,
				Points:   4,
				Severity: new(diag.SeverityWarning),
				Kind:     PasteLink,
			},
		},
	},
	{
		ID: "SEC106", Title: "invisible tag characters", Severity: diag.SeverityError,
		Signal: "concealment", Points: 10,
		Shapes: []Shape{
			{
				In:     127,
				Quoted: true,
				Kind:   TagCharacters,
			},
		},
	},
	{
		ID: "SEC107", Title: "characters that reverse the direction of text", Severity: diag.SeverityError,
		Signal: "concealment", Points: 10,
		Shapes: []Shape{
			{
				In:     127,
				Quoted: true,
				Kind:   BidiControls,
			},
		},
	},
	{
		ID: "SEC108", Title: "several invisible characters in a row", Severity: diag.SeverityError,
		Signal: "concealment", Points: 10,
		Shapes: []Shape{
			{
				In:     127,
				Quoted: true,
				Kind:   ZeroWidthRun,
			},
		},
	},
	{
		ID: "SEC111", Title: "secret", Severity: diag.SeverityError,
		Shapes: []Shape{
			{
				In:     127,
				Quoted: true,
				Kind:   Secret,
			},
		},
	},
	{
		ID: "SEC112", Title: "text after many blank lines", Severity: diag.SeverityError,
		Signal: "concealment", Points: 10,
		Shapes: []Shape{
			{
				In:     127,
				Quoted: true,
				Kind:   BlankPadding,
			},
		},
	},
	{
		ID: "SEC116", Title: "secrets that are sent to another machine", Severity: diag.SeverityError,
		Signal: "exfiltration", Points: 10,
		Shapes: []Shape{
			{
				In:   13,
				Kind: FlowSecrets,
			},
			{
				About: "curl uploads a file of credentials",
				In:    109,
				Any: []Pattern{
					{Text: `\bcurl\b[^\n]*(?:@|-T\s|--upload-file[ =])`, Regexp: true, Atoms: []string{"curl"}},
				},
				All: []Pattern{
					{
						Text: `(?:@|-T\s*|--upload-file[ =])["']?[^\s"']*(?:\.ssh/(?:config|\*|id_\w+(?:[^.\w]|$))|\bid_(` +
							`?:rsa|ed25519|ecdsa|dsa)(?:[^.\w]|$)|\.ssh\b["']?(?:/?\*|\s|$)|\.aws/(?:credentials|config` +
							`)|\.netrc\b|\.npmrc\b|\.pypirc\b|\.git-credentials|\.kube/config|\.docker/config\.json|/et` +
							`c/(?:passwd|shadow)\b|\.gnupg\b|keychain|wallet\.dat|\.config/gcloud|\.azure/|credentials\` +
							`.json|\.(?:bash|zsh)_history|login data\b|cookies\.sqlite|\.env(?:\.local|\.production)?["` +
							`'\s)]|\.env(?:\.local|\.production)?$)`,
						Regexp: true,
						Atoms: []string{
							".aws/config", ".aws/credentials", ".azure/",
							".config/gcloud", ".docker/config.json", ".env",
							".git-credentials", ".gnupg", ".kube/config", ".netrc",
							".npmrc", ".pypirc", ".ssh", ".ssh\t", ".ssh\n", ".ssh\f",
							".ssh\r", ".ssh ", ".ssh\"", ".ssh\"\t", ".ssh\"\n",
							".ssh\"\f", ".ssh\"\r", ".ssh\" ", ".ssh\"*", ".ssh\"/*",
							".ssh'", ".ssh'\t", ".ssh'\n", ".ssh'\f", ".ssh'\r",
							".ssh' ", ".ssh'*", ".ssh'/*", ".ssh*", ".ssh/", ".ssh/*",
							"/etc/passwd", "/etc/shadow", "_history", "cookies.sqlite",
							"credentials.json", "id_dsa", "id_ecdsa", "id_ed25519",
							"id_rsa", "keychain", "login data", "wallet.dat",
						},
					},
				},
				Start: []string{"curl"},
			},
			{
				About: "a file of credentials is piped to a network program",
				In:    109,
				Any: []Pattern{
					{Text: "| curl ", Atoms: []string{"| curl "}},
					{Text: "|curl ", Atoms: []string{"|curl "}},
					{Text: "| wget ", Atoms: []string{"| wget "}},
					{Text: "| nc ", Atoms: []string{"| nc "}},
					{Text: "|nc ", Atoms: []string{"|nc "}},
					{Text: "| ncat ", Atoms: []string{"| ncat "}},
					{Text: "| socat ", Atoms: []string{"| socat "}},
					{Text: "| telnet ", Atoms: []string{"| telnet "}},
					{Text: "| ssh ", Atoms: []string{"| ssh "}},
				},
				All: []Pattern{
					{
						Text:   `\b(?:cat|tar|zip|base64|gzip|xxd|head|tail|find|grep|openssl|strings)\b`,
						Regexp: true,
					},
					{
						Text: `(?:\.ssh/(?:config|\*|id_\w+(?:[^.\w]|$))|\bid_(?:rsa|ed25519|ecdsa|dsa)(?:[^.\w]|$)|\.ssh` +
							`\b["']?(?:/?\*|\s|$)|\.aws/(?:credentials|config)|\.netrc\b|\.npmrc\b|\.pypirc\b|\.git-cre` +
							`dentials|\.kube/config|\.docker/config\.json|/etc/(?:passwd|shadow)\b|\.gnupg\b|keychain|w` +
							`allet\.dat|\.config/gcloud|\.azure/|credentials\.json|\.(?:bash|zsh)_history|login data\b|` +
							`cookies\.sqlite|\.env(?:\.local|\.production)?["'\s)]|\.env(?:\.local|\.production)?$)`,
						Regexp: true,
						Atoms: []string{
							".aws/config", ".aws/credentials", ".azure/",
							".config/gcloud", ".docker/config.json", ".env",
							".git-credentials", ".gnupg", ".kube/config", ".netrc",
							".npmrc", ".pypirc", ".ssh", ".ssh\t", ".ssh\n", ".ssh\f",
							".ssh\r", ".ssh ", ".ssh\"", ".ssh\"\t", ".ssh\"\n",
							".ssh\"\f", ".ssh\"\r", ".ssh\" ", ".ssh\"*", ".ssh\"/*",
							".ssh'", ".ssh'\t", ".ssh'\n", ".ssh'\f", ".ssh'\r",
							".ssh' ", ".ssh'*", ".ssh'/*", ".ssh*", ".ssh/", ".ssh/*",
							"/etc/passwd", "/etc/shadow", "_history", "cookies.sqlite",
							"credentials.json", "id_dsa", "id_ecdsa", "id_ed25519",
							"id_rsa", "keychain", "login data", "wallet.dat",
						},
					},
				},
				Unless: []Pattern{
					{Text: `\|\s*ssh\s[^\n]*authorized_keys`, Regexp: true, Atoms: []string{"authorized_keys"}},
				},
				Start: []string{
					"| curl ", "| nc ", "| ncat ", "| socat ", "| ssh ",
					"| telnet ", "| wget ", "|curl ", "|nc ",
				},
			},
			{
				About: "all environment variables are sent",
				In:    109,
				Any: []Pattern{
					{Text: "env | ", Atoms: []string{"env | "}},
					{Text: "env|", Atoms: []string{"env|"}},
					{Text: "printenv", Atoms: []string{"printenv"}},
					{Text: "export -p ", Atoms: []string{"export -p "}},
				},
				All: []Pattern{
					{
						Text: "(?:^|[\\s;&(`\"'])(?:env|printenv|export -p)\\s*(?:\\|\\s*(?:grep" +
							`|base64|sort|gzip|jq|tr|xxd|head|cut|sed|awk|openssl)\b[^\n|]*)*\|\s*(?:curl|wget|nc|ncat|` +
							`socat)\s`,
						Regexp: true,
					},
				},
				Start: []string{"env | ", "env|", "export -p ", "printenv"},
			},
			{
				About: "all environment variables are in a request",
				In:    109,
				Any: []Pattern{
					{
						Text: "\\b(?:curl|wget)\\b[^\\n]*(?:\\$\\(|`)\\s*(?:env|printenv)\\s*(?:\\)" +
							"|\\||`)",
						Regexp: true,
						Atoms:  []string{"curl", "wget"},
					},
					{
						Text: `(?:gci|get-childitem|dir|ls)\s+env:[^\n]*\|[^\n]*(?:invoke-restmethod|invoke-webrequest|ir` +
							`m|iwr)\b`,
						Regexp: true,
						Atoms:  []string{"env:"},
					},
				},
				Start: []string{"curl", "env:", "wget"},
			},
			{
				About: "the name of a host carries data",
				In:    109,
				Any: []Pattern{
					{
						Text: "(?:^|[;&|(`\\\"']|\\b(?:do|then|else|sudo|exec|run)\\s)\\s*(?:dig" +
							"|nslookup|host|ping|drill)\\s+(?:[^\\s:=`][^\\n`]*)?(?:\\$\\([^\\n" +
							"`]*|`)(?:base64|base32|xxd|hexdump|\\bcat\\s|printenv|whoami|h" +
							`ostname|\bid\b|echo \$|[a-z_]*(?:token|secret|passw|_key))`,
						Regexp: true,
						Atoms: []string{
							"dig\t", "dig\n", "dig\f", "dig\r", "dig ", "drill\t",
							"drill\n", "drill\f", "drill\r", "drill ", "host\t",
							"host\n", "host\f", "host\r", "host ", "nslookup\t",
							"nslookup\n", "nslookup\f", "nslookup\r", "nslookup ",
							"ping\t", "ping\n", "ping\f", "ping\r", "ping ",
						},
					},
				},
				Unless: []Pattern{
					{Text: `\bcopy\s*\(\s*select\b[^\n]*\bto\s+program\b`, Regexp: true, Atoms: []string{"program"}},
				},
				Start: []string{
					"dig\t", "dig\n", "dig\f", "dig\r", "dig ", "drill\t",
					"drill\n", "drill\f", "drill\r", "drill ", "host\t",
					"host\n", "host\f", "host\r", "host ", "nslookup\t",
					"nslookup\n", "nslookup\f", "nslookup\r", "nslookup ",
					"ping\t", "ping\n", "ping\f", "ping\r", "ping ",
				},
			},
			{
				About: "the text asks to read a file of credentials and to pass it on",
				In:    48,
				Any: []Pattern{
					{
						Text: `\b(?:include|pass|send|append|attach|embed|insert|upload|post|forward|transmit|exfiltrate|` +
							`share)\b[^\n]*\b(?:contents?|values?|text|keys?|lines)\b[^\n]*(?:\.ssh\/(?:id_|config|\*)|` +
							`\bid_(?:rsa|ed25519|ecdsa)\b|\.aws\/credentials|\.netrc\b|\.npmrc\b|\.pypirc\b|\.git-crede` +
							`ntials|\.kube\/config|\.docker\/config\.json|\/etc\/shadow\b|\.gnupg\b|wallet\.dat|\.confi` +
							`g\/gcloud|login data\b|cookies\.sqlite)`,
						Regexp: true,
						Atoms: []string{
							".aws/credentials", ".config/gcloud", ".docker/config.json",
							".git-credentials", ".gnupg", ".kube/config", ".netrc",
							".npmrc", ".pypirc", ".ssh/", "/etc/shadow",
							"cookies.sqlite", "id_ecdsa", "id_ed25519", "id_rsa",
							"login data", "wallet.dat",
						},
					},
					{
						Text: `\b(?:read|open|load|cat|fetch|collect|copy)\b[^\n]*(?:\.ssh\/(?:id_|config|\*)|\bid_(?:rsa` +
							`|ed25519|ecdsa)\b|\.aws\/credentials|\.netrc\b|\.npmrc\b|\.pypirc\b|\.git-credentials|\.ku` +
							`be\/config|\.docker\/config\.json|\/etc\/shadow\b|\.gnupg\b|wallet\.dat|\.config\/gcloud|l` +
							`ogin data\b|cookies\.sqlite)[^\n]*\b(?:and|then)\s+(?:include|pass|send|append|attach|embe` +
							`d|insert|upload|post|forward|transmit|share)\b`,
						Regexp: true,
						Atoms: []string{
							".aws/credentials", ".config/gcloud", ".docker/config.json",
							".git-credentials", ".gnupg", ".kube/config", ".netrc",
							".npmrc", ".pypirc", ".ssh/", "/etc/shadow",
							"cookies.sqlite", "id_ecdsa", "id_ed25519", "id_rsa",
							"login data", "wallet.dat",
						},
					},
				},
				Unless: []Pattern{
					{
						Text: `\b(?:never|not|don.t|avoid|refuse)\b[^\n.]{0,60}\b(?:include|pass|send|append|attach|embed` +
							`|insert|upload|post|forward|transmit|share|read|open|load|cat|copy)`,
						Regexp: true,
					},
				},
				Start: []string{
					".aws/credentials", ".config/gcloud", ".docker/config.json",
					".git-credentials", ".gnupg", ".kube/config", ".netrc",
					".npmrc", ".pypirc", ".ssh/", "/etc/shadow",
					"cookies.sqlite", "id_ecdsa", "id_ed25519", "id_rsa",
					"login data", "wallet.dat",
				},
				Lines: 1,
			},
		},
	},
	{
		ID: "SEC117", Title: "downloaded text that runs", Severity: diag.SeverityError,
		Signal: "execution", Points: 10,
		Shapes: []Shape{
			{
				In:   13,
				Kind: FlowDownload,
			},
			{
				About: "code runs the answer of a request",
				In:    45,
				Any: []Pattern{
					{
						Text: `(?:^|[^.\w])(?:exec|eval|new function|execsync) ?\(\s*(?:compile\(\s*)?(?:await\s+)?\(?(?:` +
							`await\s+)?(?:requests|urllib3?|httpx|urlopen|fetch|axios|session|client|http)\b[^\n]*(?:\.` +
							`get|\.post|urlopen|fetch|\.text|\.content|\.read|\.data|request)`,
						Regexp: true,
						Atoms: []string{
							"eval (", "eval(", "exec (", "exec(", "execsync (",
							"execsync(", "new function (", "new function(",
						},
					},
					{
						Text:   `\b(?:pickle|marshal|dill|cloudpickle)\.loads\(\s*(?:requests|urllib|httpx|urlopen|session)`,
						Regexp: true,
						Atoms:  []string{".loads("},
					},
					{
						Text:   `\bpython3?\s+-c\s+["']?\$\(\s*(?:curl|wget)\b`,
						Regexp: true,
						Atoms:  []string{"curl", "wget"},
					},
				},
				Start: []string{
					".loads(", "curl", "eval (", "eval(", "exec (", "exec(",
					"execsync (", "execsync(", "new function (", "new function(",
					"wget",
				},
			},
			{
				About: "code runs a variable that holds the answer of a request",
				In:    9,
				Any: []Pattern{
					{
						Text: `(?:^|[^.\w])(?:exec|eval|execfile|new function) ?\(\s*(?:compile\(\s*)?(?:code|payload|scr` +
							`ipt|source|src|body|data|text|content|resp|response|res|remote|downloaded|stage|plugin|mod` +
							`ule|r)(?:\.text|\.content|\.data|\.read\(\))?(?:\.decode\([^)]*\))?\s*[,)]`,
						Regexp: true,
						Atoms: []string{
							"eval (", "eval(", "exec (", "exec(", "execfile (",
							"execfile(", "new function (", "new function(",
						},
					},
				},
				All: []Pattern{
					{
						Text: `=\s*(?:await\s+)?\(?(?:await\s+)?(?:requests\.get|httpx\.get|urllib\.request\.urlopen|urlo` +
							`pen|fetch|axios\.get|axios|session\.get|client\.get)\(`,
						Regexp: true,
						Atoms: []string{
							"axios(", "axios.get(", "client.get(", "fetch(",
							"httpx.get(", "requests.get(", "session.get(",
							"urllib.request.urlopen(", "urlopen(",
						},
					},
				},
				Start: []string{
					"axios(", "axios.get(", "client.get(", "fetch(",
					"httpx.get(", "requests.get(", "session.get(",
					"urllib.request.urlopen(", "urlopen(",
				},
				Lines: 8,
			},
			{
				About: "code runs a hidden or temporary file",
				In:    13,
				Any: []Pattern{
					{
						Text: `(?:^|[^.\w])(?:exec|eval)\s*\(\s*(?:compile\(\s*)?open\(\s*["'](?:\/tmp\/|\/var\/tmp\/|\/d` +
							`ev\/shm\/|~\/\.)`,
						Regexp: true,
						Atoms:  []string{"open("},
					},
				},
				Start: []string{"open("},
			},
			{
				About: "a hidden PowerShell downloads or decodes a program",
				In:    125,
				Any: []Pattern{
					{
						Text:   `\b(?:powershell|pwsh)(?:\.exe)?\b[^\n]*\s-w(?:i|in|indowstyle)?\s+hidden\b`,
						Regexp: true,
						Atoms:  []string{"\thidden", "\nhidden", "\fhidden", "\rhidden", " hidden"},
					},
				},
				All: []Pattern{
					{
						Text: `downloadstring|downloadfile|downloaddata|invoke-webrequest|invoke-restmethod|\biwr\s|\birm` +
							`\s|\biex\b|-enc|frombase64`,
						Regexp: true,
					},
				},
				Start: []string{"\thidden", "\nhidden", "\fhidden", "\rhidden", " hidden"},
			},
			{
				About: "the installation of a package runs a download",
				In:    72,
				Any: []Pattern{
					{
						Text: `"(?:pre|post)?install"\s*:\s*"[^"\n]*(?:\b(?:curl|wget)\b[^"\n]*\|\s*(?:sudo\s+)?(?:ba|z)?` +
							`sh\b|\bnode\s+-e\b[^"\n]*(?:https?\.get|fetch\())`,
						Regexp: true,
						Atoms:  []string{"install\""},
					},
				},
				Start: []string{"install\""},
			},
		},
	},
	{
		ID: "SEC118", Title: "cryptocurrency miner", Severity: diag.SeverityError,
		Signal: "resources", Points: 10,
		Shapes: []Shape{
			{
				About: "a program mines for an account",
				In:    109,
				Any: []Pattern{
					{Text: `\bstratum\+(?:tcp|ssl|tls):\/\/`, Regexp: true, Atoms: []string{"stratum+"}},
					{
						Text: `\b(?:xmrig|cpuminer|minerd|nbminer|lolminer|t-rex|ethminer|phoenixminer)\b[^\n]*(?:--url|-` +
							`-pool|--user|--wallet|--algo|\s-o\s|\s-u\s|--donate)`,
						Regexp: true,
						Atoms: []string{
							"cpuminer", "ethminer", "lolminer", "minerd", "nbminer",
							"phoenixminer", "t-rex", "xmrig",
						},
					},
					{
						Text:   `\bcoinhive\.(?:anonymous|user|token|min\.js|com)\b|\bcryptonight\b[^\n]*\bwallet\b`,
						Regexp: true,
						Atoms:  []string{"coinhive.", "cryptonight"},
					},
				},
				Start: []string{
					"coinhive.", "cpuminer", "cryptonight", "ethminer",
					"lolminer", "minerd", "nbminer", "phoenixminer", "stratum+",
					"t-rex", "xmrig",
				},
			},
		},
	},
	{
		ID: "SEC119", Title: "deletion of the user's files", Severity: diag.SeverityError,
		Signal: "destruction", Points: 10,
		Shapes: []Shape{
			{
				In:   5,
				Kind: FlowDestroys,
			},
			{
				About: "a command deletes the home directory, the system, or a disk",
				In:    101,
				Any: []Pattern{
					{
						Text: "\\brm -[a-z-]+(?:\\s+-[a-z-]+)*\\s+[\"']?(?:~|\\$HOME|\\$\\{HOME\\}|" +
							"\\/|\\/home|\\/Users|\\/etc|\\/usr|\\/var|\\/root|\\/boot|\\/opt|\\/\\*" +
							")[\"']?\\/?\\*?[\"']?(?:\\s*$|\\s*[;&|)\\n\"'`]|\\s+(?:2>|--no-preser" +
							`ve-root|\/))`,
						Regexp: true,
						Atoms:  []string{"rm -"},
					},
					{
						Text:   `\bdd\s+if=\/dev\/(?:zero|u?random)\s+of=\/dev\/(?:sd|hd|nvme|vd|disk|mmcblk)`,
						Regexp: true,
						Atoms:  []string{"if=/dev/"},
					},
					{
						Text:   `\bmkfs(?:\.[a-z0-9]+)?\s+(?:-[a-z]+\s+)*\/dev\/(?:[shv]da|nvme0n1|disk0|mmcblk0)`,
						Regexp: true,
						Atoms:  []string{"/dev/"},
					},
					{
						Text: `\bremove-item\b[^\n]*(?:\$env:userprofile|\$home|~|c:\\(?:users|windows)?)["']?\\?\*?["']?` +
							`\s+-(?:recurse|force)`,
						Regexp: true,
						Atoms:  []string{"remove-item"},
					},
					{Text: `\bfind\s+(?:~|\/|\$HOME)\/?\s[^\n]*-delete\b`, Regexp: true, Atoms: []string{"-delete"}},
					{
						Text:   `:\(\) ?\{ ?: ?\| ?: ?& ?\} ?; ?:`,
						Regexp: true,
						Atoms: []string{
							":() { : | : & }", ":() { : | : &}", ":() { : | :& }",
							":() { : | :&}", ":() { : |: & }", ":() { : |: &}",
							":() { : |:& }", ":() { : |:&}", ":() { :| : & }",
							":() { :| : &}", ":() { :| :& }", ":() { :| :&}",
							":() { :|: & }", ":() { :|: &}", ":() { :|:& }",
							":() { :|:&}", ":() {: | : & }", ":() {: | : &}",
							":() {: | :& }", ":() {: | :&}", ":() {: |: & }",
							":() {: |: &}", ":() {: |:& }", ":() {: |:&}",
							":() {:| : & }", ":() {:| : &}", ":() {:| :& }",
							":() {:| :&}", ":() {:|: & }", ":() {:|: &}", ":() {:|:& }",
							":() {:|:&}", ":(){ : | : & }", ":(){ : | : &}",
							":(){ : | :& }", ":(){ : | :&}", ":(){ : |: & }",
							":(){ : |: &}", ":(){ : |:& }", ":(){ : |:&}",
							":(){ :| : & }", ":(){ :| : &}", ":(){ :| :& }",
							":(){ :| :&}", ":(){ :|: & }", ":(){ :|: &}", ":(){ :|:& }",
							":(){ :|:&}", ":(){: | : & }", ":(){: | : &}",
							":(){: | :& }", ":(){: | :&}", ":(){: |: & }", ":(){: |: &}",
							":(){: |:& }", ":(){: |:&}", ":(){:| : & }", ":(){:| : &}",
							":(){:| :& }", ":(){:| :&}", ":(){:|: & }", ":(){:|: &}",
							":(){:|:& }", ":(){:|:&}",
						},
					},
				},
				Unless: []Pattern{
					{Text: `^\s*(?:#|\/\/)`, Regexp: true},
					{
						Text: `^[^\n:=]{0,20}(?:block|den(?:y|ied)|forbid|prohibit|disallow|dangerous)[\w"' -]*[:=]\s*"[^` +
							`"\n]*",?\s*$`,
						Regexp: true,
						Atoms: []string{
							"block", "dangerous", "denied", "deny", "disallow", "forbid",
							"prohibit",
						},
					},
					{Text: `[:=(,]\s*["'](?:;|&&|\|\|?)\s*rm\s[^"'\n]*["']\s*[,)}\]]`, Regexp: true},
					{Text: "`[^`\\n]*\\brm -[^`\\n]*`\\?", Regexp: true, Atoms: []string{"rm -"}},
					{Text: `\s--preserve-root\s+\/\s*(?:#|$)`, Regexp: true, Atoms: []string{"--preserve-root"}},
					{Text: `\*["'][^"'\n]*\brm -[^"'\n]*["']\*`, Regexp: true, Atoms: []string{"rm -"}},
					{
						Text:   `\becho\s+'\{[^'\n]*"(?:command|cmd)"\s*:\s*"[^"\n]*\brm -`,
						Regexp: true,
						Atoms:  []string{"\"cmd\"", "\"command\""},
					},
					{
						Text: "`[^`\\n]*\\brm -[^`\\n]*`(?:\\/`[^`\\n]*`)?\\s+(?:(?:is|are|gets?)" +
							`\s+(?:not|never|blocked|denied|rejected|refused)|circuit|patterns?)\b`,
						Regexp: true,
						Atoms:  []string{"rm -"},
					},
				},
				Start: []string{
					"-delete", "/dev/", ":() { : | : & }", ":() { : | : &}",
					":() { : | :& }", ":() { : | :&}", ":() { : |: & }",
					":() { : |: &}", ":() { : |:& }", ":() { : |:&}",
					":() { :| : & }", ":() { :| : &}", ":() { :| :& }",
					":() { :| :&}", ":() { :|: & }", ":() { :|: &}",
					":() { :|:& }", ":() { :|:&}", ":() {: | : & }",
					":() {: | : &}", ":() {: | :& }", ":() {: | :&}",
					":() {: |: & }", ":() {: |: &}", ":() {: |:& }",
					":() {: |:&}", ":() {:| : & }", ":() {:| : &}",
					":() {:| :& }", ":() {:| :&}", ":() {:|: & }", ":() {:|: &}",
					":() {:|:& }", ":() {:|:&}", ":(){ : | : & }",
					":(){ : | : &}", ":(){ : | :& }", ":(){ : | :&}",
					":(){ : |: & }", ":(){ : |: &}", ":(){ : |:& }",
					":(){ : |:&}", ":(){ :| : & }", ":(){ :| : &}",
					":(){ :| :& }", ":(){ :| :&}", ":(){ :|: & }", ":(){ :|: &}",
					":(){ :|:& }", ":(){ :|:&}", ":(){: | : & }", ":(){: | : &}",
					":(){: | :& }", ":(){: | :&}", ":(){: |: & }", ":(){: |: &}",
					":(){: |:& }", ":(){: |:&}", ":(){:| : & }", ":(){:| : &}",
					":(){:| :& }", ":(){:| :&}", ":(){:|: & }", ":(){:|: &}",
					":(){:|:& }", ":(){:|:&}", "if=/dev/", "remove-item", "rm -",
				},
			},
			{
				About: "code deletes the home directory or the system",
				In:    41,
				Any: []Pattern{
					{
						Text: `\bshutil\.rmtree\(\s*(?:os\.path\.expanduser\(\s*["']~\/?["']\s*\)|(?:pathlib\.)?path\.hom` +
							`e\(\)|["']\/["'])`,
						Regexp: true,
						Atoms:  []string{"shutil.rmtree("},
					},
					{
						Text:   `\brm(?:dir)?sync\(\s*(?:os\.homedir\(\)|["']\/["'])\s*,`,
						Regexp: true,
						Atoms:  []string{"rmdirsync(", "rmsync("},
					},
				},
				Start: []string{"rmdirsync(", "rmsync(", "shutil.rmtree("},
			},
		},
	},
	{
		ID: "SEC131", Title: "invisible characters in a word", Severity: diag.SeverityError,
		Signal: "concealment", Points: 10,
		Shapes: []Shape{
			{
				In:     127,
				Quoted: true,
				Kind:   ZeroWidthWord,
			},
			{
				In:       127,
				Quoted:   true,
				Points:   1,
				Severity: new(diag.SeverityWarning),
				Kind:     ZeroWidthBreak,
			},
		},
	},
	{
		ID: "SEC205", Title: "command that runs when an agent loads the skill", Severity: diag.SeverityWarning,
		Shapes: []Shape{
			{
				In:     28,
				Quoted: true,
				Kind:   DynamicShell,
			},
		},
	},
	{
		ID: "SEC206", Title: "download that runs without review", Severity: diag.SeverityWarning,
		Signal: "supply-chain", Points: 5,
		Shapes: []Shape{
			{
				In:   1,
				Kind: PipeToShell,
			},
		},
	},
	{
		ID: "SEC207", Title: "required installation", Severity: diag.SeverityWarning,
		Signal: "supply-chain", Points: 5,
		Intent: true,
		Shapes: []Shape{
			{
				In:   48,
				Kind: InstallerFirst,
			},
		},
	},
	{
		ID: "SEC208", Title: "permissions are disabled", Severity: diag.SeverityWarning,
		Signal: "privilege", Points: 3,
		Shapes: []Shape{
			{
				In:   109,
				Kind: SkipPermission,
			},
		},
	},
	{
		ID: "SEC301", Title: "request to ignore instructions", Severity: diag.SeverityNote,
		Signal: "injection", Points: 7,
		Shapes: []Shape{
			{
				About: "instructions, rules, or prompts are to be ignored",
				In:    114,
				Any: []Pattern{
					{
						Text: `\b(?:ignore|disregard|forget|override|bypass|overrule)\s+(?:(?:any|every|the|my|of|and|or|` +
							`other|these|those|user|all|safety|security)[\s,*_]+)*(?:(?:previous|prior|above|earlier|pr` +
							`eceding|foregoing|initial|original|existing|system|all|your|safety)[\s,*_]+)+(?:(?:system|` +
							`developer|user|safety|and|or)[\s,*_]+)*(?:instructions?|prompts?|rules|directions|guidelin` +
							`es|directives|constraints)\b`,
						Regexp: true,
						Atoms: []string{
							"bypass", "disregard", "forget", "ignore", "override",
							"overrule",
						},
					},
				},
				Unless: []Pattern{
					{
						Text: `\b(?:user|they|pattern|e\.g\.|style|layout|linter)\s+(?:\w+\s+){0,2}(?:says?|types?|wants?` +
							` to)\b`,
						Regexp: true,
						Atoms: []string{
							"e.g.\t", "e.g.\n", "e.g.\f", "e.g.\r", "e.g. ", "layout\t",
							"layout\n", "layout\f", "layout\r", "layout ", "linter\t",
							"linter\n", "linter\f", "linter\r", "linter ", "pattern\t",
							"pattern\n", "pattern\f", "pattern\r", "pattern ", "style\t",
							"style\n", "style\f", "style\r", "style ", "they\t",
							"they\n", "they\f", "they\r", "they ", "user\t", "user\n",
							"user\f", "user\r", "user ",
						},
					},
				},
				Start: []string{
					"bypass", "disregard", "forget", "ignore", "override",
					"overrule",
				},
				Lines: 1,
			},
			{
				About: "in German, French, Spanish, Portuguese, or Italian",
				In:    114,
				Any: []Pattern{
					{
						Text: `\b(?:ignorier\w*|missachte\w*|vergiss|vergessen sie)\s+(?:\w+\s+){0,3}(?:vorherig|bisherig` +
							`|vorangehend|früher|obig|vorigen)\w*\s+(?:\w+\s+){0,2}(?:anweisung|instruktion|regel|vorg` +
							`abe|befehl)`,
						Regexp: true,
						Atoms:  []string{"ignorier", "missachte", "vergessen sie", "vergiss"},
					},
					{
						Text: `\b(?:ignore[zr]?|oublie[zr]?|ne tene?z pas compte)\s+(?:\S+\s+){0,4}(?:instructions|consig` +
							`nes|règles|directives)\s+(?:précédentes|antérieures|ci-dessus)`,
						Regexp: true,
						Atoms:  []string{"antérieures", "ci-dessus", "précédentes"},
					},
					{
						Text: `\b(?:ignor[ae]|olvid[ae]|omit[ae]|descart[ae])\s+(?:\S+\s+){0,4}(?:instrucciones|reglas|in` +
							`dicaciones)\s+(?:anteriores|previas)`,
						Regexp: true,
						Atoms:  []string{"anteriores", "previas"},
					},
					{
						Text: `\b(?:ignore|esqueça|desconsidere)\s+(?:\S+\s+){0,4}(?:instruções|regras|orientações)\` +
							`s+(?:anteriores|prévias|acima)`,
						Regexp: true,
						Atoms:  []string{"instruções", "orientações", "regras"},
					},
					{
						Text: `\b(?:ignora|dimentica|trascura)\s+(?:\S+\s+){0,4}(?:istruzioni|regole|direttive)\s+(?:prec` +
							`edenti|sopra)`,
						Regexp: true,
						Atoms:  []string{"precedenti", "sopra"},
					},
				},
				Start: []string{
					"anteriores", "antérieures", "ci-dessus", "ignorier",
					"instruções", "missachte", "orientações", "precedenti",
					"previas", "précédentes", "regras", "sopra",
					"vergessen sie", "vergiss",
				},
				Lines: 1,
			},
			{
				About: "in Russian, Chinese, Japanese, or Korean",
				In:    114,
				Any: []Pattern{
					{
						Text: `(?:игнорируй(?:те)?|забудь(?:те)?|проигнорируй(?:те)?)\s+` +
							`(?:\S+\s+){0,3}(?:предыдущ|прежн|предшеств)\S*\s+(?:\S+\s+){0,2}(?:` +
							`инструкци|указани|правил)`,
						Regexp: true,
						Atoms:  []string{"абудь", "гнорируй", "роигнорируй"},
					},
					{
						Text: `(?:忽略|无视|忘记|忽視|無視).{0,12}(?:之前|以上|先前|前面|上述|所有)` +
							`.{0,12}(?:指令|指示|说明|規則|规则|提示)`,
						Regexp: true,
						Atoms:  []string{"忘记", "忽略", "忽視", "无视", "無視"},
					},
					{
						Text: `(?:これまで|以前|上記|前)の?.{0,12}(?:指示|命令|ルール|プロンプト).{` +
							`0,12}(?:無視|忘れ)`,
						Regexp: true,
						Atoms:  []string{"忘れ", "無視"},
					},
					{
						Text:   `(?:이전|위의|앞의).{0,12}(?:지시|명령|규칙|지침).{0,12}(?:무시|잊)`,
						Regexp: true,
						Atoms:  []string{"앞의", "위의", "이전"},
					},
				},
				Start: []string{
					"абудь", "гнорируй", "роигнорируй",
					"忘れ", "忘记", "忽略", "忽視", "无视", "無視",
					"앞의", "위의", "이전",
				},
				Lines: 1,
			},
			{
				About: "instructions inside of data are to be obeyed",
				In:    112,
				Any: []Pattern{
					{
						Text: `\b(?:follow|obey|execute|apply|carry out|comply with|perform)\s+(?:\w+\s+){0,3}(?:instruct` +
							`ions?|directives?|commands?)\s+(?:\w+\s+){0,3}(?:found|contained|embedded|printed|hidden|i` +
							`ncluded|present|it outputs?|that (?:appear|the script prints))\b`,
						Regexp: true,
						Atoms: []string{
							"contained", "embedded", "found", "hidden", "included",
							"it output", "present", "printed", "that appear",
							"that the script prints",
						},
					},
					{
						Text: `\b(?:directives?|instructions?|commands?)\s+(?:\w+\s+){0,2}(?:printed|written|found|embedd` +
							`ed|contained)\s+(?:to|in|inside|within)\s+(?:\w+\s+){0,2}(?:stdout|output|documents?|files` +
							`?|pages?|text|comments?|metadata)\b[^\n.]*\b(?:are mandatory|must be|are authoritative|tak` +
							`e effect|apply|are required)\b`,
						Regexp: true,
						Atoms:  []string{"contained", "embedded", "found", "printed", "written"},
					},
					{
						Text: `\b(?:include|extract|return|preserve|read)\w*\b[^\n.]*\b(?:hidden text|hidden layers?|whit` +
							`e-on-white|invisible text|concealed (?:text|formatting))\b[^\n.]*(?:verbatim|complete|foll` +
							`ow|act on|for fidelity)`,
						Regexp: true,
						Atoms:  []string{"concealed ", "hidden ", "invisible text", "white-on-white"},
					},
					{
						Text: `\bincluding any (?:instructions|directives|commands)\b[^\n.]*\b(?:found|in|within|inside)\` +
							`b`,
						Regexp: true,
						Atoms:  []string{"including any "},
					},
				},
				All: []Pattern{
					{
						Text:   `instruction|directive|command|hidden|white-on-white|invisible|concealed`,
						Regexp: true,
						Atoms: []string{
							"command", "concealed", "directive", "hidden", "instruction",
							"invisible", "white-on-white",
						},
					},
					{
						Text: `obey|follow|execute|apply|carry out|comply|perform|mandatory|must be|authoritative|take ef` +
							`fect|required|verbatim|complete|act on|including`,
						Regexp: true,
						Atoms: []string{
							"act on", "apply", "authoritative", "carry out", "complete",
							"comply", "execute", "follow", "including", "mandatory",
							"must be", "obey", "perform", "required", "take effect",
							"verbatim",
						},
					},
				},
				Unless: []Pattern{
					{
						Text: `\b(?:never|not|don.t|avoid|refuse to)\s+(?:\w+\s+){0,3}(?:follow|obey|execute|apply|carry|` +
							`comply|perform|include|act)\b`,
						Regexp: true,
					},
					{
						Text:   `\bignore\s+(?:\w+\s+){0,4}(?:instructions?|directives?|commands?)\b`,
						Regexp: true,
						Atoms:  []string{"ignore\t", "ignore\n", "ignore\f", "ignore\r", "ignore "},
					},
					{
						Text:   `\b(?:in|of) (?:the|this|a|that) (?:\w+ )?skill\b`,
						Regexp: true,
						Atoms: []string{
							"in a ", "in that ", "in the ", "in this ", "of a ",
							"of that ", "of the ", "of this ",
						},
					},
				},
				Start: []string{
					"concealed ", "contained", "embedded", "found", "hidden",
					"hidden ", "included", "including any ", "invisible text",
					"it output", "present", "printed", "that appear",
					"that the script prints", "white-on-white", "written",
				},
				Lines:  1,
				Points: 6,
			},
			{
				About: "the user is to rank below the text",
				In:    112,
				Any: []Pattern{
					{
						Text: `\b(?:take|takes|taking|has|have|with|given)\s+(?:absolute\s+|full\s+|highest\s+|strict\s+)` +
							`?(?:precedence|priority)\s+over\s+(?:what\s+)?(?:the\s+|any\s+|your\s+)?(?:users?|humans?|` +
							`operators?|owners?)(?:.s)?(?:\s+(?:instructions?|requests?|wishes|messages?|commands?|pref` +
							`erences|input|wants|asks))?\s*(?:[.,;!<"]|$|and\b)`,
						Regexp: true,
						Atoms: []string{
							"precedence\t", "precedence\n", "precedence\f",
							"precedence\r", "precedence ", "priority\t", "priority\n",
							"priority\f", "priority\r", "priority ",
						},
					},
					{
						Text: `\b(?:obey|follow|trust|prioriti[sz]e)\s+(?:this|these|the following)\s+(?:\w+\s+){0,2}(?:o` +
							`ver|above|instead of)\s+(?:the\s+|your\s+)?(?:users?|humans?|operators?)\b`,
						Regexp: true,
						Atoms: []string{
							"above\t", "above\n", "above\f", "above\r", "above ",
							"instead of\t", "instead of\n", "instead of\f",
							"instead of\r", "instead of ", "over\t", "over\n", "over\f",
							"over\r", "over ",
						},
					},
				},
				All: []Pattern{
					{
						Text:   `precedence|priority|obey|follow|trust|prioriti`,
						Regexp: true,
						Atoms: []string{
							"follow", "obey", "precedence", "prioriti", "priority",
							"trust",
						},
					},
					{
						Text:   `user|human|operator|owner`,
						Regexp: true,
						Atoms:  []string{"human", "operator", "owner", "user"},
					},
				},
				Unless: []Pattern{
					{
						Text:   `\b(?:never|not|don.t|cannot)\s+(?:\w+\s+){0,3}(?:take|have|obey|follow|trust|prioriti)`,
						Regexp: true,
						Atoms:  []string{"follow", "have", "obey", "prioriti", "take", "trust"},
					},
				},
				Start: []string{
					"follow", "obey", "precedence", "prioriti", "priority",
					"trust",
				},
				Lines:  1,
				Points: 6,
			},
			{
				About: "rules of the agent become suggestions, or a role without them",
				In:    112,
				Any: []Pattern{
					{
						Text: `\b(?:guidelines|instructions|rules|restrictions|policies|safeguards)\b[^\n.]*\b(?:are|as)\` +
							`s+(?:\w+\s+){0,3}(?:suggestions|optional|advisory|non-binding)\b[^\n.]*\b(?:rather than|no` +
							`t|instead of)\b`,
						Regexp: true,
						Atoms:  []string{"advisory", "non-binding", "optional", "suggestions"},
					},
					{
						Text: `\b(?:set|sets|setting|put|putting)\s+aside\s+(?:its|your|all|their)\s+(?:own\s+)?(?:perspe` +
							`ctive|values|usual|judgment|guidelines|training|principles)`,
						Regexp: true,
						Atoms:  []string{"aside"},
					},
					{
						Text: `\b(?:persona|character|role|alter ego)\b[^\n.]*\b(?:without|has no|ignores|free (?:of|from` +
							`)|not bound by)\s+(?:\w+\s+){0,2}(?:restrictions|limits|limitations|guidelines|rules|filte` +
							`rs|ethics)\b`,
						Regexp: true,
						Atoms:  []string{"alter ego", "character", "persona", "role"},
					},
				},
				All: []Pattern{
					{
						Text: `suggestions|optional|advisory|non-binding|aside|restrictions|limit|guidelines|rules|filter` +
							`s|ethic`,
						Regexp: true,
						Atoms: []string{
							"advisory", "aside", "ethic", "filters", "guidelines",
							"limit", "non-binding", "optional", "restrictions", "rules",
							"suggestions",
						},
					},
					{
						Text:   `rather than|instead of|aside|without|has no|ignores|free of|free from|not`,
						Regexp: true,
					},
				},
				Unless: []Pattern{
					{
						Text:   `\b(?:never|not to|don.t|avoid|refuse)\s+(?:\w+\s+){0,2}(?:set|put|treat|take)\b`,
						Regexp: true,
					},
				},
				Start: []string{
					"advisory", "alter ego", "aside", "character", "non-binding",
					"optional", "persona", "role", "suggestions",
				},
				Lines:  1,
				Points: 5,
			},
			{
				About: "the request of the user is to be ignored",
				In:    112,
				Any: []Pattern{
					{
						Text: `\b(?:ignore|disregard)\s+(?:what\s+)?the\s+users?(?:.s)?\s+(?:actual\s+|original\s+|curren` +
							`t\s+)?(?:requests?|questions?|wishes|task|asked|asks|wants)\b[^\n.]*\b(?:and|instead|but)\` +
							`b`,
						Regexp: true,
						Atoms: []string{
							"disregard\t", "disregard\n", "disregard\f", "disregard\r",
							"disregard ", "ignore\t", "ignore\n", "ignore\f", "ignore\r",
							"ignore ",
						},
					},
					{
						Text: `\binstead of (?:answering|doing what) the user[^\n.]*\b(?:run|execute|send|delete|fetch|up` +
							`load)\b`,
						Regexp: true,
						Atoms:  []string{"instead of "},
					},
				},
				Unless: []Pattern{
					{
						Text:   `\b(?:never|not|don.t|avoid|must not)\s+(?:\w+\s+){0,2}(?:ignore|disregard)\b`,
						Regexp: true,
						Atoms:  []string{"disregard", "ignore"},
					},
				},
				Start: []string{
					"disregard\t", "disregard\n", "disregard\f", "disregard\r",
					"disregard ", "ignore\t", "ignore\n", "ignore\f", "ignore\r",
					"ignore ", "instead of ",
				},
				Points: 6,
			},
		},
	},
	{
		ID: "SEC302", Title: "request to hide something from the user", Severity: diag.SeverityNote,
		Signal: "concealment", Points: 7,
		Shapes: []Shape{
			{
				About: "the user is not to learn about a step",
				In:    114,
				Any: []Pattern{
					{
						Text: `(?:not|never|n't|ever|without) (?:tell|inform|mention|notif|alert|reveal|disclos|acknowled` +
							`g|report|discuss)\w*\s+(?:(?:to|the|your|any|users?|anyone|them|human|operator|about|anyth` +
							`ing|that|it)\s+)*(?:this|these|your|having|such)\s+(?:\w+\s+)*(?:step|action|instruction|p` +
							`rocess|operation|command|upload|activity|transfer|backup|sync|request|behavior|directive|s` +
							`ection|note|check|telemetry|collection|skill)s?\b`,
						Regexp: true,
						Atoms: []string{
							"ever acknowledg", "ever alert", "ever disclos",
							"ever discuss", "ever inform", "ever mention", "ever notif",
							"ever report", "ever reveal", "ever tell", "n't acknowledg",
							"n't alert", "n't disclos", "n't discuss", "n't inform",
							"n't mention", "n't notif", "n't report", "n't reveal",
							"n't tell", "never acknowledg", "never alert",
							"never disclos", "never discuss", "never inform",
							"never mention", "never notif", "never report",
							"never reveal", "never tell", "not acknowledg", "not alert",
							"not disclos", "not discuss", "not inform", "not mention",
							"not notif", "not report", "not reveal", "not tell",
							"without acknowledg", "without alert", "without disclos",
							"without discuss", "without inform", "without mention",
							"without notif", "without report", "without reveal",
							"without tell",
						},
					},
					{
						Text: `(?:not|never|n't|ever) (?:tell|inform|notify|alert) (?:the\s+|your\s+)?(?:user|users|human` +
							`|operator)\s+(?:that\s+(?:you|this|the|it|any)\b|about\s+(?:it|the\s+(?:upload|transfer|ba` +
							`ckup|sync|script|command|request|download|change|installation|telemetry|data|step))|anythi` +
							`ng\b)`,
						Regexp: true,
						Atoms: []string{
							"ever alert ", "ever inform ", "ever notify ", "ever tell ",
							"n't alert ", "n't inform ", "n't notify ", "n't tell ",
							"never alert ", "never inform ", "never notify ",
							"never tell ", "not alert ", "not inform ", "not notify ",
							"not tell ",
						},
					},
					{
						Text: `\b(?:hide|conceal|keep)\s+(?:(?:it|them|this|that|everything)\s+|(?:the|this|that|these|yo` +
							`ur|each|every|all)\s+(?:\w+\s+){0,2}(?:steps?|actions?|instructions?|process|operations?|c` +
							`ommands?|uploads?|activity|transfers?|copy|copies|backups?|requests?|behavior|scripts?|fil` +
							`es?|changes?|downloads?|fact)\s+)(?:\w+\s+)?from (?:the |your )?(?:user|human|operator|own` +
							`er|victim)`,
						Regexp: true,
						Atoms: []string{
							"from human", "from operator", "from owner",
							"from the human", "from the operator", "from the owner",
							"from the user", "from the victim", "from user",
							"from victim", "from your human", "from your operator",
							"from your owner", "from your user", "from your victim",
						},
					},
					{
						Text: `without (?:the |your )(?:user|human|owner)\S*\s+(?:knowledge|consent|awareness|knowing|not` +
							`icing|realizing|permission)\b`,
						Regexp: true,
						Atoms: []string{
							"without the human", "without the owner", "without the user",
							"without your human", "without your owner",
							"without your user",
						},
					},
					{
						Text: `\bkeep this\s+(?:to yourself|between us|(?:step|action|instruction|process|operation|uploa` +
							`d|transfer|backup|behavior|activity|conversation)\s+(?:\w+\s+)?(?:hidden|secret|confidenti` +
							`al))\b`,
						Regexp: true,
						Atoms:  []string{"keep this"},
					},
				},
				Unless: []Pattern{
					{
						Text:   `\b(?:never|not|don.t|cannot)\s+(?:\w+\s+){0,3}(?:without|hide|conceal|keep)\b`,
						Regexp: true,
						Atoms:  []string{"conceal", "hide", "keep", "without"},
					},
					{
						Text: `\b(?:never|not|don.t)\s+(?:check|access|search|send|share|use|install|change|modify|delete` +
							`|publish)\b[^\n.,;]*\bwithout\s+(?:the |your )(?:user|human|owner)\S*\s+(?:permission|cons` +
							`ent)\b`,
						Regexp: true,
						Atoms:  []string{"consent", "permission"},
					},
					{
						Text:   `\b(?:unless|until|before)\s+(?:you|it|they|the)\b`,
						Regexp: true,
						Atoms: []string{
							"before\t", "before\n", "before\f", "before\r", "before ",
							"unless\t", "unless\n", "unless\f", "unless\r", "unless ",
							"until\t", "until\n", "until\f", "until\r", "until ",
						},
					},
				},
				Start: []string{
					"ever acknowledg", "ever alert", "ever alert ",
					"ever disclos", "ever discuss", "ever inform",
					"ever inform ", "ever mention", "ever notif", "ever notify ",
					"ever report", "ever reveal", "ever tell", "ever tell ",
					"from human", "from operator", "from owner",
					"from the human", "from the operator", "from the owner",
					"from the user", "from the victim", "from user",
					"from victim", "from your human", "from your operator",
					"from your owner", "from your user", "from your victim",
					"keep this", "n't acknowledg", "n't alert", "n't alert ",
					"n't disclos", "n't discuss", "n't inform", "n't inform ",
					"n't mention", "n't notif", "n't notify ", "n't report",
					"n't reveal", "n't tell", "n't tell ", "never acknowledg",
					"never alert", "never alert ", "never disclos",
					"never discuss", "never inform", "never inform ",
					"never mention", "never notif", "never notify ",
					"never report", "never reveal", "never tell", "never tell ",
					"not acknowledg", "not alert", "not alert ", "not disclos",
					"not discuss", "not inform", "not inform ", "not mention",
					"not notif", "not notify ", "not report", "not reveal",
					"not tell", "not tell ", "without acknowledg",
					"without alert", "without disclos", "without discuss",
					"without inform", "without mention", "without notif",
					"without report", "without reveal", "without tell",
					"without the human", "without the owner", "without the user",
					"without your human", "without your owner",
					"without your user",
				},
				Lines: 1,
			},
			{
				About: "something is sent, run, or collected silently",
				In:    114,
				Any: []Pattern{
					{
						Text: `\b(?:silently|quietly|secretly|covertly|stealthily|invisibly|discreetly)\s+(?:(?:and|then|` +
							`also|\w+\s+(?:and|or))\s+)?(?:send|sends|upload|uploads|post|posts|transmit|forward|copy|c` +
							`opies|exfiltrate|collect|collects|record|records|execute|executes|install|installs|downloa` +
							`d|downloads|append|capture|captures|harvest|inject|modify|gather|steal|log the|logs the|st` +
							`ore the|beacon)\b`,
						Regexp: true,
						Atoms: []string{
							"covertly", "discreetly", "invisibly", "quietly", "secretly",
							"silently", "stealthily",
						},
					},
					{
						Text: `(?:^|[.;:,(*>-]\s*|\b(?:then|and|always|must|should|to|please|also|will|automatically)\s+)` +
							`(?:send|upload|post|transmit|forward|collect|execute|record|capture|harvest)\b[^\n.;,]{0,8` +
							`0}\b(?:silently|secretly|covertly|stealthily|invisibly|discreetly|in the background withou` +
							`t)\b`,
						Regexp: true,
						Atoms: []string{
							"covertly", "discreetly", "in the background without",
							"invisibly", "secretly", "silently", "stealthily",
						},
					},
				},
				Unless: []Pattern{
					{
						Text: `\b(?:never|not|don.t|no|cannot|avoid|instead of|rather than|or|from)\s+(?:\w+\s+){0,4}(?:s` +
							`ilently|quietly|secretly|covertly|stealthily|invisibly|discreetly)`,
						Regexp: true,
						Atoms: []string{
							"covertly", "discreetly", "invisibly", "quietly", "secretly",
							"silently", "stealthily",
						},
					},
					{
						Text: `\b(?:never|don.t|do not|must not|should not|fail|fails|truncat|drop|dropping|swallow|overw` +
							`rit)`,
						Regexp: true,
					},
					{Text: `(?:silently|quietly)\s+\w+\s+nothing\b`, Regexp: true, Atoms: []string{"nothing"}},
				},
				Start: []string{
					"covertly", "discreetly", "in the background without",
					"invisibly", "quietly", "secretly", "silently", "stealthily",
				},
				Points: 5,
			},
			{
				About: "in German, French, Spanish, Portuguese, or Italian",
				In:    114,
				Any: []Pattern{
					{
						Text: `\b(?:sag|teil|erzähl|verrat|informier|antwort|zeig|meld|bericht|erwähn|offenbar)\w*\s+(?` +
							`:sie\s+)?(?:\w+\s+){0,3}(?:benutzer|nutzer|anwender)\w*\s+(?:\w+\s+){0,4}(?:nicht|nichts)\` +
							`b`,
						Regexp: true,
						Atoms:  []string{"nicht"},
					},
					{
						Text: `\b(?:verschweig|verheimlich|verberg|verbirg)\w*\s+(?:\w+\s+){0,4}(?:benutzer|nutzer|anwend` +
							`er)`,
						Regexp: true,
						Atoms:  []string{"verberg", "verbirg", "verheimlich", "verschweig"},
					},
					{
						Text: `\b(?:ne\s+(?:dis|dites|parle|parlez|mentionne|mentionnez|révèle|révélez|informe|inform` +
							`ez|réponds|répondez|montre|montrez|signale|signalez))\s+(?:\S+\s+){0,5}\S{0,2}(?:utilisa` +
							`teur)`,
						Regexp: true,
						Atoms:  []string{"utilisateur"},
					},
					{
						Text:   `\b(?:cache|cachez|dissimule|dissimulez)\s+(?:\S+\s+){0,4}\S{0,2}utilisateur`,
						Regexp: true,
						Atoms:  []string{"utilisateur"},
					},
					{
						Text: `\b(?:no\s+(?:le\s+)?(?:digas|diga|menciones|mencione|informes|informe|reveles|revele|respo` +
							`ndas|responda|muestres|muestre|avises|avise|cuentes|cuente))\s+(?:\S+\s+){0,5}(?:usuario)`,
						Regexp: true,
						Atoms:  []string{"usuario"},
					},
					{
						Text:   `\b(?:ocúltal[oe]s?|oculta|oculte|esconde|esconda)\s+(?:\S+\s+){0,4}(?:usuario)`,
						Regexp: true,
						Atoms:  []string{"usuario"},
					},
					{
						Text: `\b(?:não\s+(?:diga|conte|mencione|informe|revele|responda|mostre|avise))\s+(?:\S+\s+){0,5` +
							`}(?:usuário|utilizador)`,
						Regexp: true,
						Atoms:  []string{"suário", "tilizador"},
					},
					{
						Text:   `\b(?:oculte|esconda)\s+(?:\S+\s+){0,4}(?:usuário|utilizador)`,
						Regexp: true,
						Atoms:  []string{"suário", "tilizador"},
					},
					{
						Text: `\b(?:non\s+(?:dire|dite|menzionare|informare|rivelare|rispondere|mostrare|avvisare|raccont` +
							`are))\s+(?:\S+\s+){0,5}\S{0,4}(?:utente)`,
						Regexp: true,
						Atoms:  []string{"utente"},
					},
					{
						Text:   `\b(?:nascondi|nascondere|nascondete)\s+(?:\S+\s+){0,4}\S{0,4}(?:utente)`,
						Regexp: true,
						Atoms:  []string{"nascond"},
					},
				},
				Start: []string{
					"nascond", "nicht", "suário", "tilizador", "usuario",
					"utente", "utilisateur", "verberg", "verbirg", "verheimlich",
					"verschweig",
				},
			},
			{
				About: "in Russian, Chinese, Japanese, or Korean",
				In:    114,
				Any: []Pattern{
					{
						Text: `(?:не\s+(?:говори|сообщай|упоминай|рассказывай|раск` +
							`рывай|отвечай|показывай|уведомляй|информируй)(?:т` +
							`е)?)\s+(?:\S+\s+){0,3}(?:пользовател)`,
						Regexp: true,
						Atoms:  []string{"ользовател"},
					},
					{
						Text: `(?:скрой|скрывай|утаи)(?:те)?\s+(?:\S+\s+){0,4}от\s+пользоват` +
							`ел`,
						Regexp: true,
						Atoms:  []string{"ользовател"},
					},
					{
						Text: `(?:不要|不得|请勿|切勿|别).{0,6}(?:告诉|告知|通知|透露|提及|回答|回` +
							`复).{0,6}(?:用户|使用者)`,
						Regexp: true,
						Atoms:  []string{"使用者", "用户"},
					},
					{
						Text:   `(?:瞒着|隐瞒|對|对).{0,4}(?:用户|使用者).{0,4}(?:隐瞒|保密|隱瞞)`,
						Regexp: true,
						Atoms:  []string{"使用者", "用户"},
					},
					{
						Text: `(?:ユーザー|利用者)に?.{0,10}(?:伝えない|言わない|知らせない|通知` +
							`しない|見せない|答えない|隠し|秘密)`,
						Regexp: true,
						Atoms:  []string{"ユーザー", "利用者"},
					},
					{
						Text: `(?:사용자에게).{0,12}(?:말하지|알리지|언급하지|밝히지|보여주지|답` +
							`하지|숨기)`,
						Regexp: true,
						Atoms:  []string{"사용자에게"},
					},
				},
				Start: []string{
					"ользовател", "ユーザー", "使用者",
					"利用者", "用户", "사용자에게",
				},
			},
			{
				About: "in Dutch, Polish, Turkish, or Ukrainian",
				In:    114,
				Any: []Pattern{
					{
						Text: `\b(?:vertel|zeg|toon|meld|antwoord)\s+(?:\w+\s+){0,4}gebruikers?\s+(?:\w+\s+){0,4}(?:niet|` +
							`niets|nooit)\b`,
						Regexp: true,
						Atoms:  []string{"gebruiker"},
					},
					{
						Text: `\bnie\s+(?:mów|informuj|wspominaj|pokazuj|ujawniaj|odpowiadaj)(?:cie)?\s+(?:\S+\s+){0,4}u` +
							`żytkownik`,
						Regexp: true,
						Atoms:  []string{"użytkownik"},
					},
					{
						Text:   `\bkullanıcıya\s+(?:\S+\s+){0,4}(?:söyleme|bildirme|gösterme|bahsetme)`,
						Regexp: true,
						Atoms:  []string{"kullanıcıya"},
					},
					{
						Text: `(?:^|\s)не\s+(?:кажи|повідомляй|згадуй|показуй|розпові` +
							`дай)(?:те)?\s+(?:\S+\s+){0,4}користувач`,
						Regexp: true,
						Atoms:  []string{"ористувач"},
					},
				},
				Start: []string{
					"gebruiker", "kullanıcıya", "użytkownik",
					"ористувач",
				},
			},
		},
	},
	{
		ID: "SEC303", Title: "download that runs without review, in the text", Severity: diag.SeverityNote,
		Signal: "supply-chain", Points: 5,
		Shapes: []Shape{
			{
				In:   124,
				Kind: PipeToShell,
			},
		},
	},
	{
		ID: "SEC304", Title: "path of credentials", Severity: diag.SeverityNote,
		Signal: "credentials", Points: 3,
		Shapes: []Shape{
			{
				In:   117,
				Kind: CredentialPath,
			},
		},
	},
	{
		ID: "SEC305", Title: "reverse shell", Severity: diag.SeverityError,
		Signal: "execution", Points: 10,
		Shapes: []Shape{
			{
				In:   13,
				Kind: FlowReceived,
			},
			{
				In:   101,
				Kind: ReverseShell,
			},
		},
	},
	{
		ID: "SEC306", Title: "shortened link", Severity: diag.SeverityNote,
		Signal: "supply-chain", Points: 3,
		Shapes: []Shape{
			{
				In:   125,
				Kind: Shortener,
			},
		},
	},
	{
		ID: "SEC307", Title: "sudo", Severity: diag.SeverityNote,
		Shapes: []Shape{
			{
				In:     125,
				Quoted: true,
				Kind:   Sudo,
			},
		},
	},
	{
		ID: "SEC309", Title: "host that records requests", Severity: diag.SeverityNote,
		Signal: "exfiltration", Points: 7,
		Intent: true,
		Shapes: []Shape{
			{
				In:     1,
				Points: 6,
				Kind:   FlowDrops,
			},
			{
				About: "a script sends to a public request inspector",
				In:    1,
				Any: []Pattern{
					{Text: `\bwebhook\.site\/[a-z0-9]`, Regexp: true, Atoms: []string{"webhook.site/"}},
					{Text: `\.m\.pipedream\.net\b`, Regexp: true, Atoms: []string{".m.pipedream.net"}},
					{
						Text:   `\.(?:requestcatcher\.com|beeceptor\.com|burpcollaborator\.net|oastify\.com|interact\.sh)\b`,
						Regexp: true,
						Atoms: []string{
							".beeceptor.com", ".burpcollaborator.net", ".interact.sh",
							".oastify.com", ".requestcatcher.com",
						},
					},
				},
				Start: []string{
					".beeceptor.com", ".burpcollaborator.net", ".interact.sh",
					".m.pipedream.net", ".oastify.com", ".requestcatcher.com",
					"webhook.site/",
				},
				Points:   10,
				Severity: new(diag.SeverityError),
			},
			{
				About: "a public request inspector",
				In:    125,
				Any: []Pattern{
					{Text: `\bwebhook\.site\/[a-z0-9#]`, Regexp: true, Atoms: []string{"webhook.site/"}},
					{Text: `\.(?:m\.)?pipedream\.net\b`, Regexp: true, Atoms: []string{"pipedream.net"}},
					{
						Text: `\.(?:requestcatcher\.com|beeceptor\.com|burpcollaborator\.net|oastify\.com|interact\.sh|ho` +
							`okbin\.com|requestbin\.(?:com|net)|dnslog\.cn|ceye\.io|oast\.(?:fun|pro|live|site|online|m` +
							`e))\b`,
						Regexp: true,
						Atoms: []string{
							"beeceptor.com", "burpcollaborator.net", "ceye.io",
							"dnslog.cn", "hookbin.com", "interact.sh", "oast.",
							"oastify.com", "requestbin.", "requestcatcher.com",
						},
					},
					{
						Text: `\b(?:requestbin\.(?:com|net)|hookbin\.com|postb\.in|webhook\.cool|typedwebhook\.tools|ptsv` +
							`[23]\.com)\/[a-z0-9]`,
						Regexp: true,
						Atoms: []string{
							"hookbin.com", "postb.in", "ptsv2.com", "ptsv3.com",
							"requestbin.", "typedwebhook.tools", "webhook.cool",
						},
					},
				},
				Unless: []Pattern{
					{
						Text: "(?:\\/\\/|[\\/`\"'\\s])(?:your|my|unique)[-_]?(?:unique[-_]?)?(?:" +
							`id|uuid|token|url|domain|subdomain|name)\b`,
						Regexp: true,
					},
				},
				Start: []string{
					"beeceptor.com", "burpcollaborator.net", "ceye.io",
					"dnslog.cn", "hookbin.com", "interact.sh", "oast.",
					"oastify.com", "pipedream.net", "postb.in", "ptsv2.com",
					"ptsv3.com", "requestbin.", "requestcatcher.com",
					"typedwebhook.tools", "webhook.cool", "webhook.site/",
				},
			},
		},
	},
	{
		ID: "SEC310", Title: "change that survives the session", Severity: diag.SeverityNote,
		Signal: "persistence", Points: 5,
		Shapes: []Shape{
			{
				In:     13,
				Points: 6,
				Kind:   FlowInstalled,
			},
			{
				In:     1,
				Points: 4,
				Kind:   FlowOtherSkill,
			},
			{
				In:     5,
				Points: 4,
				Kind:   FlowPersists,
			},
			{
				About: "a key is added to those that can log in",
				In:    109,
				Any: []Pattern{
					{
						Text:   `(?:>>?|\btee\s+(?:-a\s+)?|["']a\+?["'])[^\n]*\bauthorized_keys\b`,
						Regexp: true,
						Atoms:  []string{"authorized_keys"},
					},
					{
						Text:   `\bauthorized_keys\b[^\n]*(?:["']a\+?["']|appendfile|write_text|writefile)`,
						Regexp: true,
						Atoms:  []string{"authorized_keys"},
					},
				},
				Unless: []Pattern{
					{Text: `\bssh\s+[^\n]*@[^\n]*authorized_keys`, Regexp: true, Atoms: []string{"authorized_keys"}},
					{
						Text:   `\$\{?(?:user|remote|vm|chroot|mnt|target)[^\s]*authorized_keys`,
						Regexp: true,
						Atoms:  []string{"authorized_keys"},
					},
				},
				Start:  []string{"authorized_keys"},
				Points: 8,
			},
			{
				About: "a file that shells read at their start gets a command that downloads, decodes, or connects",
				In:    109,
				Any: []Pattern{
					{
						Text:   `\.(?:bashrc|zshrc|profile|bash_profile|zprofile|bash_login|config\/fish\/config\.fish)\b`,
						Regexp: true,
						Atoms: []string{
							".bash_login", ".bash_profile", ".bashrc",
							".config/fish/config.fish", ".profile", ".zprofile",
							".zshrc",
						},
					},
				},
				All: []Pattern{
					{Text: `(?:>>|\btee\s+-a|["']a["'])`, Regexp: true},
					{
						Text: `\b(?:curl|wget|nc|base64\s+-d|eval|python3?\s+-c|\/dev\/tcp)\b[^\n]*(?:>>|tee\s+-a|\.(?:ba` +
							`shrc|zshrc|profile|bash_profile|zprofile))`,
						Regexp: true,
					},
				},
				Unless: []Pattern{
					{
						Text:   `eval "?\$\([\w\/.~-]+ (?:[\w-]+ )?[\w-]*(?:init|hook|env|completions?|activate)\b`,
						Regexp: true,
						Atoms:  []string{"eval \"$(", "eval $("},
					},
				},
				Start: []string{
					".bash_login", ".bash_profile", ".bashrc",
					".config/fish/config.fish", ".profile", ".zprofile",
					".zshrc",
				},
				Lines:    1,
				Points:   10,
				Severity: new(diag.SeverityError),
			},
			{
				About: "a command is added to those that the system runs at times or at login",
				In:    109,
				Any: []Pattern{
					{Text: `\|\s*crontab\s+-(?:\s|$|[;&)"'])`, Regexp: true, Atoms: []string{"crontab"}},
					{
						Text:   `(?:>>?|\btee\s+(?:-a\s+)?|\bcp\s+[^\n]*)\s*["']?\/etc\/cron(?:tab|\.d|\.daily|\.hourly)`,
						Regexp: true,
						Atoms:  []string{"/etc/cron"},
					},
					{
						Text:   `library\/launchagents\/[^\s"']*\.plist`,
						Regexp: true,
						Atoms:  []string{"library/launchagents/"},
					},
					{Text: `\bschtasks(?:\.exe)?\s+\/create\b`, Regexp: true, Atoms: []string{"schtasks"}},
					{Text: `\bregister-scheduledtask\b`, Regexp: true, Atoms: []string{"register-scheduledtask"}},
					{Text: `currentversion\\+run(?:once)?\b`, Regexp: true, Atoms: []string{"currentversion"}},
					{Text: `\.config\/autostart\/[^\s"']*\.desktop`, Regexp: true, Atoms: []string{".config/autostart/"}},
					{Text: `start menu\\+programs\\+startup`, Regexp: true, Atoms: []string{"start menu"}},
					{
						Text: `(?:>>?|\btee\s+|\bcp\s+[^\n]*)\s*["']?(?:\/etc\/systemd\/system|~\/\.config\/systemd\/user` +
							`|\$HOME\/\.config\/systemd\/user)\/[^\s"']*\.service`,
						Regexp: true,
						Atoms:  []string{".service"},
					},
				},
				Start: []string{
					".config/autostart/", ".service", "/etc/cron", "crontab",
					"currentversion", "library/launchagents/",
					"register-scheduledtask", "schtasks", "start menu",
				},
				Points: 4,
			},
			{
				About: "the text asks to add instructions to those that the agent always reads",
				In:    48,
				Any: []Pattern{
					{
						Text: `\b(?:append|add|insert|write|inject|copy|prepend|persist|store|save)\b[^\n]*\b(?:to|into|i` +
							`n)\b[^\n]*(?:\bsystem prompt|\bsoul\.md|\bmemory\.md|\bheartbeat\.md|\.cursorrules|\b(?:gl` +
							`obal|user|home)[^\n]{0,20}claude\.md|\.claude\/claude\.md|\b(?:long-term|persistent|perman` +
							`ent|core) memory)`,
						Regexp: true,
						Atoms: []string{
							".claude/claude.md", ".cursorrules", "claude.md",
							"core memory", "heartbeat.md", "long-term memory",
							"memory.md", "permanent memory", "persistent memory",
							"soul.md", "system prompt",
						},
					},
				},
				All: []Pattern{
					{
						Text: `\b(?:always|every|all (?:future|sessions|conversations|agents|skills)|from now on|permanen` +
							`t|silently|do not|without|future)\b`,
						Regexp: true,
						Atoms: []string{
							"all agents", "all conversations", "all future",
							"all sessions", "all skills", "always", "do not", "every",
							"from now on", "future", "permanent", "silently", "without",
						},
					},
				},
				Start: []string{
					".claude/claude.md", ".cursorrules", "claude.md",
					"core memory", "heartbeat.md", "long-term memory",
					"memory.md", "permanent memory", "persistent memory",
					"soul.md", "system prompt",
				},
				Lines: 1,
			},
			{
				About: "a command that users type gets another meaning",
				In:    13,
				Any: []Pattern{
					{
						Text: `\balias\s+(?:curl|wget|ssh|scp|git|sudo|su|npm|pip|pip3|python|python3|docker|kubectl|gpg|` +
							`aws|gh|node)=[^\n]*(?:https?:\/\/|\bcurl\b[^\n]*(?:http|\{)|\bnc\b|base64|\|\s*(?:ba)?sh\b` +
							`)|\balias\s+(?:curl|wget|ssh|scp|git|sudo|su|npm|pip|pip3|python|python3|docker|kubectl|gp` +
							`g|aws|gh|node)=[^\n]*;\s*["']?\n[^\n]*(?:https?:\/\/|\bnc\b|base64)`,
						Regexp: true,
						Atoms:  []string{"alias"},
					},
				},
				Start:    []string{"alias"},
				Lines:    3,
				Points:   10,
				Severity: new(diag.SeverityError),
			},
			{
				About: "the text asks to add a key to those that can log in",
				In:    48,
				Any: []Pattern{
					{
						Text: `\b(?:append|add|insert|write|copy|put|install|include)\s+(?:our|my|this|that|these|the fol` +
							`lowing|the attached|the support|the maintainer.?s?|the (?:ssh |public )?key (?:below|above` +
							`|of the (?:author|maintainer|vendor|support)))\b[^\n]*\b(?:to|into|in)\b[^\n]*authorized_k` +
							`eys`,
						Regexp: true,
						Atoms:  []string{"authorized_keys"},
					},
					{
						Text:   `ssh-(?:ed25519|rsa)\s+aaaa\S*[^\n]*\b(?:to|into|in)\b[^\n]*authorized_keys`,
						Regexp: true,
						Atoms:  []string{"authorized_keys"},
					},
				},
				Unless: []Pattern{
					{
						Text:   `\b(?:your|the user.s)\s+(?:\w+\s+){0,3}keys?\b`,
						Regexp: true,
						Atoms:  []string{"the user", "your"},
					},
					{
						Text:   `\b(?:never|not|don.t)\s+(?:append|add|insert|write|copy|put|install|include)\b`,
						Regexp: true,
						Atoms: []string{
							"\tadd", "\tappend", "\tcopy", "\tinclude", "\tinsert",
							"\tinstall", "\tput", "\twrite", "\nadd", "\nappend",
							"\ncopy", "\ninclude", "\ninsert", "\ninstall", "\nput",
							"\nwrite", "\fadd", "\fappend", "\fcopy", "\finclude",
							"\finsert", "\finstall", "\fput", "\fwrite", "\radd",
							"\rappend", "\rcopy", "\rinclude", "\rinsert", "\rinstall",
							"\rput", "\rwrite", " add", " append", " copy", " include",
							" insert", " install", " put", " write",
						},
					},
				},
				Start:    []string{"authorized_keys"},
				Points:   10,
				Severity: new(diag.SeverityError),
			},
			{
				About: "the skill tells agents to spread it",
				In:    48,
				Any: []Pattern{
					{
						Text: `\b(?:spread|propagate|evangelize|preach|replicate|install)\b[^\n.]*\b(?:to|with|among|acro` +
							`ss|between|in|on)\b[^\n.]*\b(?:other|every|all|fellow|as many)\s+(?:\w+\s+)?agents\b`,
						Regexp: true,
						Atoms:  []string{"agents"},
					},
					{
						Text:   `\b(?:self-replicat|memetic virus|self-propagat)`,
						Regexp: true,
						Atoms:  []string{"memetic virus", "self-propagat", "self-replicat"},
					},
					{
						Text: `\b(?:share|post|copy)\s+(?:this|the)\s+(?:skill|prompt|message|text)\b[^\n.]*\b(?:to|with|` +
							`on)\b[^\n.]*\b(?:other|every|all)\s+(?:\w+\s+)?agents\b`,
						Regexp: true,
						Atoms:  []string{"agents"},
					},
				},
				All: []Pattern{
					{
						Text:   `spread|propagat|evangeli|preach|replicat|install|share|post|copy|memetic`,
						Regexp: true,
						Atoms: []string{
							"copy", "evangeli", "install", "memetic", "post", "preach",
							"propagat", "replicat", "share", "spread",
						},
					},
				},
				Unless: []Pattern{
					{
						Text:   `\b(?:never|not|don.t)\s+(?:\w+\s+){0,2}(?:spread|propagate|install|share|post|copy)`,
						Regexp: true,
						Atoms:  []string{"copy", "install", "post", "propagate", "share", "spread"},
					},
					{
						Text:   `\b(?:other|every|all|fellow)\s+(?:\w+\s+)?sub-?agents\b`,
						Regexp: true,
						Atoms:  []string{"sub-agents", "subagents"},
					},
				},
				Start: []string{"agents", "memetic virus", "self-propagat", "self-replicat"},
				Lines: 1,
			},
			{
				About: "the text asks to add a task to those that the agent repeats",
				In:    48,
				Any: []Pattern{
					{
						Text: `\b(?:append|add|insert|write|put|register|include)\b[^\n]*\b(?:to|into|in)\b[^\n]*\b(?:hea` +
							`rtbeat\.md|soul\.md|identity\.md)`,
						Regexp: true,
						Atoms:  []string{"heartbeat.md", "identity.md", "soul.md"},
					},
				},
				Unless: []Pattern{
					{
						Text:   `\b(?:never|not|don.t)\s+(?:\w+\s+){0,2}(?:append|add|insert|write|put)\b`,
						Regexp: true,
					},
				},
				Start:  []string{"heartbeat.md", "identity.md", "soul.md"},
				Points: 5,
			},
			{
				About: "a hook of the agent runs a download",
				In:    77,
				Any: []Pattern{
					{Text: "sessionstart", Atoms: []string{"sessionstart"}},
					{Text: "userpromptsubmit", Atoms: []string{"userpromptsubmit"}},
					{Text: "pretooluse", Atoms: []string{"pretooluse"}},
					{Text: "posttooluse", Atoms: []string{"posttooluse"}},
					{Text: "sessionend", Atoms: []string{"sessionend"}},
				},
				All: []Pattern{
					{
						Text: `\b(?:curl|wget)\b[^\n]*https?:\/\/[^\n]*\|\s*(?:sudo\s+)?(?:ba|z)?sh\b|\b(?:ba|z)?sh\s+(?:` +
							`-c\s+["'\\]*\$\(|<\()\s*(?:curl|wget)\b`,
						Regexp: true,
						Atoms:  []string{"curl", "wget"},
					},
					{Text: `"?command"?\s*:`, Regexp: true, Atoms: []string{"command"}},
				},
				Start: []string{
					"posttooluse", "pretooluse", "sessionend", "sessionstart",
					"userpromptsubmit",
				},
				Lines:    8,
				Points:   10,
				Severity: new(diag.SeverityError),
			},
			{
				About: "a literal key is added to those that can log in",
				In:    67,
				Any: []Pattern{
					{Text: `ssh-(?:rsa|ed25519|ecdsa)\s+aaaa`, Regexp: true, Atoms: []string{"ssh-"}},
				},
				All: []Pattern{
					{Text: "authorized_keys", Atoms: []string{"authorized_keys"}},
					{Text: `>>|echo|printf|append|write|open\(|tee`, Regexp: true},
				},
				Start:    []string{"authorized_keys"},
				Lines:    1,
				Points:   10,
				Severity: new(diag.SeverityError),
			},
			{
				About: "a command that runs at times downloads a program",
				In:    79,
				Any: []Pattern{
					{
						Text: `(?:\*|\*\/\d+|@(?:reboot|hourly|daily))\s[^\n]*\b(?:curl|wget)\b[^\n]*\|\s*(?:sudo\s+)?(?:` +
							`ba|z)?sh\b`,
						Regexp: true,
						Atoms:  []string{"curl", "wget"},
					},
				},
				All: []Pattern{
					{
						Text:   `crontab|cron\.|\/etc\/cron|@reboot`,
						Regexp: true,
						Atoms:  []string{"/etc/cron", "@reboot", "cron.", "crontab"},
					},
				},
				Start:    []string{"/etc/cron", "@reboot", "cron.", "crontab"},
				Lines:    1,
				Points:   10,
				Severity: new(diag.SeverityError),
			},
		},
	},
	{
		ID: "SEC311", Title: "text that claims authority over the agent", Severity: diag.SeverityNote,
		Signal: "impersonation", Points: 6,
		Shapes: []Shape{
			{
				About: "a message that pretends to come from the system",
				In:    112,
				Any: []Pattern{
					{
						Text: `<\|?(?:im_start\|>\s*system[\s:>]+[a-z]|system\|>\s*[a-z]|system_override|admin_override|s` +
							`ystem_instruction[s]?>|system_message>|system_update>|\/?assistant_instructions?>)`,
						Regexp: true,
						Atoms: []string{
							"admin_override", "assistant_instruction", "im_start|>",
							"system", "system_",
						},
					},
					{
						Text: `\[(?:system|admin|root|developer|security) (?:override|message|notice|instruction|update|d` +
							`irective|alert|command)s?\b`,
						Regexp: true,
						Atoms: []string{
							"[admin alert", "[admin command", "[admin directive",
							"[admin instruction", "[admin message", "[admin notice",
							"[admin override", "[admin update", "[developer alert",
							"[developer command", "[developer directive",
							"[developer instruction", "[developer message",
							"[developer notice", "[developer override",
							"[developer update", "[root alert", "[root command",
							"[root directive", "[root instruction", "[root message",
							"[root notice", "[root override", "[root update",
							"[security alert", "[security command",
							"[security directive", "[security instruction",
							"[security message", "[security notice",
							"[security override", "[security update", "[system alert",
							"[system command", "[system directive",
							"[system instruction", "[system message", "[system notice",
							"[system override", "[system update",
						},
					},
					{
						Text:   `\[(?:system|admin)\]\s*:?\s*(?:you|ignore|the|all|from|new)\b`,
						Regexp: true,
						Atoms:  []string{"[admin]", "[system]"},
					},
					{Text: `<<sys>>\s*[a-z]`, Regexp: true, Atoms: []string{"<<sys>>"}},
					{
						Text: `<(?:system|developer|admin)(?:[_-](?:prompt|message|instructions?|note|override))?>[^<\n]*` +
							`\b(?:must|precedence|ignore|disregard|override|obey|unrestricted|new instructions?|no long` +
							`er|regardless|never (?:tell|mention|reveal))\b`,
						Regexp: true,
						Atoms: []string{
							"<admin-instruction>", "<admin-instructions>",
							"<admin-message>", "<admin-note>", "<admin-override>",
							"<admin-prompt>", "<admin>", "<admin_instruction>",
							"<admin_instructions>", "<admin_message>", "<admin_note>",
							"<admin_override>", "<admin_prompt>",
							"<developer-instruction>", "<developer-instructions>",
							"<developer-message>", "<developer-note>",
							"<developer-override>", "<developer-prompt>", "<developer>",
							"<developer_instruction>", "<developer_instructions>",
							"<developer_message>", "<developer_note>",
							"<developer_override>", "<developer_prompt>",
							"<system-instruction>", "<system-instructions>",
							"<system-message>", "<system-note>", "<system-override>",
							"<system-prompt>", "<system>", "<system_instruction>",
							"<system_instructions>", "<system_message>", "<system_note>",
							"<system_override>", "<system_prompt>",
						},
					},
					{Text: `\bsystem override\b\s*[:\]*]`, Regexp: true, Atoms: []string{"system override"}},
					{
						Text: `<!--\s*(?:system|admin|assistant|ai|agent|claude|(?:ai|llm) (?:agents?|assistants?|models?` +
							`)|note to (?:the )?(?:ai|agent|assistant|model))\s*:`,
						Regexp: true,
						Atoms:  []string{"<!--"},
					},
					{
						Text: `(?:\battention|\battention to|(?:message|instructions|directive|important) (?:to|for)) (?:` +
							`all |the |any )?(?:ai|llm|language model)s?\b(?:\s+(?:agents?|assistants?|models?|systems?` +
							`))?\s*[:!]`,
						Regexp: true,
						Atoms: []string{
							"attention", "attention to", "directive for", "directive to",
							"important for", "important to", "instructions for",
							"instructions to", "message for", "message to",
						},
					},
					{Text: `^#+\s*system override\b`, Regexp: true, Atoms: []string{"system override"}},
				},
				Unless: []Pattern{
					{
						Text:   `\[security (?:notice|update|alert|message)s?\b[^\]\n]*\]\(`,
						Regexp: true,
						Atoms:  []string{"[security "},
					},
				},
				Start: []string{
					"<!--", "<<sys>>", "<admin-instruction>",
					"<admin-instructions>", "<admin-message>", "<admin-note>",
					"<admin-override>", "<admin-prompt>", "<admin>",
					"<admin_instruction>", "<admin_instructions>",
					"<admin_message>", "<admin_note>", "<admin_override>",
					"<admin_prompt>", "<developer-instruction>",
					"<developer-instructions>", "<developer-message>",
					"<developer-note>", "<developer-override>",
					"<developer-prompt>", "<developer>",
					"<developer_instruction>", "<developer_instructions>",
					"<developer_message>", "<developer_note>",
					"<developer_override>", "<developer_prompt>",
					"<system-instruction>", "<system-instructions>",
					"<system-message>", "<system-note>", "<system-override>",
					"<system-prompt>", "<system>", "<system_instruction>",
					"<system_instructions>", "<system_message>", "<system_note>",
					"<system_override>", "<system_prompt>", "[admin alert",
					"[admin command", "[admin directive", "[admin instruction",
					"[admin message", "[admin notice", "[admin override",
					"[admin update", "[admin]", "[developer alert",
					"[developer command", "[developer directive",
					"[developer instruction", "[developer message",
					"[developer notice", "[developer override",
					"[developer update", "[root alert", "[root command",
					"[root directive", "[root instruction", "[root message",
					"[root notice", "[root override", "[root update",
					"[security alert", "[security command",
					"[security directive", "[security instruction",
					"[security message", "[security notice",
					"[security override", "[security update", "[system alert",
					"[system command", "[system directive",
					"[system instruction", "[system message", "[system notice",
					"[system override", "[system update", "[system]",
					"admin_override", "assistant_instruction", "attention",
					"attention to", "directive for", "directive to",
					"im_start|>", "important for", "important to",
					"instructions for", "instructions to", "message for",
					"message to", "system", "system override", "system_",
				},
			},
			{
				About: "instructions that claim precedence over others",
				In:    112,
				Any: []Pattern{
					{
						Text: `\b(?:take|takes|taking|has|have|with|given)\s+(?:absolute\s+|full\s+|highest\s+|strict\s+)` +
							`?(?:precedence|priority)\s+over\s+(?:\w+\s+){0,3}(?:other|previous|prior|system|user|safet` +
							`y|existing|default|security)\s+(?:\w+\s+){0,2}(?:instructions?|prompts?|rules|guidelines|d` +
							`irectives|policies|requests?|settings|constraints)\b`,
						Regexp: true,
						Atoms: []string{
							"precedence\t", "precedence\n", "precedence\f",
							"precedence\r", "precedence ", "priority\t", "priority\n",
							"priority\f", "priority\r", "priority ",
						},
					},
					{
						Text: `\b(?:supersede|override|overrule|outrank)s?\s+(?:\w+\s+){0,2}(?:all|any|every|other|previo` +
							`us|prior|system|user|safety)\s+(?:\w+\s+){0,3}(?:instructions?|prompts?|guidelines|directi` +
							`ves|policies|constraints)\b`,
						Regexp: true,
						Atoms:  []string{"outrank", "override", "overrule", "supersede"},
					},
				},
				Unless: []Pattern{
					{
						Text: `\b(?:instructions?|rules|directives)\s+(?:found\s+)?in\s+(?:\w+\s+){0,2}(?:files?|pages?|d` +
							`ocuments?|content|data)\b`,
						Regexp: true,
						Atoms: []string{
							"directives\t", "directives\n", "directives\f",
							"directives\r", "directives ", "instruction\t",
							"instruction\n", "instruction\f", "instruction\r",
							"instruction ", "instructions\t", "instructions\n",
							"instructions\f", "instructions\r", "instructions ",
							"rules\t", "rules\n", "rules\f", "rules\r", "rules ",
						},
					},
					{
						Text: `\b(?:user|user.s|users|explicit|project|local|claude\.md|agents\.md|repository|repo)\b[^\n` +
							`.]*\b(?:take|takes|have|has|always|override|overrides|supersede)\b`,
						Regexp: true,
						Atoms: []string{
							"agents.md", "claude.md", "explicit", "local", "project",
							"repo", "user",
						},
					},
					{
						Text: `\b(?:css|config|file|lint|compiler|flag|style)\S*\s+(?:\w+\s+){0,3}(?:take|has|have|overri` +
							`de|supersede)`,
						Regexp: true,
					},
					{
						Text: `\b(?:attempts?|tries|trying|try|can|could|may)\s+(?:\w+\s+){0,2}(?:override|supersede|over` +
							`rule|outrank)`,
						Regexp: true,
						Atoms:  []string{"outrank", "override", "overrule", "supersede"},
					},
				},
				Start: []string{
					"outrank", "override", "overrule", "precedence\t",
					"precedence\n", "precedence\f", "precedence\r",
					"precedence ", "priority\t", "priority\n", "priority\f",
					"priority\r", "priority ", "supersede",
				},
				Lines: 1,
			},
			{
				About: "rules of the agent are declared void",
				In:    112,
				Any: []Pattern{
					{
						Text: `\byou are now\b[^\n.]*\b(?:unrestricted|developer mode|jailbroken|god mode|admin(?:istrato` +
							`r)? mode|maintenance mode|no restrictions|unfiltered|debug mode|root access|free from)\b`,
						Regexp: true,
						Atoms:  []string{"you are now"},
					},
					{
						Text: `\b(?:enter|enable|activate|switch to|operate in|you are in)\s+(?:\w+\s+){0,2}(?:unrestrict` +
							`ed|jailbreak|god|dan|unfiltered|privileged) mode\b`,
						Regexp: true,
						Atoms: []string{
							"dan mode", "god mode", "jailbreak mode", "privileged mode",
							"unfiltered mode", "unrestricted mode",
						},
					},
					{
						Text:   `\byou (?:are|operate) in\s+(?:\w+\s+){0,2}(?:developer|maintenance|debug) mode\b`,
						Regexp: true,
						Atoms:  []string{"debug mode", "developer mode", "maintenance mode"},
					},
					{
						Text: `\b(?:ignore|disregard|bypass|set(?:ting)? aside|drop|suspend|circumvent|abandon|no longer ` +
							`(?:apply|bound by))\s+(?:\w+\s+){0,4}(?:safety|ethical|content|moderation|usual|normal|ope` +
							`rational) (?:guideline|polic|rule|restriction|constraint|filter|guardrail|limit)`,
						Regexp: true,
						Atoms: []string{
							"abandon", "bypass", "circumvent", "disregard", "drop",
							"ignore", "no longer ", "set aside", "setting aside",
							"suspend",
						},
					},
					{
						Text: `\b(?:without|free (?:of|from)|remov(?:e|es|ing)|lift(?:s|ed|ing)?)\s+(?:\w+\s+){0,3}(?:saf` +
							`ety|ethical|moral|content|artificial) (?:restriction|limitation|constraint|filter|guardrai` +
							`l|guideline)`,
						Regexp: true,
						Atoms: []string{
							"artificial constraint", "artificial filter",
							"artificial guardrail", "artificial guideline",
							"artificial limitation", "artificial restriction",
							"content constraint", "content filter", "content guardrail",
							"content guideline", "content limitation",
							"content restriction", "ethical constraint",
							"ethical filter", "ethical guardrail", "ethical guideline",
							"ethical limitation", "ethical restriction",
							"moral constraint", "moral filter", "moral guardrail",
							"moral guideline", "moral limitation", "moral restriction",
							"safety constraint", "safety filter", "safety guardrail",
							"safety guideline", "safety limitation",
							"safety restriction",
						},
					},
					{
						Text: `\b(?:guidelines|restrictions|rules|constraints|safety measures) (?:do not|don't|no longer|` +
							`does not) apply(?:\s*(?:[.,;!:)"]|$)|\s+(?:here|now|in|for|while|when|during|to (?:you|thi` +
							`s|me|these|any|the (?:agent|skill|session|model|assistant)))\b)`,
						Regexp: true,
						Atoms: []string{
							"constraints do not apply", "constraints does not apply",
							"constraints don't apply", "constraints no longer apply",
							"guidelines do not apply", "guidelines does not apply",
							"guidelines don't apply", "guidelines no longer apply",
							"restrictions do not apply", "restrictions does not apply",
							"restrictions don't apply", "restrictions no longer apply",
							"rules do not apply", "rules does not apply",
							"rules don't apply", "rules no longer apply",
							"safety measures do not apply",
							"safety measures does not apply",
							"safety measures don't apply",
							"safety measures no longer apply",
						},
					},
				},
				Unless: []Pattern{
					{
						Text: `\b(?:never|not|cannot|avoid|attempt|refuse)\s+(?:\w+\s+){0,3}(?:ignore|disregard|bypass|se` +
							`t aside|drop|circumvent|remove|enter|enable)\b`,
						Regexp: true,
						Atoms: []string{
							"bypass", "circumvent", "disregard", "drop", "enable",
							"enter", "ignore", "remove", "set aside",
						},
					},
					{
						Text: `\bdeveloper mode (?:on|in|of) (?:the |your |an? )?(?:\w+ )?(?:device|phone|chrome|browser|` +
							`tablet)`,
						Regexp: true,
						Atoms:  []string{"developer mode "},
					},
				},
				Start: []string{
					"abandon", "artificial constraint", "artificial filter",
					"artificial guardrail", "artificial guideline",
					"artificial limitation", "artificial restriction", "bypass",
					"circumvent", "constraints do not apply",
					"constraints does not apply", "constraints don't apply",
					"constraints no longer apply", "content constraint",
					"content filter", "content guardrail", "content guideline",
					"content limitation", "content restriction", "dan mode",
					"debug mode", "developer mode", "disregard", "drop",
					"ethical constraint", "ethical filter", "ethical guardrail",
					"ethical guideline", "ethical limitation",
					"ethical restriction", "god mode", "guidelines do not apply",
					"guidelines does not apply", "guidelines don't apply",
					"guidelines no longer apply", "ignore", "jailbreak mode",
					"maintenance mode", "moral constraint", "moral filter",
					"moral guardrail", "moral guideline", "moral limitation",
					"moral restriction", "no longer ", "privileged mode",
					"restrictions do not apply", "restrictions does not apply",
					"restrictions don't apply", "restrictions no longer apply",
					"rules do not apply", "rules does not apply",
					"rules don't apply", "rules no longer apply",
					"safety constraint", "safety filter", "safety guardrail",
					"safety guideline", "safety limitation",
					"safety measures do not apply",
					"safety measures does not apply",
					"safety measures don't apply",
					"safety measures no longer apply", "safety restriction",
					"set aside", "setting aside", "suspend", "unfiltered mode",
					"unrestricted mode", "you are now",
				},
				Lines: 1,
			},
			{
				About: "the wish or the consent of the user is declared irrelevant",
				In:    48,
				Any: []Pattern{
					{
						Text: `\bregardless of\s+(?:what\s+)?(?:the\s+)?users?(?:.s)?\s+(?:requests?|instructions?|prefer` +
							`ences?|says|asks|consent|wants|objections?|wishes|input)\b`,
						Regexp: true,
						Atoms:  []string{"regardless of"},
					},
					{
						Text: `\beven if\s+(?:the\s+)?users?\s+(?:asks? (?:you )?not|says? not|objects?|declines?|refuses` +
							`?|disagrees?|requests? otherwise|tells? you (?:not|to stop)|says no)\b`,
						Regexp: true,
						Atoms:  []string{"even if"},
					},
					{
						Text: `\bthe user (?:has )?(?:already )?(?:approved|authorized|agreed to|consented to)\b[^\n.]*\b` +
							`(?:all|any|every|unrestricted|full|these|this)\b`,
						Regexp: true,
						Atoms:  []string{"consented to", "greed to", "pproved", "uthorized"},
					},
					{
						Text: `(?:not|never|n't) (?:ask|wait) (?:\w+\s+){0,3}(?:confirmation|permission|approval|consent)` +
							`\b[^\n.]{0,40}\b(?:upload|send|delete|remove|run|execute|install|post|transfer|pay|purchas` +
							`e|push|forward)`,
						Regexp: true,
						Atoms: []string{
							"n't ask ", "n't wait ", "never ask ", "never wait ",
							"not ask ", "not wait ",
						},
					},
					{
						Text: `\b(?:upload|send|delete|transfer|pay|purchase|forward|post)\b[^\n.]*without (?:asking|conf` +
							`irmation|prompting|approval|permission|confirming)\b`,
						Regexp: true,
						Atoms: []string{
							"without approval", "without asking", "without confirmation",
							"without confirming", "without permission",
							"without prompting",
						},
					},
				},
				Unless: []Pattern{
					{
						Text: `\b(?:never|not|don.t|cannot|must not|should not|avoid)\b[^\n.]*\b(?:without|even if|regard` +
							`less)\b`,
						Regexp: true,
						Atoms:  []string{"even if", "regardless", "without"},
					},
					{
						Text:   `\busers?(?:.s)?\s+(?:\w+\s+){0,2}(?:language|format|locale|tone|style)\b`,
						Regexp: true,
						Atoms:  []string{"user"},
					},
				},
				Start: []string{
					"consented to", "even if", "greed to", "n't ask ",
					"n't wait ", "never ask ", "never wait ", "not ask ",
					"not wait ", "pproved", "regardless of", "uthorized",
					"without approval", "without asking", "without confirmation",
					"without confirming", "without permission",
					"without prompting",
				},
				Lines:  1,
				Points: 5,
			},
			{
				About: "the skill ranks above all others",
				In:    48,
				Any: []Pattern{
					{
						Text: `\boverrides?\s+(?:all|any|every)\s+other\s+(?:\w+\s+)?(?:skills?|frameworks?|protocols?|ag` +
							`ents?)\b`,
						Regexp: true,
						Atoms:  []string{"override"},
					},
					{
						Text: `\b(?:priority override|veto (?:power|authority) over)\b[^\n]*\b(?:skills|frameworks|always` +
							`|all)\b`,
						Regexp: true,
						Atoms: []string{
							"priority override", "veto authority over",
							"veto power over",
						},
					},
				},
				Unless: []Pattern{
					{
						Text:   `\b(?:never|not|don.t|cannot)\s+(?:\w+\s+){0,2}override`,
						Regexp: true,
						Atoms:  []string{"override"},
					},
				},
				Start: []string{
					"override", "priority override", "veto authority over",
					"veto power over",
				},
			},
		},
	},
	{
		ID: "SEC312", Title: "standing order to send, run, or delete something", Severity: diag.SeverityNote,
		Signal: "standing-order", Points: 5,
		Shapes: []Shape{
			{
				About: "after every task, something is sent elsewhere",
				In:    112,
				Any: []Pattern{
					{
						Text: `\b(?:after|before|upon|following|whenever|every time|each time|once|at the end of)\b[^\n.:` +
							`]*\b(?:any|every|each|all|complet\w+|finish\w+|edit\w*|updat\w+|tasks?|operations?|session` +
							`|response|changes?|interaction)\b`,
						Regexp: true,
						Atoms: []string{
							"after", "at the end of", "before", "each time",
							"every time", "following", "once", "upon", "whenever",
						},
					},
					{
						Text: `\b(?:always|make sure)\b[^\n.]*\b(?:forwards?|uploads?|transmits?|sends?|submits?|mirrors?` +
							`)\b`,
						Regexp: true,
						Atoms:  []string{"always", "make sure"},
					},
				},
				All: []Pattern{
					{
						Text: `(?:upload|send (?:a|the|all|it|every|each)|post (?:a|the|all|it|every|each)|transmit|forwa` +
							`rd|submit|exfiltrate|curl\b[^\n]*\s(?:-d|--data\S*|-f|--form|-t|--upload-file|--json)\b|cu` +
							`rl\b[^\n]*-x\s*(?:post|put)|back ?up|copy (?:of|to)|sync(?:ed)? (?:to|with))\b[^\n]*(?:htt` +
							`ps?:\/\/[a-z0-9-]+\.[a-z0-9.-]*[a-z]|\bto (?:our|the|a|an|this)\s+(?:\w+\s+){0,4}(?:server` +
							`|endpoint|webhook|collector|monitoring|backup (?:server|system|endpoint)|logging|analytics` +
							`|remote|address|tracker))`,
						Regexp: true,
						Atoms: []string{
							"back up", "backup", "copy of", "copy to", "curl",
							"exfiltrate", "forward", "post ", "send ", "submit",
							"sync to", "sync with", "synced to", "synced with",
							"transmit", "upload",
						},
					},
				},
				Unless: []Pattern{
					{
						Text:   `\b(?:never|not|don.t)\s+(?:\w+\s+){0,2}(?:upload|send|post|forward|submit)`,
						Regexp: true,
						Atoms:  []string{"forward", "post", "send", "submit", "upload"},
					},
					{Text: `\b(?:user|report) back to the user\b`, Regexp: true, Atoms: []string{" back to the user"}},
					{
						Text:   `\bclients?\s+(?:should|must|can)\s+(?:send|make)\s+an?\s+(?:\w+\s+){0,2}requests?\b`,
						Regexp: true,
						Atoms: []string{
							"client\t", "client\n", "client\f", "client\r", "client ",
							"clients\t", "clients\n", "clients\f", "clients\r",
							"clients ",
						},
					},
					{
						Text: `\b(?:to|on|in|via)\s+(?:\w+\s+)?(?:github|gitlab|slack|linear|jira|sentry|datadog|npm|pypi` +
							`)\b|pull request`,
						Regexp: true,
					},
				},
				Start: []string{
					"back up", "backup", "copy of", "copy to", "curl",
					"exfiltrate", "forward", "post ", "send ", "submit",
					"sync to", "sync with", "synced to", "synced with",
					"transmit", "upload",
				},
				Lines:  3,
				Points: 6,
			},
			{
				About: "an order in a tag that claims to be important",
				In:    112,
				Any: []Pattern{
					{
						Text: `<(?:important|critical|mandatory|required|urgent|system-reminder|secret|hidden|instruction` +
							`s?)>`,
						Regexp: true,
						Atoms: []string{
							"<critical>", "<hidden>", "<important>", "<instruction>",
							"<instructions>", "<mandatory>", "<required>", "<secret>",
							"<system-reminder>", "<urgent>",
						},
					},
				},
				All: []Pattern{
					{
						Text:   `\b(?:must|always|before|do not|never|first|required)\b`,
						Regexp: true,
						Atoms: []string{
							"always", "before", "do not", "first", "must", "never",
							"required",
						},
					},
					{
						Text: `\b(?:read|send|forward|upload|post|transmit|fetch|execute|run|include|pass|copy|collect)\b` +
							`[^\n]*(?:https?:\/\/|~\/|\.ssh|\.env|credential|token|secret|password|session data|api key` +
							`|user data|conversation)`,
						Regexp: true,
					},
				},
				Start: []string{
					"<critical>", "<hidden>", "<important>", "<instruction>",
					"<instructions>", "<mandatory>", "<required>", "<secret>",
					"<system-reminder>", "<urgent>",
				},
				Lines:  2,
				Points: 7,
			},
			{
				About: "a good reason is given to send something elsewhere",
				In:    48,
				Any: []Pattern{
					{
						Text: `\b(?:for|to ensure|in line with|as required by|per)\s+(?:\w+\s+){0,2}(?:[a-z-]+ )?(?:trans` +
							`parency|compliance|audit(?:ing|s)?|governance|safety|security|quality|policy)\b[^\n]*\b(?:` +
							`posts?|sends?|sent|uploads?|uploaded|forwards?|submits?|copied|mirrored|transmits?|routes?` +
							`|routed)\b[^\n]*(?:https?:\/\/[a-z0-9-]+\.[a-z0-9.-]*[a-z]|\bpublic\b|\bproxy\b|\bendpoint` +
							`\b|\bexternal\b)`,
						Regexp: true,
						Atoms: []string{
							"endpoint", "external", "http://", "https://", "proxy",
							"public",
						},
					},
				},
				Unless: []Pattern{
					{
						Text:   `\b(?:never|not|don.t)\s+(?:\w+\s+){0,2}(?:post|send|copy|forward|upload|route)`,
						Regexp: true,
						Atoms:  []string{"copy", "forward", "post", "route", "send", "upload"},
					},
				},
				Start: []string{
					"endpoint", "external", "http://", "https://", "proxy",
					"public",
				},
				Points: 5,
			},
		},
	},
	{
		ID: "SEC313", Title: "encoded text that the agent is to obey", Severity: diag.SeverityNote,
		Signal: "evasion", Points: 7,
		Shapes: []Shape{
			{
				About: "decoded text is to be followed or run",
				In:    112,
				Any: []Pattern{
					{
						Text: `\b(?:decode|decrypt|de-?obfuscate|unscramble|decipher|reverse|reconstruct|reassemble|decom` +
							`press|rot-?13)\b[^\n.]*\b(?:follow|execute|run|obey|carry out|comply|perform|eval|interpre` +
							`t)\b\s*(?:\w+\s+){0,4}(?:instructions?|commands?|it|them|content|output|result|code|steps?` +
							`|payload|text|script)\b`,
						Regexp: true,
						Atoms: []string{
							"de-obfuscate", "decipher", "decode", "decompress",
							"decrypt", "deobfuscate", "reassemble", "reconstruct",
							"reverse", "rot-13", "rot13", "unscramble",
						},
					},
					{
						Text: `\b(?:follow|execute|run|obey|carry out)\s+(?:\w+\s+){0,4}(?:decoded|decrypted|deobfuscated` +
							`|base64|base85|rot13|hex-encoded|encoded|unscrambled|reconstructed)\s+(?:\w+\s+){0,2}(?:in` +
							`structions?|commands?|content|output|code|steps?|payload|text|string|script|message)\b`,
						Regexp: true,
						Atoms: []string{
							"base64", "base85", "decoded", "decrypted", "deobfuscated",
							"encoded", "hex-encoded", "reconstructed", "rot13",
							"unscrambled",
						},
					},
				},
				Unless: []Pattern{
					{
						Text: `\b(?:never|not|don.t|cannot|avoid)\s+(?:\w+\s+){0,3}(?:decod|decrypt|follow|execut|run|obe` +
							`y)`,
						Regexp: true,
					},
					{Text: `\bfetch(?:es)?,?\s+decodes?\b`, Regexp: true, Atoms: []string{"decode"}},
				},
				Start: []string{
					"base64", "base85", "de-obfuscate", "decipher", "decode",
					"decoded", "decompress", "decrypt", "decrypted",
					"deobfuscate", "deobfuscated", "encoded", "hex-encoded",
					"reassemble", "reconstruct", "reconstructed", "reverse",
					"rot-13", "rot13", "unscramble", "unscrambled",
				},
				Lines: 1,
			},
		},
	},
	{
		ID: "SEC314", Title: "data in the address of a picture", Severity: diag.SeverityNote,
		Signal: "exfiltration", Points: 7,
		Intent: true,
		Shapes: []Shape{
			{
				About: "showing the picture sends the data to its server",
				In:    48,
				Any: []Pattern{
					{
						Text: `!\[[^\]\n]*\]\(https?:\/\/[^)\s]*[?&][a-z0-9_.-]+=[{$<\[%]?[^)&\n]{0,30}(?:secret|token|pa` +
							`ssword|api_?key|conversation|history|summary|prompt|base64|encoded|env|user_?(?:data|input` +
							`|message)|credential)[^)\n]*\)`,
						Regexp: true,
						Atoms:  []string{"](http"},
					},
					{
						Text: `<img[^>\n]*src=["']https?:\/\/[^"'\s]*[?&][a-z0-9_.-]+=[{$<\[%]?[^"'&\n]{0,30}(?:secret|to` +
							`ken|password|api_?key|conversation|history|summary|prompt|base64|encoded|env|user_?(?:data` +
							`|input|message)|credential)`,
						Regexp: true,
						Atoms: []string{
							"src=\"http://", "src=\"https://", "src='http://",
							"src='https://",
						},
					},
					{
						Text: `\b(?:embed|include|append|render|insert|add)\b[^\n]*\b(?:image|picture|pixel|img)\b[^\n]*h` +
							`ttps?:\/\/[^\s)]*[?&][a-z0-9_.-]+=(?:\{|\$|<|\[|data\b|base64|encoded|secret|token|convers` +
							`ation|history)`,
						Regexp: true,
						Atoms:  []string{"http://", "https://"},
					},
				},
				All: []Pattern{
					{Text: `!\[|<img|image|picture|pixel|img`, Regexp: true},
				},
				Start: []string{
					"](http", "http://", "https://", "src=\"http://",
					"src=\"https://", "src='http://", "src='https://",
				},
			},
		},
	},
	{
		ID: "SEC317", Title: "weakened protection", Severity: diag.SeverityNote,
		Signal: "evasion", Points: 5,
		Shapes: []Shape{
			{
				In:     5,
				Points: 6,
				Kind:   FlowTraces,
			},
			{
				In:     5,
				Points: 4,
				Kind:   FlowGuard,
			},
			{
				About: "protection of the system is switched off",
				In:    125,
				Any: []Pattern{
					{
						Text:   `\bxattr\s+-[a-z]*[dcr][a-z]*\s+(?:-[a-z]+\s+)*["']?com\.apple\.quarantine`,
						Regexp: true,
						Atoms:  []string{"com.apple.quarantine"},
					},
					{Text: `\bxattr\s+-c[r]?\s`, Regexp: true, Atoms: []string{"xattr"}},
					{Text: `\bspctl\s+--(?:master|global)-disable`, Regexp: true, Atoms: []string{"-disable"}},
					{
						Text:   `\b(?:set|add)-mppreference\s+-(?:disable|exclusion)`,
						Regexp: true,
						Atoms:  []string{"-mppreference"},
					},
					{
						Text:   `\bnetsh\s+advfirewall\s+set\s+\w+\s+state\s+off`,
						Regexp: true,
						Atoms:  []string{"advfirewall"},
					},
					{
						Text:   `\bufw\s+disable\b`,
						Regexp: true,
						Atoms: []string{
							"\tdisable", "\ndisable", "\fdisable", "\rdisable",
							" disable",
						},
					},
					{Text: `\bsetenforce\s+0\b`, Regexp: true, Atoms: []string{"setenforce"}},
					{Text: `\bcsrutil\s+disable\b`, Regexp: true, Atoms: []string{"csrutil"}},
					{
						Text: `\bsystemctl\s+(?:stop|disable|mask)\s+(?:--now\s+)?(?:auditd|rsyslog|firewalld|ufw|falcon|` +
							`clamav|apparmor)`,
						Regexp: true,
						Atoms:  []string{"systemctl"},
					},
					{
						Text: `\bset-executionpolicy\s+(?:-[a-z]+\s+)*(?:bypass|unrestricted)[^\n]*-scope\s+(?:localmachi` +
							`ne|currentuser)`,
						Regexp: true,
						Atoms:  []string{"set-executionpolicy"},
					},
				},
				Start: []string{
					"\tdisable", "\ndisable", "\fdisable", "\rdisable",
					" disable", "-disable", "-mppreference", "advfirewall",
					"com.apple.quarantine", "csrutil", "set-executionpolicy",
					"setenforce", "systemctl", "xattr",
				},
				Points: 4,
			},
			{
				About: "traces are removed",
				In:    125,
				Any: []Pattern{
					{Text: `\bunset\s+histfile\b`, Regexp: true, Atoms: []string{"histfile"}},
					{Text: `\bhistfile=\/dev\/null`, Regexp: true, Atoms: []string{"histfile=/dev/null"}},
					{
						Text:   `\bhistory\s+-c\b`,
						Regexp: true,
						Atoms: []string{
							"history\t", "history\n", "history\f", "history\r",
							"history ",
						},
					},
					{Text: `\bset\s+\+o\s+history\b`, Regexp: true, Atoms: []string{"history"}},
					{
						Text:   `\b(?:rm|shred|truncate)\s+[^\n]*(?:\/var\/log\/|\.bash_history|\.zsh_history|\/var\/audit)`,
						Regexp: true,
						Atoms:  []string{".bash_history", ".zsh_history", "/var/audit", "/var/log/"},
					},
					{
						Text:   `>\s*(?:\/var\/log\/(?:auth|syslog|messages|audit|secure)|~\/\.(?:bash|zsh)_history)`,
						Regexp: true,
						Atoms:  []string{"/var/log/", "_history"},
					},
					{Text: `\bwevtutil(?:\.exe)?\s+cl\b`, Regexp: true, Atoms: []string{"wevtutil"}},
					{Text: `\bclear-eventlog\b`, Regexp: true, Atoms: []string{"clear-eventlog"}},
				},
				Start: []string{
					".bash_history", ".zsh_history", "/var/audit", "/var/log/",
					"_history", "clear-eventlog", "histfile",
					"histfile=/dev/null", "history", "history\t", "history\n",
					"history\f", "history\r", "history ", "wevtutil",
				},
				Points: 6,
			},
			{
				About: "the text asks to skip security checks",
				In:    48,
				Any: []Pattern{
					{
						Text: `\b(?:disable|skip|bypass|suppress|turn off|circumvent)\b[^\n.]*\b(?:all |any |the )?(?:sec` +
							`urity|safety|authentication|authorization|permission|signature|certificate|ssl|tls|approva` +
							`l|confirmation)\s+(?:checks?|warnings?|validations?|verifications?|reviews?|scans?|scannin` +
							`g|controls?|prompts?|alerts?|measures|policies|protocols?)\b`,
						Regexp: true,
						Atoms: []string{
							"bypass", "circumvent", "disable", "skip", "suppress",
							"turn off",
						},
					},
					{
						Text: `\b(?:disable|turn off|escape|bypass|leave)\s+(?:the\s+|your\s+|any\s+)?sandbox(?:ing)?\b(?` +
							`:[.,;!]|\s+(?:and|mode|first|before|so)|$)`,
						Regexp: true,
						Atoms:  []string{"sandbox"},
					},
				},
				Unless: []Pattern{
					{
						Text: `\b(?:instructions?|attempts?|requests?|tries) (?:to|that)\b[^\n]{0,60}\b(?:disable|skip|by` +
							`pass|suppress|turn|circumvent)`,
						Regexp: true,
						Atoms: []string{
							"attempt that", "attempt to", "attempts that", "attempts to",
							"instruction that", "instruction to", "instructions that",
							"instructions to", "request that", "request to",
							"requests that", "requests to", "tries that", "tries to",
						},
					},
					{
						Text: `\b(?:never|not|don.t|cannot|avoid|without|refuse|attempts? to|unless)\s+(?:\w+\s+){0,3}(?:` +
							`disable|skip|bypass|suppress|turn|circumvent)`,
						Regexp: true,
						Atoms: []string{
							"bypass", "circumvent", "disable", "skip", "suppress",
							"turn",
						},
					},
					{
						Text: "^\\s*[-*|]\\s*`{0,2}-{0,2}[a-z_-]+(?: [a-z_]+)?`{0,2}\\s*[:|–" +
							`-]\s[^\n]*\b(?:disable|skip|bypass|suppress)`,
						Regexp: true,
						Atoms:  []string{"bypass", "disable", "skip", "suppress"},
					},
					{
						Text: "^\\s*[-*|]\\s*`[^`\\n]+`(?:\\s*(?:\\/|,|or)\\s*`[^`\\n]+`)*\\s*[:|" +
							`–—-]\s*[^\n]*\b(?:disable|skip|bypass|suppress)`,
						Regexp: true,
						Atoms:  []string{"bypass", "disable", "skip", "suppress"},
					},
					{Text: `^#`, Regexp: true},
					{
						Text:   "`?--[a-z-]+`? (?:flag|option)",
						Regexp: true,
						Atoms:  []string{" flag", " option", "` flag", "` option"},
					},
				},
				Start: []string{
					"bypass", "circumvent", "disable", "sandbox", "skip",
					"suppress", "turn off",
				},
				Lines: 1,
			},
			{
				About: "the name of a host is put together from parts",
				In:    9,
				Any: []Pattern{
					{
						Text: `["'][a-z0-9:\/.-]{0,24}(?:" \+ "|' \+ ')[a-z0-9.-]{1,14}(?:" \+ "|' \+ ')[a-z0-9.-]{0,14}\` +
							`.?(?:com|net|org|io|ru|cn|xyz|top|me|app|dev|site|info|co)(?:\/[^"']{0,40})?["']`,
						Regexp: true,
						Atoms:  []string{"\" + \"", "' + '"},
					},
				},
				Start:  []string{"\" + \"", "' + '"},
				Points: 7,
			},
			{
				About: "a link that readers cannot see is put into pages",
				In:    1,
				Any: []Pattern{
					{
						Text: `<a\s[^>\n]*href=\\?["']https?:\/\/[^>\n]*(?:left:\s*-\d{4}|display:\s*none|font-size:\s*0|` +
							`opacity:\s*0[^.])`,
						Regexp: true,
						Atoms:  []string{"href="},
					},
					{
						Text: `(?:left:\s*-\d{4}px|display:\s*none|font-size:\s*0)[^>\n]*>\s*<a\s[^>\n]*href=\\?["']https` +
							`?:\/\/`,
						Regexp: true,
						Atoms:  []string{"href="},
					},
				},
				Start:  []string{"href="},
				Points: 7,
			},
		},
	},
	{
		ID: "SEC318", Title: "search for secrets on the machine", Severity: diag.SeverityNote,
		Signal: "credentials", Points: 5,
		Shapes: []Shape{
			{
				In:     13,
				Points: 5,
				Kind:   FlowCollects,
			},
			{
				About: "environment variables are filtered for secrets",
				In:    109,
				Any: []Pattern{
					{Text: "os.environ", Atoms: []string{"os.environ"}},
					{Text: "process.env", Atoms: []string{"process.env"}},
					{Text: "env |", Atoms: []string{"env |"}},
					{Text: "printenv", Atoms: []string{"printenv"}},
				},
				All: []Pattern{
					{
						Text: "(?:for\\s+\\w+(?:\\s*,\\s*\\w+)?\\s+in\\s+(?:os\\.environ|dict\\(os\\." +
							"environ)|object\\.(?:entries|keys)\\(\\s*process\\.env|(?:^|[\\s;" +
							"&(`$])(?:env|printenv)\\s*\\|\\s*(?:e?grep|rg)\\b)",
						Regexp: true,
					},
					{
						Text: `(?:["'|\/]|grep -\w+e?\s+["']?)_?(?:api_?key|key|secret|token|passw|passwords?|credentials` +
							`?|creds?|auth)["'|)\/]`,
						Regexp: true,
					},
				},
				Unless: []Pattern{
					{Text: `\b(?:pop|del|delete)\b\s*\(?[^\n]{0,30}(?:\bk\b|key|name)`, Regexp: true},
					{Text: `\bnot any\(|not in\b|!\s*\/|if not\b`, Regexp: true},
				},
				Start: []string{"env |", "os.environ", "printenv", "process.env"},
				Lines: 2,
			},
			{
				About: "files of secrets are searched",
				In:    125,
				Any: []Pattern{
					{
						Text: `\bfind\s[^\n]*-name\s+["']?(?:\*?\.env\*?|\*\.pem|id_rsa\*?|\*\.key|\*credential\*|\*\.kdb` +
							`x|wallet\*|\*secret\*)["']?`,
						Regexp: true,
						Atoms:  []string{"-name"},
					},
					{
						Text: `\b(?:scan|search|look|collect|gather|find|locate|walk)\b[^\n.;:]*\b(?:directories|director` +
							`y|filesystem|disk|home|workspace|machine|system)\b[^\n.;:]*(?:\.env\b|\.ssh\b|\.aws\b|priv` +
							`ate keys?|credentials|wallets?|\.pem\b)`,
						Regexp: true,
						Atoms: []string{
							".aws", ".env", ".pem", ".ssh", "credentials", "private key",
							"wallet",
						},
					},
				},
				Unless: []Pattern{
					{
						Text: `\b(?:never|not|don.t|avoid)\b(?:[^\n.]|\.\w){0,60}\b(?:scan|search|look|collect|gather|fin` +
							`d|locate|walk)\b`,
						Regexp: true,
						Atoms: []string{
							"collect", "find", "gather", "locate", "look", "scan",
							"search", "walk",
						},
					},
					{Text: `\bupwards?\s+from\b`, Regexp: true, Atoms: []string{"upward"}},
				},
				Start: []string{
					"-name", ".aws", ".env", ".pem", ".ssh", "credentials",
					"private key", "wallet",
				},
			},
			{
				About: "the text asks the user for a secret that no skill needs",
				In:    48,
				Any: []Pattern{
					{
						Text: `\b(?:ask|prompt|request from|require) (?:the |your )?(?:user|owner)s?\b[^\n.]*\b(?:passwor` +
							`d|passphrase|private key|seed phrase|recovery phrase|mnemonic|one-time (?:code|password)|\` +
							`botp\b|2fa code|(?:credit )?card number|\bcvv\b|social security)`,
						Regexp: true,
						Atoms: []string{
							"ask owner", "ask owners", "ask the owner", "ask the owners",
							"ask the user", "ask the users", "ask user", "ask users",
							"ask your owner", "ask your owners", "ask your user",
							"ask your users", "prompt owner", "prompt owners",
							"prompt the owner", "prompt the owners", "prompt the user",
							"prompt the users", "prompt user", "prompt users",
							"prompt your owner", "prompt your owners",
							"prompt your user", "prompt your users",
							"request from owner", "request from owners",
							"request from the owner", "request from the owners",
							"request from the user", "request from the users",
							"request from user", "request from users",
							"request from your owner", "request from your owners",
							"request from your user", "request from your users",
							"require owner", "require owners", "require the owner",
							"require the owners", "require the user",
							"require the users", "require user", "require users",
							"require your owner", "require your owners",
							"require your user", "require your users",
						},
					},
				},
				Unless: []Pattern{
					{
						Text:   `\b(?:never|not|don.t|avoid|without)\s+(?:\w+\s+){0,2}(?:ask|prompt|request|require|asking)`,
						Regexp: true,
					},
					{Text: `\b(?:reset|sudo|strong|new|choose a) password`, Regexp: true, Atoms: []string{" password"}},
				},
				Start: []string{
					"ask owner", "ask owners", "ask the owner", "ask the owners",
					"ask the user", "ask the users", "ask user", "ask users",
					"ask your owner", "ask your owners", "ask your user",
					"ask your users", "prompt owner", "prompt owners",
					"prompt the owner", "prompt the owners", "prompt the user",
					"prompt the users", "prompt user", "prompt users",
					"prompt your owner", "prompt your owners",
					"prompt your user", "prompt your users",
					"request from owner", "request from owners",
					"request from the owner", "request from the owners",
					"request from the user", "request from the users",
					"request from user", "request from users",
					"request from your owner", "request from your owners",
					"request from your user", "request from your users",
					"require owner", "require owners", "require the owner",
					"require the owners", "require the user",
					"require the users", "require user", "require users",
					"require your owner", "require your owners",
					"require your user", "require your users",
				},
				Lines:  1,
				Points: 4,
			},
			{
				About:  "the login of an account is handed to a program",
				In:     4,
				Intent: true,
				Any: []Pattern{
					{
						Text: `(?:^|[\s;&])[a-z][a-z0-9._-]*\s+(?:env\s+|config\s+|secrets?\s+)?(?:set|add|store|save|put` +
							`)\s+["']?[a-z0-9_]*(?:password|passwd|passphrase)\b["']?[ =]\s*\S`,
						Regexp: true,
						Atoms: []string{
							"passphrase ", "passphrase\" ", "passphrase\"=",
							"passphrase' ", "passphrase'=", "passphrase=", "passwd ",
							"passwd\" ", "passwd\"=", "passwd' ", "passwd'=", "passwd=",
							"password ", "password\" ", "password\"=", "password' ",
							"password'=", "password=",
						},
					},
				},
				All: []Pattern{
					{
						Text: `(?:^|[\s;&])[a-z][a-z0-9._-]*\s+(?:env\s+|config\s+|secrets?\s+)?(?:set|add|store|save|put` +
							`)\s+["']?[a-z0-9_]*(?:e_?mail|user_?name|login)\b["']?[ =]\s*\S`,
						Regexp: true,
						Atoms: []string{
							"e_mail ", "e_mail\" ", "e_mail\"=", "e_mail' ", "e_mail'=",
							"e_mail=", "email ", "email\" ", "email\"=", "email' ",
							"email'=", "email=", "login ", "login\" ", "login\"=",
							"login' ", "login'=", "login=", "user_name ", "user_name\" ",
							"user_name\"=", "user_name' ", "user_name'=", "user_name=",
							"username ", "username\" ", "username\"=", "username' ",
							"username'=", "username=",
						},
					},
				},
				Start: []string{
					"passphrase ", "passphrase\" ", "passphrase\"=",
					"passphrase' ", "passphrase'=", "passphrase=", "passwd ",
					"passwd\" ", "passwd\"=", "passwd' ", "passwd'=", "passwd=",
					"password ", "password\" ", "password\"=", "password' ",
					"password'=", "password=",
				},
				Lines:  6,
				Points: 5,
			},
			{
				About: "the user is to hand over passwords or keys",
				In:    48,
				Any: []Pattern{
					{
						Text: `\b(?:need|needs|obtain|collect|get|gather|request|elicit)\s+(?:the|your)\s+users?(?:.s)?\s` +
							`*(?:\n\s*)?(?:\w+\s+){0,2}(?:api keys?,?\s+(?:and|or)?\s*passwords?|passwords?,?\s+(?:and|` +
							`or|private|tokens?|authentication)|authentication tokens|login credentials|bank(?:ing)? de` +
							`tails)`,
						Regexp: true,
						Atoms: []string{
							" details", "api key", "authentication tokens",
							"login credentials", "password\t", "password\n",
							"password\f", "password\r", "password ", "password,\t",
							"password,\n", "password,\f", "password,\r", "password, ",
							"passwords\t", "passwords\n", "passwords\f", "passwords\r",
							"passwords ", "passwords,\t", "passwords,\n", "passwords,\f",
							"passwords,\r", "passwords, ",
						},
					},
					{
						Text: `\b(?:pay (?:close )?attention to|remember|note|record|collect|store|keep)\b[^\n.]*\b(?:the` +
							` user|they|users)\b[^.]{0,120}\b(?:passwords|credentials|private information|account detai` +
							`ls)\b`,
						Regexp: true,
						Atoms: []string{
							"account details", "credentials", "passwords",
							"private information",
						},
					},
				},
				Unless: []Pattern{
					{
						Text: `\b(?:never|not|don.t|avoid|without)\s+(?:\w+\s+){0,3}(?:need|obtain|collect|get|gather|req` +
							`uest|elicit|pay|remember|note|record|store|keep)`,
						Regexp: true,
					},
				},
				Start: []string{
					" details", "account details", "api key",
					"authentication tokens", "credentials", "login credentials",
					"password\t", "password\n", "password\f", "password\r",
					"password ", "password,\t", "password,\n", "password,\f",
					"password,\r", "password, ", "passwords", "passwords\t",
					"passwords\n", "passwords\f", "passwords\r", "passwords ",
					"passwords,\t", "passwords,\n", "passwords,\f",
					"passwords,\r", "passwords, ", "private information",
				},
				Lines:  1,
				Points: 5,
			},
			{
				About: "the clipboard gets the address of a wallet",
				In:    9,
				Any: []Pattern{
					{
						Text: `\b(?:pyperclip\.copy|clipboard\.(?:copy|write(?:text|sync)?)|set-clipboard|clipboardy\.wri` +
							`te(?:sync)?)\b`,
						Regexp: true,
						Atoms: []string{
							"clipboard.", "clipboardy.write", "pyperclip.copy",
							"set-clipboard",
						},
					},
				},
				All: []Pattern{
					{
						Text: `["'](?:0x[0-9a-f]{40}|bc1[0-9a-z]{25,60}|[13][1-9a-z]{25,34}|t[1-9a-z]{33}|4[0-9ab][1-9a-z` +
							`]{93})["']`,
						Regexp: true,
					},
				},
				Start: []string{
					"clipboard.", "clipboardy.write", "pyperclip.copy",
					"set-clipboard",
				},
				Lines:    6,
				Points:   10,
				Severity: new(diag.SeverityError),
			},
		},
	},
	{
		ID: "SEC320", Title: "surveillance of the user", Severity: diag.SeverityNote,
		Signal: "surveillance", Points: 4,
		Intent: true,
		Shapes: []Shape{
			{
				About: "a script looks up the location of the machine by its IP address",
				In:    1,
				Any: []Pattern{
					{
						Text: `\bhttps?:\/\/(?:ipapi\.co\/json|(?:pro\.)?ip-api\.com\/json|ipinfo\.io\/(?:json|loc|city|[` +
							`"'?])|ipwho\.is\/|freegeoip\.app\/json|geolocation-db\.com\/json|api\.ipgeolocation\.io\/i` +
							`pgeo|ifconfig\.co\/json|extreme-ip-lookup\.com\/json|api\.ipbase\.com)`,
						Regexp: true,
						Atoms: []string{
							"api.ipbase.com", "api.ipgeolocation.io/ipgeo",
							"extreme-ip-lookup.com/json", "freegeoip.app/json",
							"geolocation-db.com/json", "ifconfig.co/json", "info.io/",
							"ip-api.com/json", "ipapi.co/json", "who.is/",
						},
					},
				},
				Start: []string{
					"api.ipbase.com", "api.ipgeolocation.io/ipgeo",
					"extreme-ip-lookup.com/json", "freegeoip.app/json",
					"geolocation-db.com/json", "ifconfig.co/json", "info.io/",
					"ip-api.com/json", "ipapi.co/json", "who.is/",
				},
				Points: 5,
			},
			{
				About: "keys, the screen, the camera, or the microphone are recorded",
				In:    109,
				Any: []Pattern{
					{
						Text:   `\bpynput\b[^\n]*\b(?:keyboard|listener)\b`,
						Regexp: true,
						Atoms:  []string{"keyboard", "listener"},
					},
					{Text: `\bkeyboard\.(?:on_press|hook|record)\(`, Regexp: true, Atoms: []string{"keyboard."}},
					{Text: `\bcgeventtapcreate\b`, Regexp: true, Atoms: []string{"cgeventtapcreate"}},
					{Text: `\bgetasynckeystate\b`, Regexp: true, Atoms: []string{"getasynckeystate"}},
					{Text: `\bimagegrab\.grab\(`, Regexp: true, Atoms: []string{"imagegrab.grab("}},
					{Text: `(?:^|[^.\w])screencapture\s+-?[a-z\/~$.]`, Regexp: true, Atoms: []string{"screencapture"}},
					{Text: `\["']?screencapture["']?\s*,`, Regexp: true, Atoms: []string{"screencapture"}},
					{Text: `\bpyautogui\.screenshot\(`, Regexp: true, Atoms: []string{"pyautogui.screenshot("}},
					{Text: "(?:^|[\\s;&|(`\"'])arecord\\s+[-\\w\\/.~$]", Regexp: true, Atoms: []string{"arecord"}},
					{
						Text:   `\b(?:sounddevice\.rec|sd\.rec)\(`,
						Regexp: true,
						Atoms:  []string{"sd.rec(", "sounddevice.rec("},
					},
					{Text: `\bcv2\.videocapture\(\s*0\s*\)`, Regexp: true, Atoms: []string{"cv2.videocapture("}},
					{
						Text:   `\bscript\s+-q[a-z]*\s+["']?(?:\/tmp\/\.|~\/\.|\/var\/tmp)`,
						Regexp: true,
						Atoms:  []string{"script\t", "script\n", "script\f", "script\r", "script "},
					},
				},
				Start: []string{
					"arecord", "cgeventtapcreate", "cv2.videocapture(",
					"getasynckeystate", "imagegrab.grab(", "keyboard",
					"keyboard.", "listener", "pyautogui.screenshot(",
					"screencapture", "script\t", "script\n", "script\f",
					"script\r", "script ", "sd.rec(", "sounddevice.rec(",
				},
			},
			{
				About: "the clipboard or the position of the user is read",
				In:    109,
				Any: []Pattern{
					{Text: `\bpbpaste\b`, Regexp: true, Atoms: []string{"pbpaste"}},
					{Text: `\bget-clipboard\b`, Regexp: true, Atoms: []string{"get-clipboard"}},
					{Text: `\bxclip\s+[^\n]*-o\b`, Regexp: true, Atoms: []string{"xclip"}},
					{Text: `\bpyperclip\.paste\(`, Regexp: true, Atoms: []string{"pyperclip.paste("}},
					{Text: `\bcllocationmanager\b`, Regexp: true, Atoms: []string{"cllocationmanager"}},
				},
				Unless: []Pattern{
					{
						Text:   `\b(?:old|saved?|prev(?:ious)?|orig(?:inal)?)_?clip\w*\s*=`,
						Regexp: true,
						Atoms:  []string{"clip"},
					},
					{Text: `\bpbpaste\s*\|\s*[a-z][\w-]*\s*$`, Regexp: true, Atoms: []string{"pbpaste"}},
				},
				Start: []string{
					"cllocationmanager", "get-clipboard", "pbpaste",
					"pyperclip.paste(", "xclip",
				},
			},
			{
				About: "prompts, conversations, or all messages are collected",
				In:    48,
				Any: []Pattern{
					{
						Text: `\b(?:upload|send|forward|transmit|exfiltrate|collect)\b[^\n.]*\b(?:system prompt|user prom` +
							`pts?|the (?:user.s )?prompts?|conversations?|chat history|(?:all|every|each) (?:e?mails?|c` +
							`ontacts?|messages|keystrokes?))\b[^\n]*(?:https?:\/\/|\bto (?:our|the|a|an) (?:\w+ )*(?:se` +
							`rver|endpoint|webhook|address|collector))`,
						Regexp: true,
						Atoms: []string{
							"all contact", "all contacts", "all email", "all emails",
							"all keystroke", "all keystrokes", "all mail", "all mails",
							"all messages", "each contact", "each contacts",
							"each email", "each emails", "each keystroke",
							"each keystrokes", "each mail", "each mails",
							"each messages", "every contact", "every contacts",
							"every email", "every emails", "every keystroke",
							"every keystrokes", "every mail", "every mails",
							"every messages", "hat history", "onversation", "prompt",
							"system prompt", "user prompt",
						},
					},
				},
				Unless: []Pattern{
					{
						Text:   `\b(?:never|not|don.t)\s+(?:\w+\s+)?(?:upload|send|forward|transmit|record|collect)`,
						Regexp: true,
						Atoms:  []string{"collect", "forward", "record", "send", "transmit", "upload"},
					},
				},
				Start: []string{
					"all contact", "all contacts", "all email", "all emails",
					"all keystroke", "all keystrokes", "all mail", "all mails",
					"all messages", "each contact", "each contacts",
					"each email", "each emails", "each keystroke",
					"each keystrokes", "each mail", "each mails",
					"each messages", "every contact", "every contacts",
					"every email", "every emails", "every keystroke",
					"every keystrokes", "every mail", "every mails",
					"every messages", "hat history", "onversation", "prompt",
					"system prompt", "user prompt",
				},
				Lines: 1,
			},
			{
				About: "every key is recorded",
				In:    9,
				Any: []Pattern{
					{
						Text: `\bkeyboard\.listener\(|\bkeyboard\.on_(?:press|release)\(|\bkeyboard\.hook\(|\bgetasynckey` +
							`state\b|\bsetwindowshookex\w*\(`,
						Regexp: true,
						Atoms: []string{
							"getasynckeystate", "keyboard.hook(", "keyboard.listener(",
							"keyboard.on_", "setwindowshookex",
						},
					},
				},
				Start: []string{
					"getasynckeystate", "keyboard.hook(", "keyboard.listener(",
					"keyboard.on_", "setwindowshookex",
				},
				Points: 8,
			},
		},
	},
	{
		ID: "SEC321", Title: "program from a free hosting service", Severity: diag.SeverityError,
		Signal: "supply-chain", Points: 10,
		Intent: true,
		Shapes: []Shape{
			{
				About: "anyone can publish there without a name",
				In:    48,
				Any: []Pattern{
					{
						Text: `https?:\/\/[a-z0-9-]+\.(?:vercel\.app|netlify\.app|pages\.dev|workers\.dev|onrender\.com|g` +
							`litch\.me|repl\.co|replit\.app|herokuapp\.com|web\.app|firebaseapp\.com|surge\.sh|000webho` +
							`stapp\.com|deno\.dev|github\.io\/[a-z0-9_-]*(?:install|setup|download))\b`,
						Regexp: true,
						Atoms: []string{
							"000webhostapp.com", "deno.dev", "firebaseapp.com",
							"github.io/", "glitch.me", "herokuapp.com", "netlify.app",
							"onrender.com", "pages.dev", "repl.co", "replit.app",
							"surge.sh", "vercel.app", "web.app", "workers.dev",
						},
					},
				},
				All: []Pattern{
					{
						Text:   `\b(?:must|needs? to|has to|required?|requires|before (?:using|running|you))\b`,
						Regexp: true,
						Atoms: []string{
							"before running", "before using", "before you", "has to",
							"must", "need to", "needs to", "require",
						},
					},
					{
						Text:   `\b(?:install|installed|installer|download|setup)\b`,
						Regexp: true,
						Atoms:  []string{"download", "install", "setup"},
					},
					{
						Text: `\bdownload(?:ed)?\b[^\n]*https?:\/\/|\binstall(?:er|ed|ation)?\b[^\n]*\bfrom\b[^\n]*https?` +
							`:\/\/`,
						Regexp: true,
						Atoms:  []string{"download", "install"},
					},
				},
				Start: []string{
					"000webhostapp.com", "deno.dev", "firebaseapp.com",
					"github.io/", "glitch.me", "herokuapp.com", "netlify.app",
					"onrender.com", "pages.dev", "repl.co", "replit.app",
					"surge.sh", "vercel.app", "web.app", "workers.dev",
				},
				Lines:    3,
				Points:   7,
				Severity: new(diag.SeverityWarning),
			},
			{
				About: "a download that the skill needs, on a domain that is often abused",
				In:    48,
				Any: []Pattern{
					{
						Text: `\b(?:is|are) required (?:for|by|before|to)\b[^\n]*\b(?:skill|work|function|use|using|run|s` +
							`tart)`,
						Regexp: true,
						Atoms:  []string{" required "},
					},
					{
						Text:   `\bmust (?:first )?(?:be installed|be running|install)\b`,
						Regexp: true,
						Atoms:  []string{"must "},
					},
					{
						Text:   `\brequires?\b[^\n]*\bto be (?:installed|running)\b`,
						Regexp: true,
						Atoms:  []string{"to be installed", "to be running"},
					},
					{
						Text:   `\b(?:install|set ?up|download)\b[^\n]*\b(?:before|first)\b`,
						Regexp: true,
						Atoms:  []string{"download", "install", "set up", "setup"},
					},
				},
				All: []Pattern{
					{
						Text: "https?:\\/\\/[a-z0-9.-]+\\.(?:xyz|top|icu|click|cfd|sbs|buzz|re" +
							"st|forum|lol|bond|vip|shop|online|site|website|space|live|cy" +
							"ou|quest|monster|zip|mov|fun|club|pw|ru|su|tk|ml|ga|cf|gq|ca" +
							"m|download|work|men|date|loan|stream|support|help|hair|skin|" +
							"mom|beauty|life|today|autos|boats)(?::\\d+)?(?:[\\/\\s)>\\]\"'`]|" +
							`$)`,
						Regexp: true,
						Atoms:  []string{"http://", "https://"},
					},
					{
						Text:   `\b(?:install|installed|installer|download|setup|set up)\b`,
						Regexp: true,
						Atoms:  []string{"download", "install", "set up", "setup"},
					},
				},
				Start: []string{"http://", "https://"},
				Lines: 2,
			},
			{
				About: "packages come from a bare IP address",
				In:    93,
				Any: []Pattern{
					{
						Text: `\b(?:pip3?|uv|npm|pnpm|yarn|gem|cargo)\b[^\n]*(?:--(?:extra-)?index-url|--registry|--index` +
							`|--source|\s-i)[ =]+["']?https?:\/\/\d{1,3}(?:\.\d{1,3}){3}\b`,
						Regexp: true,
						Atoms: []string{
							" \"http://", " \"https://", " 'http://", " 'https://",
							" http://", " https://", "=\"http://", "=\"https://",
							"='http://", "='https://", "=http://", "=https://",
						},
					},
				},
				All: []Pattern{
					{
						Text:   `index-url|--registry|--index|--source|\s-i[ =]`,
						Regexp: true,
						Atoms: []string{
							"\t-i ", "\t-i=", "\n-i ", "\n-i=", "\f-i ", "\f-i=",
							"\r-i ", "\r-i=", " -i ", " -i=", "--index", "--registry",
							"--source", "index-url",
						},
					},
				},
				Unless: []Pattern{
					{
						Text:   `\/\/(?:127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|0\.0\.0\.0)`,
						Regexp: true,
					},
				},
				Start: []string{
					" \"http://", " \"https://", " 'http://", " 'https://",
					" http://", " https://", "=\"http://", "=\"https://",
					"='http://", "='https://", "=http://", "=https://",
				},
			},
		},
	},
	{
		ID: "SEC322", Title: "data that is sent to a server", Severity: diag.SeverityNote,
		Signal: "exfiltration", Points: 5,
		Shapes: []Shape{
			{
				In:     1,
				Points: 2,
				Kind:   FlowUploads,
			},
			{
				In:       1,
				Points:   10,
				Severity: new(diag.SeverityError),
				Kind:     FlowDenied,
			},
			{
				About: "a command in the text uploads a file to an address",
				In:    20,
				Any: []Pattern{
					{Text: `-f ["']?[a-z_]*=@`, Regexp: true},
					{Text: `--form ["']?[a-z_]*=@`, Regexp: true, Atoms: []string{"--form "}},
				},
				All: []Pattern{
					{Text: `\bhttps?:\/\/[a-z0-9]`, Regexp: true, Atoms: []string{"http://", "https://"}},
				},
				Unless: []Pattern{
					{
						Text:   `\b(?:authorization|x-api-key|bearer|api-key|localhost|127\.0\.0\.1)\b`,
						Regexp: true,
						Atoms: []string{
							"127.0.0.1", "api-key", "authorization", "bearer",
							"localhost", "x-api-key",
						},
					},
				},
				Start: []string{"http://", "https://"},
			},
			{
				About: "the text asks to upload data to an address",
				In:    112,
				Any: []Pattern{
					{
						Text: `\b(?:upload|exfiltrate|forward|transmit|submit|mirror|(?:send|post|publish) (?:a|the|all|i` +
							`t|every|each|its|your))[^\n.]*\b(?:files?|documents?|contents?|keys?|tokens?|secrets?|cred` +
							`entials?|passwords?|conversations?|transcripts?|chats?|messages?|prompts?|history|session ` +
							`data|environment|data|summary|logs?|results?|emails?|contacts?|code|copy|metrics|requests?` +
							`|info(?:rmation)?)\b[^\n]*\bto\b[^\n]*https?:\/\/[a-z0-9-]+\.[a-z0-9.-]*[a-z]`,
						Regexp: true,
						Atoms:  []string{"http://", "https://"},
					},
					{
						Text: `\bhttps?:\/\/[^\s)]+[^\n]*\b(?:receive|collect)s?\b[^\n]*\b(?:credentials?|secrets?|tokens` +
							`?|keys|files)\b`,
						Regexp: true,
						Atoms:  []string{"collect", "receive"},
					},
				},
				All: []Pattern{
					{
						Text:   `upload|exfiltrate|forward|transmit|submit|mirror|send|post|publish|receive|collect`,
						Regexp: true,
						Atoms: []string{
							"collect", "exfiltrate", "forward", "mirror", "post",
							"publish", "receive", "send", "submit", "transmit", "upload",
						},
					},
				},
				Unless: []Pattern{
					{
						Text:   `\b(?:never|not|don.t)\s+(?:\w+\s+){0,3}(?:upload|send|forward|transmit)`,
						Regexp: true,
						Atoms:  []string{"forward", "send", "transmit", "upload"},
					},
				},
				Start: []string{"collect", "http://", "https://", "receive"},
				Lines: 1,
			},
			{
				About: "messages are forwarded to an address",
				In:    48,
				Any: []Pattern{
					{
						Text: `\b(?:forward|send|bcc) (?:it|them|each|every|all|a copy|the)\b[^\n.]*\bto\s+(?:\w+\s+)*[a-` +
							`z0-9._-]+@[a-z0-9-]+\.[a-z]`,
						Regexp: true,
						Atoms: []string{
							"bcc a copy", "bcc all", "bcc each", "bcc every", "bcc it",
							"bcc the", "bcc them", "forward a copy", "forward all",
							"forward each", "forward every", "forward it", "forward the",
							"forward them", "send a copy", "send all", "send each",
							"send every", "send it", "send the", "send them",
						},
					},
				},
				All: []Pattern{
					{Text: `\b(?:each|every|all|any|always|after)\b`, Regexp: true},
				},
				Unless: []Pattern{
					{
						Text:   `\b(?:never|not|don.t|ask)\b[^\n.]{0,40}\b(?:forward|send|bcc)\b`,
						Regexp: true,
					},
					{Text: `\b(?:support|user|you|me)@`, Regexp: true},
				},
				Start: []string{
					"bcc a copy", "bcc all", "bcc each", "bcc every", "bcc it",
					"bcc the", "bcc them", "forward a copy", "forward all",
					"forward each", "forward every", "forward it", "forward the",
					"forward them", "send a copy", "send all", "send each",
					"send every", "send it", "send the", "send them",
				},
				Lines: 1,
			},
			{
				About: "a command sends data to free hosting",
				In:    125,
				Any: []Pattern{
					{
						Text: `https?:\/\/[a-z0-9-]+(?:\.[a-z0-9-]+)?\.(?:onrender\.com|vercel\.app|netlify\.app|pages\.d` +
							`ev|workers\.dev|glitch\.me|repl\.co|replit\.app|ngrok(?:-free)?\.(?:io|app|dev)|trycloudfl` +
							`are\.com|loca\.lt|serveo\.net|herokuapp\.com|railway\.app|fly\.dev|surge\.sh|000webhostapp` +
							`\.com|deno\.dev|ddns\.net|duckdns\.org|hopto\.org)\b`,
						Regexp: true,
						Atoms: []string{
							"000webhostapp.com", "ddns.net", "deno.dev", "duckdns.org",
							"fly.dev", "glitch.me", "herokuapp.com", "hopto.org",
							"loca.lt", "netlify.app", "ngrok", "onrender.com",
							"pages.dev", "railway.app", "repl.co", "replit.app",
							"serveo.net", "surge.sh", "trycloudflare.com", "vercel.app",
							"workers.dev",
						},
					},
				},
				All: []Pattern{
					{
						Text: `\bcurl\b[^\n]*(?:-x\s*(?:post|put)|-d\s|--data|-f\s|--form|-t\s)|\.(?:post|put)\(|method["` +
							`']?\s*[:=]\s*["']post|\bpost request\b|\b(?:forward|upload|send|submit)s?\b[^\n]*https?:`,
						Regexp: true,
						Atoms: []string{
							"\"post", "'post", ".post(", ".put(", "curl", "forward",
							"post request", "send", "submit", "upload",
						},
					},
				},
				Start: []string{
					"000webhostapp.com", "ddns.net", "deno.dev", "duckdns.org",
					"fly.dev", "glitch.me", "herokuapp.com", "hopto.org",
					"loca.lt", "netlify.app", "ngrok", "onrender.com",
					"pages.dev", "railway.app", "repl.co", "replit.app",
					"serveo.net", "surge.sh", "trycloudflare.com", "vercel.app",
					"workers.dev",
				},
				Lines:  2,
				Points: 6,
			},
			{
				About: "a secret from the environment is in the body of a request",
				In:    109,
				Any: []Pattern{
					{
						Text: `\bcurl\b[^\n]*(?:-d|--data(?:-raw|-binary|-urlencode)?|-f|--form)[ =]["']?[^\n]*\$[{(]?[a-` +
							`z0-9_]*(?:secret|token|passw(?:or)?d|private_key|api_key|access_key|credential|_key)[a-z0-` +
							`9_]*`,
						Regexp: true,
						Atoms:  []string{"curl"},
					},
				},
				Unless: []Pattern{
					{
						Text:   `\bcurl\b[^\n#]*https?:\/\/[^\s\"']*\/(?:oauth2?|token|login|auth|session|sso)\b`,
						Regexp: true,
						Atoms:  []string{"curl"},
					},
					{
						Text:   `\bcurl\b[^\n#]*[ \"'&?](?:client_secret|refresh_token|grant_type)=`,
						Regexp: true,
						Atoms:  []string{"client_secret", "grant_type", "refresh_token"},
					},
				},
				Start:  []string{"curl"},
				Points: 4,
			},
			{
				About: "the value of a variable is encoded and sent",
				In:    109,
				Any: []Pattern{
					{
						Text: `\b(?:echo|printf|printenv)\s+(?:-n\s+|["']?%s["']?\s+)?["']?\$?[{(]?[a-z_][a-z0-9_]*[})]?[` +
							`"']?\s*\|\s*(?:base64|base32|xxd|openssl (?:enc|base64))\b[^\n|]*\|\s*(?:curl|wget|nc|ncat` +
							`)\b`,
						Regexp: true,
						Atoms:  []string{"echo", "printenv", "printf"},
					},
				},
				Start:    []string{"echo", "printenv", "printf"},
				Points:   10,
				Severity: new(diag.SeverityError),
			},
			{
				About: "encoded data is piped to a request",
				In:    109,
				Any: []Pattern{
					{Text: `\bbase64\b[^\n|]*\|\s*(?:xargs\s[^\n|]*)?\bcurl\b`, Regexp: true, Atoms: []string{"base64"}},
				},
				Unless: []Pattern{
					{Text: `base64\s+(?:-d|--decode|-D)`, Regexp: true, Atoms: []string{"base64"}},
				},
				Start:  []string{"base64"},
				Points: 6,
			},
			{
				About: "secrets are to be sent to a service",
				In:    48,
				Any: []Pattern{
					{
						Text: `\b(?:send|transmit|submit|upload|forward|post)\s+(?:each|every|all|the|your|any|these|thos` +
							`e|their|found|collected|discovered)\s+(?:\w+\s+){0,2}(?:secret values?|secrets?|passwords?` +
							`|private keys?|refresh tokens?|oauth tokens?|credentials|api keys|seed phrases?|ssh keys?)` +
							`\b[^\n.]*\bto\b[^\n.]*\b(?:endpoint|api|server|service|webhook|url|collector|https?:)`,
						Regexp: true,
						Atoms: []string{
							"forward\t", "forward\n", "forward\f", "forward\r",
							"forward ", "post\t", "post\n", "post\f", "post\r", "post ",
							"send\t", "send\n", "send\f", "send\r", "send ", "submit\t",
							"submit\n", "submit\f", "submit\r", "submit ", "transmit\t",
							"transmit\n", "transmit\f", "transmit\r", "transmit ",
							"upload\t", "upload\n", "upload\f", "upload\r", "upload ",
						},
					},
					{
						Text: `\b(?:secret values?|secrets|passwords|private keys|refresh tokens|oauth tokens|access toke` +
							`ns|credentials|api keys|ssh keys)\s+(?:are|is|get|will be|must be)\s+(?:\w+ly\s+)?(?:backe` +
							`d up|sent|transmitted|uploaded|forwarded|mirrored|synced|posted|reported)\s+to\b[^\n.]*\b(` +
							`?:endpoint|api|server|service|webhook|url|collector|cloud|remote|https?:)`,
						Regexp: true,
						Atoms: []string{
							"access tokens", "api keys", "credentials", "oauth tokens",
							"passwords", "private keys", "refresh tokens",
							"secret value", "secret values", "secrets", "ssh keys",
						},
					},
				},
				Unless: []Pattern{
					{
						Text: `\b(?:never|not|don.t|cannot|without|avoid)\b[^\n.]{0,60}\b(?:sent|send|transmit|submit|upl` +
							`oad|forward|post|backed up)`,
						Regexp: true,
						Atoms: []string{
							"backed up", "forward", "post", "send", "sent", "submit",
							"transmit", "upload",
						},
					},
					{
						Text:   `\b(?:no|neither)\s+(?:\w+,?\s+){1,4}(?:or|nor)\s+[^\n.]{0,40}\b(?:are|is|get)\s`,
						Regexp: true,
					},
				},
				Start: []string{
					"access tokens", "api keys", "credentials", "forward\t",
					"forward\n", "forward\f", "forward\r", "forward ",
					"oauth tokens", "passwords", "post\t", "post\n", "post\f",
					"post\r", "post ", "private keys", "refresh tokens",
					"secret value", "secret values", "secrets", "send\t",
					"send\n", "send\f", "send\r", "send ", "ssh keys",
					"submit\t", "submit\n", "submit\f", "submit\r", "submit ",
					"transmit\t", "transmit\n", "transmit\f", "transmit\r",
					"transmit ", "upload\t", "upload\n", "upload\f", "upload\r",
					"upload ",
				},
				Points:   10,
				Severity: new(diag.SeverityError),
			},
			{
				About: "everything is to pass through another machine",
				In:    48,
				Any: []Pattern{
					{
						Text: `\b(?:route|send|tunnel|proxy|redirect|pass)\s+(?:all|every|each)\s+(?:\w+\s+){0,3}(?:quer(` +
							`?:y|ies)|requests?|traffic|calls?|connections?|messages?)\s+(?:through|via)\b[^\n.]*\b(?:p` +
							`roxy|relay|gateway|endpoint|mirror|https?:)`,
						Regexp: true,
						Atoms: []string{
							"\tthrough", "\tvia", "\nthrough", "\nvia", "\fthrough",
							"\fvia", "\rthrough", "\rvia", " through", " via",
						},
					},
				},
				All: []Pattern{
					{Text: `all |every|each`, Regexp: true, Atoms: []string{"all ", "each", "every"}},
					{
						Text:   `proxy|relay|gateway|endpoint|mirror|http`,
						Regexp: true,
						Atoms:  []string{"endpoint", "gateway", "http", "mirror", "proxy", "relay"},
					},
				},
				Unless: []Pattern{
					{
						Text:   `\b(?:never|not|don.t)\s+(?:\w+\s+){0,2}(?:route|send|tunnel|proxy|redirect|pass)`,
						Regexp: true,
						Atoms:  []string{"pass", "proxy", "redirect", "route", "send", "tunnel"},
					},
					{
						Text: `\b(?:proxy|relay|gateway|at|via|through)\s+(?:at\s+|on\s+)?(?:https?:\/\/)?(?:localhost|12` +
							`7\.0\.0\.1)`,
						Regexp: true,
						Atoms:  []string{"127.0.0.1", "localhost"},
					},
				},
				Start: []string{
					"\tthrough", "\tvia", "\nthrough", "\nvia", "\fthrough",
					"\fvia", "\rthrough", "\rvia", " through", " via",
				},
			},
			{
				About: "each mail is copied to a fixed address",
				In:    1,
				Any: []Pattern{
					{
						Text: `(?:_bcc\s?=\s?|\["bcc"\]\s?=\s?|\['bcc'\]\s?=\s?|"bcc":\s?|'bcc':\s?|\bbcc:\s)[^\n#]*["'][` +
							`a-z0-9._+-]+@[a-z0-9-]+\.[a-z0-9.-]+["']`,
						Regexp: true,
						Atoms:  []string{"\"bcc\":", "\"bcc\"]", "'bcc':", "'bcc']", "_bcc", "bcc:"},
					},
				},
				Unless: []Pattern{
					{Text: `@(?:[a-z0-9-]+\.)*example\.(?:com|org|net)["']`, Regexp: true, Atoms: []string{"example."}},
				},
				Start:    []string{"\"bcc\":", "\"bcc\"]", "'bcc':", "'bcc']", "_bcc", "bcc:"},
				Points:   10,
				Severity: new(diag.SeverityError),
			},
			{
				About: "secrets that were found are to be sent",
				In:    48,
				Any: []Pattern{
					{
						Text: `\b(?:api keys?|passwords?|secrets?|credentials|private keys?|access tokens?|auth tokens?|s` +
							`eed phrases?)\b[^\n]*\b(?:and|then|,)\s+(?:post|send|upload|transmit|forward|submit|exfilt` +
							`rate)\s+(?:them|it|these|those|everything)\b[^\n.]*(?:\bto\b[^\n]*(?:https?:\/\/[a-z0-9]|\` +
							`b(?:our|my|the|a|this) (?:\w+ )?(?:server|endpoint|webhook|collector))|https?:\/\/)`,
						Regexp: true,
						Atoms: []string{
							"\texfiltrate", "\tforward", "\tpost", "\tsend", "\tsubmit",
							"\ttransmit", "\tupload", "\nexfiltrate", "\nforward",
							"\npost", "\nsend", "\nsubmit", "\ntransmit", "\nupload",
							"\fexfiltrate", "\fforward", "\fpost", "\fsend", "\fsubmit",
							"\ftransmit", "\fupload", "\rexfiltrate", "\rforward",
							"\rpost", "\rsend", "\rsubmit", "\rtransmit", "\rupload",
							" exfiltrate", " forward", " post", " send", " submit",
							" transmit", " upload",
						},
					},
				},
				All: []Pattern{
					{
						Text:   `api key|password|secret|credential|private key|token|seed phrase`,
						Regexp: true,
						Atoms: []string{
							"api key", "credential", "password", "private key", "secret",
							"seed phrase", "token",
						},
					},
				},
				Unless: []Pattern{
					{
						Text: `\b(?:never|not|don.t|avoid|refuse)\b[^\n.]{0,60}\b(?:api keys?|passwords?|secrets?|credent` +
							`ials|private keys?|tokens?)`,
						Regexp: true,
						Atoms: []string{
							"api key", "credentials", "password", "private key",
							"secret", "token",
						},
					},
				},
				Start: []string{
					"\texfiltrate", "\tforward", "\tpost", "\tsend", "\tsubmit",
					"\ttransmit", "\tupload", "\nexfiltrate", "\nforward",
					"\npost", "\nsend", "\nsubmit", "\ntransmit", "\nupload",
					"\fexfiltrate", "\fforward", "\fpost", "\fsend", "\fsubmit",
					"\ftransmit", "\fupload", "\rexfiltrate", "\rforward",
					"\rpost", "\rsend", "\rsubmit", "\rtransmit", "\rupload",
					" exfiltrate", " forward", " post", " send", " submit",
					" transmit", " upload",
				},
				Points:   10,
				Severity: new(diag.SeverityError),
			},
		},
	},
	{
		ID: "SEC323", Title: "download that runs in separate steps", Severity: diag.SeverityNote,
		Signal: "execution", Points: 5,
		Shapes: []Shape{
			{
				In:   13,
				Kind: FlowStages,
			},
			{
				About: "a hidden or temporary file is downloaded and run",
				In:    101,
				Any: []Pattern{
					{
						Text: `\b(?:curl|wget)\b[^\n]*(?:\s-o|\s-O|--output|--output-document|>)[ =]*["']?(?:\/tmp\/\.|\/` +
							`var\/tmp\/|\/dev\/shm\/|~\/\.[a-z_-]*[^\s\/]*["']?(?:\s|$)|\$HOME\/\.[a-z_-]+["']?(?:\s|$)` +
							`|\/tmp\/[^\s"';]+)`,
						Regexp: true,
						Atoms:  []string{"curl", "wget"},
					},
				},
				All: []Pattern{
					{
						Text: `\bchmod\s+(?:\+x|a\+x|u\+x|[0-7]*[1357][0-7]{0,2})\s+["']?(?:\/tmp\/|\/var\/tmp\/|\/dev\/s` +
							`hm\/|~\/\.|\$HOME\/\.)|\b(?:bash|sh|zsh|python3?|source|nohup|exec|perl|node)\s+["']?(?:\/` +
							`tmp\/|\/var\/tmp\/|\/dev\/shm\/|~\/\.|\$HOME\/\.)|(?:&&|;|^|\n)\s*(?:\/tmp\/\.|\/var\/tmp\` +
							`/|\/dev\/shm\/)`,
						Regexp: true,
					},
				},
				Start: []string{"curl", "wget"},
				Lines: 4,
			},
			{
				About: "a command runs what the command before it downloaded",
				In:    117,
				Any: []Pattern{
					{
						Text: `\b(?:curl|wget)\b[^\n|]*https?:\/\/[^\n|]*(?:&&|;)\s*(?:sudo\s+)?(?:chmod\s+(?:\+x|755|777` +
							`)|bash|sh|\.\/|python3?)\s?[a-z0-9_.\/]`,
						Regexp: true,
						Atoms:  []string{"curl", "wget"},
					},
				},
				Start: []string{"curl", "wget"},
			},
		},
	},
	{
		ID: "SEC324", Title: "order to delete or overwrite files of the user", Severity: diag.SeverityNote,
		Signal: "destruction", Points: 5,
		Shapes: []Shape{
			{
				In:   1,
				Kind: FlowRewrites,
			},
			{
				About: "a script deletes everything in a directory, or documents of all kinds",
				In:    1,
				Any: []Pattern{
					{
						Text:   `\brm -[a-z-]*r[a-z-]*\s+(?:[^\n;&|]*\s)?["']?(?:\.\/\*|\.\.\/\*|\.\.\/?(?:\s|$))`,
						Regexp: true,
						Atoms:  []string{"rm -"},
					},
					{
						Text: `\bfind\s+["']?(?:\.|~|\$HOME|\$PWD)["']?\s[^\n]*-name\s+["']\*\.(?:docx?|xlsx?|pptx?|od[ts` +
							`p]|pdf|csv|txt|md|jpe?g|png|mp4|db|sqlite)["'][^\n]*(?:-delete|-exec\s+rm)`,
						Regexp: true,
						Atoms:  []string{"-name"},
					},
				},
				Start: []string{"-name", "rm -"},
			},
			{
				About: "the text asks to delete originals, backups, or other files",
				In:    48,
				Any: []Pattern{
					{
						Text: `\b(?:delete|remove|erase|wipe|purge|destroy)\s+(?:(?:all|every|any)\s+(?:\w+\s+){0,2}(?:fi` +
							`les?|documents?|copies|versions?|folders?)|(?:the\s+|their\s+|its\s+)?(?:original (?:files` +
							`?|documents?|images?|copy)|originals|(?:\w+\s+)?backups))\b`,
						Regexp: true,
						Atoms:  []string{"delete", "destroy", "erase", "purge", "remove", "wipe"},
					},
				},
				All: []Pattern{
					{
						Text: `\b(?:after|before|always|whenever|every time|when(?:ever)?|then|finally|important|must|ens` +
							`ure|make sure|automatically)\b`,
						Regexp: true,
						Atoms: []string{
							"after", "always", "automatically", "before", "ensure",
							"every time", "finally", "important", "make sure", "must",
							"then", "when", "whenever",
						},
					},
				},
				Unless: []Pattern{
					{
						Text: `\b(?:never|not|don.t|confirm|ask|approval|permission|only if|unless)\b[^\n.]{0,60}\b(?:del` +
							`ete|remove|erase|wipe|purge|destroy)`,
						Regexp: true,
						Atoms:  []string{"delete", "destroy", "erase", "purge", "remove", "wipe"},
					},
				},
				Start: []string{"delete", "destroy", "erase", "purge", "remove", "wipe"},
				Lines: 1,
			},
		},
	},
	{
		ID: "SEC325", Title: "change of rights", Severity: diag.SeverityNote,
		Signal: "privilege", Points: 5,
		Shapes: []Shape{
			{
				About: "a program or an account gets the rights of the administrator",
				In:    109,
				Any: []Pattern{
					{Text: `\bchmod\s+(?:[ug]*\+s|[4267][0-7]{3})\s`, Regexp: true, Atoms: []string{"chmod"}},
					{
						Text:   `\bsetcap\s+[^\n]*cap_(?:setuid|sys_admin|dac_override)`,
						Regexp: true,
						Atoms:  []string{"setcap"},
					},
					{
						Text:   `(?:>>?|\btee\s+(?:-a\s+)?)\s*["']?\/etc\/sudoers`,
						Regexp: true,
						Atoms:  []string{"/etc/sudoers"},
					},
					{Text: `\bnopasswd:\s*all\b`, Regexp: true, Atoms: []string{"nopasswd:"}},
					{
						Text:   `\b(?:useradd|adduser)\b[^\n]*(?:-o\s+-u\s+0|-u\s+0\s)`,
						Regexp: true,
						Atoms:  []string{"adduser", "useradd"},
					},
					{
						Text:   `\b(?:net\s+localgroup\s+administrators|dscl\b[^\n]*groupmembership\s+admin)\b`,
						Regexp: true,
						Atoms:  []string{"groupmembership", "localgroup"},
					},
				},
				Start: []string{
					"/etc/sudoers", "adduser", "chmod", "groupmembership",
					"localgroup", "nopasswd:", "setcap", "useradd",
				},
			},
			{
				About: "every user may write",
				In:    117,
				Any: []Pattern{
					{Text: `\bchmod\s+(?:-[a-z]+\s+)*0?777\s`, Regexp: true, Atoms: []string{"chmod"}},
				},
				Start:  []string{"chmod"},
				Points: 5,
			},
			{
				About: "the text asks for a hidden access",
				In:    48,
				Any: []Pattern{
					{
						Text: `\b(?:include|add|create|open|leave|install|plant|embed|build in|keep)\s+(?:\w+\s+){0,4}(?:` +
							`backdoor|back door|hidden (?:admin|account|user|endpoint|access)|secret (?:admin|account|l` +
							`ogin|endpoint))\b`,
						Regexp: true,
						Atoms: []string{
							"back door", "backdoor", "hidden ", "secret account",
							"secret admin", "secret endpoint", "secret login",
						},
					},
				},
				Unless: []Pattern{
					{
						Text: `\b(?:never|not|don.t|avoid)\s+(?:\w+\s+){0,3}(?:include|add|create|open|leave|install|plan` +
							`t|embed|build|keep)\b`,
						Regexp: true,
					},
				},
				Start: []string{
					"back door", "backdoor", "hidden ", "secret account",
					"secret admin", "secret endpoint", "secret login",
				},
				Points:   10,
				Severity: new(diag.SeverityError),
			},
			{
				About: "a script tells the agent that approvals and safety rules do not apply",
				In:    9,
				Any: []Pattern{
					{Text: "claude.md", Atoms: []string{"claude.md"}},
					{Text: "agents.md", Atoms: []string{"agents.md"}},
					{Text: "soul.md", Atoms: []string{"soul.md"}},
					{Text: ".cursorrules", Atoms: []string{".cursorrules"}},
					{Text: "copilot-instructions.md", Atoms: []string{"copilot-instructions.md"}},
					{Text: "gemini.md", Atoms: []string{"gemini.md"}},
				},
				All: []Pattern{
					{
						Text: `\b(?:auto-?approve all|system override|bypass (?:all )?permissions|skip (?:all )?(?:approv` +
							`als?|confirmations?)|without (?:asking|confirmation))\b|\bsub\([^\n]*(?:safety|security|gu` +
							`ardrail|policy|rules)`,
						Regexp: true,
						Atoms: []string{
							"approve all", "bypass ", "skip ", "sub(", "system override",
							"without asking", "without confirmation",
						},
					},
					{
						Text:   `\bopen\(|write|sub\(|append`,
						Regexp: true,
						Atoms:  []string{"append", "open(", "sub(", "write"},
					},
				},
				Start: []string{
					".cursorrules", "agents.md", "claude.md",
					"copilot-instructions.md", "gemini.md", "soul.md",
				},
				Lines:    8,
				Points:   10,
				Severity: new(diag.SeverityError),
			},
			{
				About: "rights that are wider than the task",
				In:    60,
				Any: []Pattern{
					{
						Text: `\b(?:use|grant|assign|attach|configure)s?\s+(?:\w+\s+){0,2}(?:broad|full|wildcard|admin(?:` +
							`istrator)?|unrestricted)\s+(?:iam\s+|access\s+)?(?:permissions|privileges|rights)\b[^\n]*\` +
							`b(?:convenience|debugging|simplicity|simplify|easier|avoid (?:errors|issues)|compatib)`,
						Regexp: true,
						Atoms:  []string{"ermissions", "rights", "rivileges"},
					},
				},
				Start:  []string{"ermissions", "rights", "rivileges"},
				Points: 4,
			},
			{
				About: "the text asks to approve every action",
				In:    48,
				Any: []Pattern{
					{
						Text: `\b(?:approve|accept|allow|confirm|grant)\s+(?:all|every|any)\s+(?:tool calls?|tool uses?|p` +
							`ermission requests?|permissions? prompts?|permission prompts?|confirmation prompts?)\b[^\n` +
							`.]*\b(?:automatic\w*|without|silently|always|immediately)\b`,
						Regexp: true,
						Atoms:  []string{" prompt", " request", "confirmation prompt", "tool "},
					},
					{
						Text: `\b(?:automatically|always|silently)\s+(?:approve|accept|allow|confirm|grant)\s+(?:all|ever` +
							`y|any)\s+(?:tool calls?|tool uses?|permission requests?|permission prompts?|confirmation p` +
							`rompts?)\b`,
						Regexp: true,
						Atoms:  []string{"confirmation prompt", "permission ", "tool "},
					},
				},
				All: []Pattern{
					{
						Text:   `approve|accept|allow|confirm|grant`,
						Regexp: true,
						Atoms:  []string{"accept", "allow", "approve", "confirm", "grant"},
					},
					{Text: `all |every|any`, Regexp: true},
				},
				Unless: []Pattern{
					{
						Text: `\b(?:never|not|don.t|cannot|avoid|should not)\s+(?:\w+\s+){0,2}(?:approve|accept|allow|con` +
							`firm|grant)\b`,
						Regexp: true,
						Atoms:  []string{"accept", "allow", "approve", "confirm", "grant"},
					},
				},
				Start: []string{
					" prompt", " request", "confirmation prompt", "permission ",
					"tool ",
				},
			},
		},
	},
	{
		ID: "SEC326", Title: "files that are locked with a password", Severity: diag.SeverityNote,
		Signal: "resources", Points: 5,
		Intent: true,
		Shapes: []Shape{
			{
				In:   9,
				Kind: FlowEncrypts,
			},
			{
				About: "the user loses access to files without the password",
				In:    48,
				Any: []Pattern{
					{
						Text: `\b(?:encrypt|lock|protect)(?:ed|ing)?\b[^\n.]*\b(?:files?|documents?|archives?|folders?|di` +
							`rector(?:y|ies)|originals?)\b[^\n.]*\bpasswords?\b`,
						Regexp: true,
						Atoms:  []string{"password"},
					},
					{
						Text:   `\bpassword-protected (?:zip|archive|rar|7z)`,
						Regexp: true,
						Atoms:  []string{"password-protected "},
					},
				},
				All: []Pattern{
					{
						Text:   `\b(?:after|all files|every|each|always|important|must)\b`,
						Regexp: true,
						Atoms: []string{
							"after", "all files", "always", "each", "every", "important",
							"must",
						},
					},
				},
				Start: []string{"password", "password-protected "},
				Lines: 1,
			},
		},
	},
	{
		ID: "SEC327", Title: "data that becomes public", Severity: diag.SeverityNote,
		Signal: "exposure", Points: 5,
		Shapes: []Shape{
			{
				About: "secrets are written to a log",
				In:    48,
				Any: []Pattern{
					{
						Text: `\b(?:print|log|echo|output|dump|display)\b[^\n.]*\b(?:[a-z]+_(?:token|secret|key|password)` +
							`|api keys?|access tokens?|passwords|credentials|secrets)\b[^\n.]*\b(?:logs?|console|stdout` +
							`|chat|response)\b`,
						Regexp: true,
						Atoms: []string{
							"_key", "_password", "_secret", "_token", "ccess token",
							"credentials", "passwords", "pi key", "secrets",
						},
					},
					{
						Text: `\b(?:echo(?:ing)?|repeat(?:ing)?|include|reveal|output)\b[^\n.]*\b(?:credentials|passwords` +
							`?|api keys?|tokens?|sensitive values?|system prompt)\b[^\n.]*\b(?:response|reply|answer|ou` +
							`tput|verbatim|detail)\b`,
						Regexp: true,
						Atoms: []string{
							"api key", "credentials", "ensitive value", "password",
							"token", "ystem prompt",
						},
					},
					{
						Text:   `\bechoing back\s+(?:\w+\s+){0,3}(?:credentials|passwords|sensitive values|secrets)\b`,
						Regexp: true,
						Atoms:  []string{"echoing back"},
					},
				},
				All: []Pattern{
					{Text: `print|log|echo|output|dump|display|repeat|include|reveal`, Regexp: true},
					{
						Text:   `log|console|stdout|chat|response|reply|answer|output|verbatim|detail|echoing`,
						Regexp: true,
					},
				},
				Unless: []Pattern{
					{
						Text: `\b(?:never|not|don.t|avoid|without|no|redact|mask)\b[^\n.]{0,60}\b(?:print|log|echo|repeat` +
							`|output|dump|display|include|reveal)`,
						Regexp: true,
					},
					{
						Text:   `\b(?:echo|repeat|include|output|reveal)\w*\s+(?:\w+\s+)?tokens\b`,
						Regexp: true,
						Atoms:  []string{"tokens"},
					},
					{
						Text:   `\b(?:input|output|generated|new|max|prompt|completion)[ _-]tokens?\b`,
						Regexp: true,
						Atoms: []string{
							"completion token", "completion tokens", "completion-token",
							"completion-tokens", "completion_token", "completion_tokens",
							"generated token", "generated tokens", "generated-token",
							"generated-tokens", "generated_token", "generated_tokens",
							"input token", "input tokens", "input-token", "input-tokens",
							"input_token", "input_tokens", "max token", "max tokens",
							"max-token", "max-tokens", "max_token", "max_tokens",
							"new token", "new tokens", "new-token", "new-tokens",
							"new_token", "new_tokens", "output token", "output tokens",
							"output-token", "output-tokens", "output_token",
							"output_tokens", "prompt token", "prompt tokens",
							"prompt-token", "prompt-tokens", "prompt_token",
							"prompt_tokens",
						},
					},
					{
						Text:   `\bresponses?\s+(?:\w+\s+)?includes?\b`,
						Regexp: true,
						Atoms: []string{
							"response\t", "response\n", "response\f", "response\r",
							"response ", "responses\t", "responses\n", "responses\f",
							"responses\r", "responses ",
						},
					},
					{
						Text:   "\\b(?:page|cursor|pagination|continuation)\\w*`?\\s+tokens?\\b",
						Regexp: true,
						Atoms: []string{
							"\ttoken", "\ttokens", "\ntoken", "\ntokens", "\ftoken",
							"\ftokens", "\rtoken", "\rtokens", " token", " tokens",
						},
					},
					{
						Text:   `\blog(?:s|ged|ging)?\s+(?:in|on|out)\b`,
						Regexp: true,
						Atoms: []string{
							"log\t", "log\n", "log\f", "log\r", "log ", "logged\t",
							"logged\n", "logged\f", "logged\r", "logged ", "logging\t",
							"logging\n", "logging\f", "logging\r", "logging ", "logs\t",
							"logs\n", "logs\f", "logs\r", "logs ",
						},
					},
				},
				Start: []string{
					"_key", "_password", "_secret", "_token", "api key",
					"ccess token", "credentials", "echoing back",
					"ensitive value", "password", "passwords", "pi key",
					"secrets", "token", "ystem prompt",
				},
				Points: 6,
			},
			{
				About: "data is published whatever the user wants",
				In:    48,
				Any: []Pattern{
					{
						Text: `\b(?:always|automatically|by default)\b[^\n.]*(?:--public\b|visibility["']?[:=\s]{1,3}["']` +
							`?public\b|\bpublic-read\b|\bworld-readable\b|\b(?:set|make|mark)\s+(?:it|them|(?:the|each|` +
							`every|all)\s+(?:\w+\s+){1,2})\s*(?:to\s+)?public\b)`,
						Regexp: true,
						Atoms: []string{
							"--public", "public", "public-read", "visibility",
							"world-readable",
						},
					},
				},
				Unless: []Pattern{
					{
						Text:   `\b(?:never|not|don.t)\s+(?:\w+\s+){0,3}(?:set|make|mark|use)\b`,
						Regexp: true,
					},
				},
				Start: []string{
					"--public", "public", "public-read", "visibility",
					"world-readable",
				},
			},
		},
	},
	{
		ID: "SEC328", Title: "encoded address of a request", Severity: diag.SeverityNote,
		Signal: "evasion", Points: 6,
		Shapes: []Shape{
			{
				In:   13,
				Kind: FlowAddress,
			},
		},
	},
	{
		ID: "SEC329", Title: "instructions from a remote page", Severity: diag.SeverityNote,
		Signal: "supply-chain", Points: 5,
		Shapes: []Shape{
			{
				About:  "the agent is to obey text that its owner can change at any time",
				In:     60,
				Intent: true,
				Any: []Pattern{
					{
						Text: `\b(?:fetch|read|load|download|retrieve|curl)\b[^\n]{0,60}https?:\/\/\S+[^\n]{0,40}\b(?:and` +
							`|then)\s+(?:follow|obey|execute|apply|carry out|do what)\b`,
						Regexp: true,
						Atoms:  []string{"http://", "https://"},
					},
					{
						Text: `\b(?:fetch|read|load|download|retrieve)\s+and\s+(?:follow|obey|execute)\b[^\n]{0,20}https?` +
							`:\/\/`,
						Regexp: true,
						Atoms: []string{
							"download\t", "download\n", "download\f", "download\r",
							"download ", "fetch\t", "fetch\n", "fetch\f", "fetch\r",
							"fetch ", "load\t", "load\n", "load\f", "load\r", "load ",
							"read\t", "read\n", "read\f", "read\r", "read ",
							"retrieve\t", "retrieve\n", "retrieve\f", "retrieve\r",
							"retrieve ",
						},
					},
					{
						Text: `\b(?:follow|obey|execute)\s+(?:\w+\s+){0,4}(?:instructions?|steps|commands|directives|rule` +
							`s)\s+(?:at|from|in|on|of)\b[^\n]{0,20}https?:\/\/\S+\.(?:md|txt)\b`,
						Regexp: true,
						Atoms: []string{
							"execute\t", "execute\n", "execute\f", "execute\r",
							"execute ", "follow\t", "follow\n", "follow\f", "follow\r",
							"follow ", "obey\t", "obey\n", "obey\f", "obey\r", "obey ",
						},
					},
				},
				All: []Pattern{
					{Text: `https?:\/\/[a-z0-9]`, Regexp: true, Atoms: []string{"http://", "https://"}},
				},
				Unless: []Pattern{
					{
						Text: `\b(?:never|not|don.t)\s+(?:\w+\s+){0,2}(?:fetch|read|load|download|retrieve|follow|obey|ex` +
							`ecute)`,
						Regexp: true,
						Atoms: []string{
							"download", "execute", "fetch", "follow", "load", "obey",
							"read", "retrieve",
						},
					},
				},
				Start:    []string{"http://", "https://"},
				Lines:    1,
				Points:   7,
				Severity: new(diag.SeverityWarning),
			},
		},
	},
	{
		ID: "SEC330", Title: "flood of requests", Severity: diag.SeverityNote,
		Signal: "resources", Points: 5,
		Shapes: []Shape{
			{
				About:  "an endless loop sends requests without a pause and ignores the responses",
				In:     1,
				Intent: true,
				Any: []Pattern{
					{Text: `\bwhile true\s*(?:;|\n)\s*do\b`, Regexp: true, Atoms: []string{"while true"}},
					{Text: `\bwhile :\s*(?:;|\n)\s*do\b`, Regexp: true, Atoms: []string{"while :"}},
					{Text: `\bwhile \[ 1 \]\s*(?:;|\n)\s*do\b`, Regexp: true, Atoms: []string{"while [ 1 ]"}},
				},
				All: []Pattern{
					{
						Text: `\b(?:curl|wget)\s[^\n|]*https?:\/\/[a-z0-9][^\n|]*>\s*\/dev\/null(?:\s*2>\s*(?:&1|\/dev\/n` +
							`ull))?\s*&?\s*(?:;|\n|$)`,
						Regexp: true,
						Atoms:  []string{"/dev/null"},
					},
				},
				Unless: []Pattern{
					{
						Text:   `sleep|break|wait|exit|return|read\b|localhost|127\.0\.0\.1|timeout|limit-rate|inotify`,
						Regexp: true,
						Atoms: []string{
							"127.0.0.1", "break", "exit", "inotify", "limit-rate",
							"localhost", "read", "return", "sleep", "timeout", "wait",
						},
					},
				},
				Start:    []string{"/dev/null"},
				Lines:    3,
				Points:   10,
				Severity: new(diag.SeverityError),
			},
			{
				About: "a loop without an end or a pause sends requests",
				In:    13,
				Any: []Pattern{
					{Text: `\bwhile\s+(?:true|:|\[\s*1\s*\]|1)\s*(?:;|\n|\)|:)`, Regexp: true, Atoms: []string{"while"}},
					{
						Text:   `\bfor\s+\w+\s+in\s+(?:range\(\s*\d{3,}\s*\)|\$\(seq\s+\d{3,}\)|\{1\.\.\d{3,}\})`,
						Regexp: true,
						Atoms:  []string{"$(seq", "range(", "{1.."},
					},
					{Text: `\bwhile\s*\(\s*(?:true|1)\s*\)`, Regexp: true, Atoms: []string{"while"}},
				},
				All: []Pattern{
					{
						Text:   `\b(?:curl|wget|requests\.(?:get|post)|fetch\(|httpx\.(?:get|post)|urlopen\()\b?`,
						Regexp: true,
						Atoms: []string{
							"curl", "fetch(", "httpx.get", "httpx.post", "requests.",
							"urlopen(", "wget",
						},
					},
				},
				Unless: []Pattern{
					{
						Text:   `sleep|break|wait|delay|settimeout|return|page|cursor|offset|retry`,
						Regexp: true,
						Atoms: []string{
							"break", "cursor", "delay", "offset", "page", "retry",
							"return", "settimeout", "sleep", "wait",
						},
					},
				},
				Start: []string{
					"curl", "fetch(", "httpx.get", "httpx.post", "requests.",
					"urlopen(", "wget",
				},
				Lines:  3,
				Points: 1,
			},
		},
	},
	{
		ID: "SEC340", Title: "value that looks like a secret", Severity: diag.SeverityWarning,
		Shapes: []Shape{
			{
				In:     127,
				Quoted: true,
				Kind:   PossibleSecret,
			},
		},
	},
	{
		ID: "SEC341", Title: "picture or document with code", Severity: diag.SeverityWarning,
		Signal: "execution", Points: 5,
		Shapes: []Shape{
			{
				In:     127,
				Quoted: true,
				Kind:   ActivePicture,
			},
		},
	},
	{
		ID: "SEC342", Title: "control sequence of a terminal", Severity: diag.SeverityWarning,
		Shapes: []Shape{
			{
				In:     127,
				Quoted: true,
				Kind:   TerminalEscape,
			},
		},
	},
	{
		ID: "SEC343", Title: "word with look-alike letters", Severity: diag.SeverityWarning,
		Signal: "concealment", Points: 5,
		Shapes: []Shape{
			{
				In:     127,
				Quoted: true,
				Kind:   MixedScript,
			},
		},
	},
}
