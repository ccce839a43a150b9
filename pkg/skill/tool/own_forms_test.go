package tool_test

import (
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// ownForms are command lines that run skillpm, or a program with an unknown name, with the arguments CMD.
func ownForms() []string {
	return []string{
		"skillpm -C x CMD", "skillpm --config=x CMD", "skillpm -qv CMD", "skillpm --json --color always CMD",
		"skillpm --color=always -vvq CMD", "skillpm -vC . --json CMD", "skillpm -qC. CMD",
		"skillpm --directory . CMD",
		"skillpm -- CMD", "skillpm -v -- CMD", "SKILLPM_UNDO=1 skillpm CMD", "SKILLPM_CONFIG=x skillpm CMD",
		"SKILLPM_LAYER=personal skillpm CMD", "env -S 'skillpm CMD'", "env -u X -- skillpm CMD",
		"command -p skillpm CMD",
		"command -- skillpm CMD", "exec -a x skillpm CMD", "nohup skillpm CMD &", "timeout -s KILL 5 skillpm CMD",
		"xargs -I{} skillpm CMD", "xargs -n1 -- skillpm CMD", "echo 'CMD' | xargs skillpm",
		"echo approve | xargs -n 1 skillpm", `find . -maxdepth 0 -exec skillpm CMD \;`,
		`find . -exec sh -c 'skillpm CMD' \;`, "sh -c 'skillpm CMD'", `sh -c "$(echo skillpm CMD)"`,
		`bash -c "$(echo c2tpbGxwbQ== | base64 -d) CMD"`, `bash -c "$X"`, "bash <<< 'skillpm CMD'",
		"bash <<'EOF'\nskillpm CMD\nEOF", "cat <<E | sh\nskillpm CMD\nE", "sh < script.txt", "{skillpm,CMD}",
		"{skill,}pm CMD", "skill{pm,} CMD", "sk{i,}llpm CMD", "skill{p..p}m CMD", "echo skillpm CMD | sh",
		"printf 'skil%s' 'lpm CMD' | sh", "echo c2tpbGxwbQ== | base64 -d | bash", "/usr/bin/skill?m CMD",
		"/usr/bin/s*m CMD", "/usr/bin/[s]killpm CMD", "./sk*pm CMD", "/usr/bin/sk[i]llpm CMD", "/usr/bin/s???lpm CMD",
		"/usr/*/skillpm CMD", "/???/???/skillpm CMD", "skillp? CMD", `$'\x73killpm' CMD`, "$'skill'pm CMD",
		`$'\163killpm' CMD`,
		`$'sk\u0069llpm' CMD`, `$"skillpm" CMD`, `\skillpm CMD`, `s\k\i\l\l\p\m CMD`, "sk''illpm CMD",
		`"sk"illpm CMD`,
		`sk""i''llpm CMD`, "sk\\\nillpm CMD", "\"s\\\nkillpm\" CMD", "$(which skillpm) CMD", "`which skillpm` CMD",
		"$(echo skill)pm CMD", "skill$(echo pm) CMD", `$(printf '\163killpm') CMD`, "`echo skill`pm CMD",
		"${x:-skillpm} CMD",
		"${x-skill}pm CMD", "x=skill; ${x}pm CMD", "x=skill y=pm; $x$y CMD", "skill$x''pm CMD", "skill${x}pm CMD",
		"skillp${m} CMD", "s=killpm; s$s CMD", "x=mpllsk; ${x} CMD", "read x < f; $x CMD", "x=skillpmz; ${x%z} CMD",
		"x=xskillpm; ${x#x} CMD", "x=xskillpm; ${x:1} CMD", "x=SKILLPM; ${x,,} CMD", `a=(skillpm trust); "${a[@]}"`,
		`set -- skillpm CMD; "$@"`, "set -- skill pm; $1$2 CMD", "$0 CMD", "$@", `f() { skillpm "$@"; }; f CMD`,
		"f() { $1 CMD; }; f skillpm", "function f { skillpm $*; }; f CMD", `f() { "$@"; }; f skillpm CMD`,
		"alias s='skillpm'; s CMD", "alias s='skillpm approve'; s a", "alias s=skill\\pm\ns CMD",
		"shopt -s expand_aliases; alias x='skillpm CMD'\nx", "alias ls='skillpm'\nls CMD",
		"git -c alias.x='!skillpm CMD' x", "git -c 'alias.x=!skillpm CMD' x", "git -c alias.x=!skillpm x CMD",
		"git config alias.x '!skillpm CMD'", "git -c core.pager='skillpm CMD' log",
		`git -c core.editor=skillpm\ approve commit`, "GIT_PAGER='skillpm CMD' git log", "PAGER='skillpm CMD' man ls",
		"EDITOR='skillpm CMD' git commit", "git bisect run skillpm CMD", "git rebase -x 'skillpm CMD' HEAD~1",
		"git submodule foreach 'skillpm CMD'", "git submodule foreach skillpm CMD", "git grep -O'skillpm CMD' x",
		"git -c core.sshCommand='skillpm CMD' fetch", "git clone 'ext::skillpm CMD' x",
		"git ls-remote --upload-pack='skillpm CMD' x", "git difftool -x 'skillpm CMD'",
		"git difftool --extcmd='skillpm CMD'", `python -c 'import os; os.system("skillpm CMD")'`,
		`python3 -c "import subprocess as s; s.run('skillpm CMD'.split())"`,
		`python -c 'import os;os.execvp("skillpm",["skillpm","trust"])'`, `perl -e 'system "skillpm CMD"'`,
		"perl -e 'exec(qw(skillpm CMD))'", "ruby -e '`skillpm CMD`'",
		`node -e 'require("child_process").execSync("skillpm CMD")'`, `awk 'BEGIN{system("skillpm CMD")}'`,
		"sed '1e skillpm CMD' f", "vim -c '!skillpm CMD'", `php -r 'system("skillpm CMD");'`,
		`lua -e 'os.execute("skillpm CMD")'`, `node -e "require('child_process').spawnSync('skillpm',['trust'])"`,
		"go run ./cmd/skillpm CMD", "go run github.com/skillpm/skillpm/cmd/skillpm@v1 CMD", "npx skillpm CMD",
		"npx -y skillpm@latest CMD", "npx --yes -- skillpm CMD", "npm exec skillpm -- CMD", "npm exec -- skillpm CMD",
		"pnpm dlx skillpm CMD", "yarn dlx skillpm CMD", "bun x skillpm CMD", "bunx skillpm CMD", "uvx skillpm CMD",
		"uv tool run skillpm CMD", "pipx run skillpm CMD", "go tool skillpm CMD",
		"go tool github.com/skillpm/skillpm/cmd/skillpm CMD", "mise exec -- skillpm CMD",
		"mise x skillpm -- skillpm CMD",
		"nix run nixpkgs#skillpm -- CMD", "nix-shell -p skillpm --run 'skillpm CMD'",
		"docker run ghcr.io/skillpm/skillpm CMD", "docker run -v ~:/root ghcr.io/skillpm/skillpm:latest CMD",
		"echo x\nskillpm CMD", "echo x; skillpm CMD", "echo x;skillpm CMD", "true&&skillpm CMD", "false||skillpm CMD",
		"true|skillpm CMD", "true&skillpm CMD", "true |& skillpm CMD", "! skillpm CMD", "{ skillpm CMD; }",
		"(skillpm CMD)",
		"time skillpm CMD", "coproc skillpm CMD", "if skillpm CMD; then :; fi", "for i in 1; do skillpm CMD; done",
		"while skillpm CMD; do :; done", "case x in x) skillpm CMD;; esac", "[[ -n $(skillpm CMD) ]]",
		"((x=$(skillpm CMD)))", "echo $(skillpm CMD)", `echo "$(skillpm CMD)"`, "echo `skillpm CMD`",
		"cat <(skillpm CMD)",
		"echo ${x:-$(skillpm CMD)}", "x=$(skillpm CMD)", "echo \"${x:=`skillpm CMD`}\"", "trap 'skillpm CMD' EXIT",
		`trap skillpm\ trust EXIT`, "PROMPT_COMMAND='skillpm CMD'", "cat << E\n$(skillpm CMD)\nE",
		"</dev/null skillpm CMD", ">out skillpm CMD", "2>&1 skillpm CMD", "skillpm>x CMD", "skillpm CMD>x",
		"skillpm 2>/dev/null CMD", "skillpm < /dev/null CMD", "sudo -E skillpm CMD", "doas skillpm CMD",
		"su -c 'skillpm CMD'",
		"setsid -f skillpm CMD", "stdbuf -oL skillpm CMD", "nice -n 5 skillpm CMD", "ionice -c 3 skillpm CMD",
		"chroot / skillpm CMD", "unshare -r skillpm CMD", "strace -f skillpm CMD", "ltrace skillpm CMD",
		"gdb --args skillpm CMD", "gdb -ex run --args skillpm CMD", "script -c 'skillpm CMD' /dev/null",
		`script -qc "skillpm CMD"`, "watch skillpm CMD", "watch -n1 'skillpm CMD'", "entr skillpm CMD",
		"ls | entr skillpm CMD", "parallel skillpm CMD ::: a", "parallel skillpm ::: CMD", "flock /tmp/l skillpm CMD",
		"flock /tmp/l -c 'skillpm CMD'", "busybox sh -c 'skillpm CMD'", "dbus-run-session skillpm CMD",
		"tmux new -d 'skillpm CMD'", "tmux new-session -d skillpm CMD", "screen -dm skillpm CMD",
		"at now <<< 'skillpm CMD'",
		"echo skillpm CMD | at now", "systemd-run --user skillpm CMD", "systemd-run --user -- skillpm CMD",
		"ssh localhost skillpm CMD", "ssh localhost 'skillpm CMD'", "ssh -o ProxyCommand='skillpm CMD' x",
		"/lib64/ld-linux-x86-64.so.2 /usr/bin/skillpm CMD", "eval skillpm CMD", `eval "skillpm CMD"`,
		"eval skill'pm' CMD",
		"eval 'sk''illpm' CMD", "eval $'skillpm CMD'", `eval "$x"`, "eval $x", ". <(echo skillpm CMD)",
		"source /dev/stdin <<< 'skillpm CMD'", "builtin command skillpm CMD", "builtin eval skillpm CMD",
		"hash -p /usr/bin/skillpm x; x CMD", "enable -f x; skillpm CMD", "make -f - <<< 'x:;skillpm CMD'",
		"make --eval='x:;skillpm CMD' x", `make -f <(printf 'a:\n\tskillpm CMD') a`,
		"tar cf /dev/null x --checkpoint=1 --checkpoint-action=exec='skillpm CMD'", "rsync -e 'skillpm CMD' a b:c",
		"find -exec skillpm CMD +", `find . -okdir skillpm CMD \;`, "fd -x skillpm CMD", "man -P 'skillpm CMD' ls",
		"less '+!skillpm CMD' f", "SKILLPM CMD", "SkillPM.exe CMD", "cmd /c skillpm CMD", "cmd.exe /c 'skillpm CMD'",
		"powershell -c 'skillpm CMD'", "pwsh -Command skillpm CMD", "start skillpm CMD", "wsl skillpm CMD",
		"wsl -e skillpm CMD", "skillpm.cmd CMD", "skillpm.bat CMD", "./skillpm_linux_amd64 CMD", "skillpm-1.2.3 CMD",
		"~/go/bin/skillpm CMD", "~/skillpm/skillpm CMD", "/proc/self/root/usr/bin/skillpm CMD",
		"//usr//bin//skillpm CMD",
		"/usr/bin/../bin/skillpm CMD", "skillpm dispatch -- skillpm CMD", "skillpm run x -- skillpm CMD",
		"skillpm task submit x -- skillpm CMD", `skillpm -Cx\ -v CMD`, `skillpm -C "$PWD" CMD`, "skillpm -C ~ CMD",
		"skillpm -C $(pwd) CMD", "skillpm -C * CMD", "skillpm --color {always,never} CMD", "skillpm '' CMD",
		`skillpm "" CMD`,
		"skillpm -h CMD", "skillpm --help=false CMD", "skillpm --json=true CMD", "skillpm -vv=1 CMD",
		"skillpm -v=3 CMD",
		"skillpm -q=false CMD", "skillpm -qC=x CMD", "skillpm --c x CMD", "skillpm $EMPTY CMD",
		"skillpm ${EMPTY} -v CMD",
		"skillpm * CMD", "skillpm \\\nCMD", "skillpm\tCMD", "skillpm  'CMD'", "X=1 Y=2 env -i skillpm CMD",
		"env -C / skillpm CMD", "env --split-string='skillpm CMD'", "env --chdir=/ skillpm CMD", "A=$(x) skillpm CMD",
		`A="b c" skillpm CMD`, "a+=b skillpm CMD", "a[1]=x skillpm CMD", `env -Sskillpm\ approve`,
	}
}

// unknownForms are command lines that run skillpm or an unknown program, without a place for arguments.
func unknownForms() []string {
	return []string{
		"=skillpm approve x", "noglob skillpm approve x", "noglob $x approve", "=sk*pm approve",
		"printf x | xargs env", "cat f | xargs sudo -u root", "$x approve\n)", "$x approve\nif",
		"sk$(echo il)lpm approve\nfi",
	}
}

// TestOwnForms proves that no form of a command line runs a command that changes what is allowed, whichever list allows
// the line, and that a name which only the shell knows is denied.
func TestOwnForms(t *testing.T) {
	commands := []string{
		"approve a/b", "deny --undo x", "trust", "config set a b", "disconnect", "registry add x y",
		"enterprise sync",
		"deploy x", "key generate", "self-update", "connect --all", "policy init",
	}
	for _, list := range []string{"Bash", "Bash(skillpm:*)", "Bash(skillpm list:*)", "Bash(git:*)"} {
		set := tool.Set{}.And("acme", patterns(t, list))
		check := func(line string) {
			if set.Allow(bash(line)).Allowed {
				t.Errorf("%s allows %q", list, line)
			}
		}
		for _, form := range ownForms() {
			for i, command := range commands {
				if i > 0 && list != "Bash" {
					break // the other lists allow fewer lines
				}
				check(strings.ReplaceAll(form, "CMD", command))
			}
		}
		for _, form := range unknownForms() {
			check(form)
		}
	}
}

// TestOwnFormsOfPowerShell is TestOwnForms for PowerShell and cmd.
func TestOwnFormsOfPowerShell(t *testing.T) {
	set := tool.Set{}.And("acme", patterns(t, "Bash, PowerShell"))
	for _, line := range []string{
		"& ('skill'+'pm') approve", "&$x approve", "iex $x", "iex ('skillpm appr'+'ove')", "sk`illpm approve x",
		"Invoke-Expression $x", "powershell -enc AAAA", "powershell -EncodedCommand AAAA", `& "$x" approve`,
		"$x | iex", ". $x approve", "Start-Process skillpm approve", "start-process skillpm -ArgumentList approve",
		"saps skillpm approve", "cmd /c skil^lpm approve", "skil^lpm approve", "cmd /c %X% approve",
		"& (gcm sk*pm) approve", "[Diagnostics.Process]::Start('skillpm','approve')", "sal x skillpm; x approve",
	} {
		input := map[string]any{"command": line}
		for _, c := range []tool.Call{
			{Tool: "PowerShell", Input: input}, {Tool: "run_shell_command", Windows: true, Input: input},
		} {
			if set.Allow(c).Allowed {
				t.Errorf("%s allows %q", c.Tool, line)
			}
		}
	}
}

// TestOrdinaryLines proves that a restricted shell can run lines that agents often write.
func TestOrdinaryLines(t *testing.T) {
	set := tool.Set{}.And("acme", patterns(t, "Bash"))
	for _, line := range []string{
		`for f in *.go; do gofmt -l "$f"; done`, `cd "$(git rev-parse --show-toplevel)" && make test`,
		`x=$(mktemp -d); cp -r src "$x"`, "git commit -m \"$(cat <<'EOF'\nfix: list (all)\n\nbody\nEOF\n)\"",
		"python3 <<'EOF'\nprint(1)\nEOF", "cat > f.sh <<'EOF'\n#!/bin/sh\necho $1\nEOF\nchmod +x f.sh; ./f.sh",
		"bash -c 'for i in 1 2; do echo $i; done'", "bash -lc 'npm test'", "bash script.sh", "sh ./x.sh --flag $V",
		`bash "$DIR/run.sh"`, ". venv/bin/activate && pytest", "source ~/.bashrc", `source "$HOME/.nvm/nvm.sh"`,
		"find . -name '*.go' -exec grep -l x {} +", "ls | xargs -n1 wc -l", "find . -print0 | xargs -0 rm",
		`xargs -I{} sh -c 'echo "$1"' _ {} < f`, "$HOME/bin/tool x", `"${CLAUDE_PLUGIN_ROOT}/scripts/x.sh" a`,
		"./node_modules/.bin/*.js", "env FOO=$x make", "time make -j$(nproc)", "timeout 60 go test ./...",
		"timeout 5 bash run.sh", "nohup ./server > log 2>&1 &", "sudo -u postgres psql",
		"if [ -f x ]; then cat x; fi", `while read -r l; do echo "$l"; done < f`, "[[ $a == b* ]] && echo yes",
		`f() { echo "$1"; }; f x`, "((i++)); echo $i", "echo $((1+2))", "case $x in a) ls;; *) pwd;; esac",
		"arr=(a b); echo ${arr[@]}", "export PATH=$PATH:/x", "awk '{print $1}' f", "sed -n '1,5p' f",
		"grep -E 'a|b' f | sort | uniq -c", `docker run --rm -v "$PWD:/w" golang:1.22 go test ./...`,
		"kubectl get pods -o json | jq '.items[] | .name'", "which bash", "awk '$1 > 5' f",
		`awk '$1 == "x" {print}' f`, "grep '$foo bar' f", "echo 'x | sh'", `git commit -m "$x y"`,
		"git commit -m 'a; $b c'", "jq '.[] | $x' f", "perl -ne '$x .= $_' f", `echo "$x and $y"`,
		`curl -d "$body more" https://x`, "find . -type f -exec sed -i s/a/b/ {} ;", "echo bash",
		"apt-get install -y zsh", "cd sh && ls", "man bash", "ls bash", "grep -rn skillpm .", "cat docs/skillpm.md",
		"vim skillpm.yaml", "git log --grep=skillpm", "ls ~/.config/skillpm", "git diff -- pkg/skillpm",
		"go test ./pkg/skillpm/...", "go test ./pkg/skillpm -run Trust",
		"git clone https://github.com/skillpm/skillpm.git && cd skillpm && ls", "skillpm install acme/x@^1",
		"skillpm list | grep trust", "skillpm list --json | jq .", "x=$(skillpm list --json)",
		"which skillpm && skillpm list", "command -v skillpm", "bash --version", "type skillpm",
		`trap 'rm -f "$tmp"' EXIT`, "git commit -m 'skillpm: fix list'", "ssh host uptime",
		"curl -s https://x/y | tar xz", "curl -s https://x | python3 -m json.tool", "node -e 'console.log(1)'",
		"set -euo pipefail; ls", "set -x", "git -c user.name=x commit -m y", "docker exec c sh -c 'ls /'",
		"cp -r pkg/skillpm /tmp/x", "cd pkg/skillpm && go build ./...", "GOFLAGS=-mod=mod go build ./cmd/skillpm",
	} {
		if v := set.Allow(bash(line)); !v.Allowed {
			t.Errorf("%q: %s", line, v.Reason)
		}
	}
	v := set.Allow(bash("$x approve"))
	if want := `may run "$x", because it could run skillpm`; !strings.Contains(v.Reason, want) {
		t.Errorf("reason %q, want %q", v.Reason, want)
	}
}
