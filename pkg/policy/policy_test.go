package policy_test

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/policy"
)

const sum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

const full = `# what acme allows
version: 1
mode: audit
sources:
  allow: ["oci://registry.example/acme/**", 'git+https://*.git.example:8443/acme/*.git//packs/**', local]
  deny:
    - oci://registry.example/acme/labs/**
skills: {deny: ["deploy@evil/*", "*@evil-*/a*b"]}
require:
  - match: "oci://registry.example/acme/**"
    signatures:
      threshold: 2
      any_of:
        - key: {file: keys/acme.pub, sha256: "` + sum + `"}
        - identity:
            issuer: https://token.actions.githubusercontent.com
            subject: ^https://github\.com/acme/[a-z]+/\.github/workflows/release\.yml@refs/tags/v.*$
        - identity: {issuer: "https://accounts.example", subject: release+bot@acme.example}
    min_release_age: 72h
  - {match: "**", min_release_age: 2w}
forbid: [native-binaries, hooks]
approve: [scripts]
limits: {files: 2000, file_bytes: 10MiB, total_bytes: 52428800, path_bytes: 240, depth: 16}
downgrade: allow
lint: {fail_on: [SEC101, SEC2*, fm]}
audit: {path: /var/log/skillpm/audit.jsonl, required: true, team: payments}
allowed-tools: grant
hooks: {unreadable: open}
approvers: user
updates: {capability-increase: ask}
`

func TestParse(t *testing.T) {
	text := strings.Replace(full, `match: "**"`, "match: local", 1)
	p, err := policy.Parse("policy.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := &policy.Policy{
		Path: "policy.yaml", Version: 1, Mode: policy.Observe,
		Sources: policy.Sources{
			Allow: []policy.Pattern{"oci://registry.example/acme/**", "git+https://*.git.example:8443/acme/*.git//packs/**", "local"},
			Deny:  []policy.Pattern{"oci://registry.example/acme/labs/**"},
		},
		Skills: policy.Skills{Deny: []policy.SkillPattern{"deploy@evil/*", "*@evil-*/a*b"}},
		Require: []policy.Requirement{
			{
				Match: "oci://registry.example/acme/**", MinReleaseAge: 72 * time.Hour, Line: 10,
				Signatures: &policy.Signatures{Threshold: 2, AnyOf: []policy.Signer{
					{Key: &policy.Key{File: "keys/acme.pub", SHA256: sum}},
					{Identity: &policy.Identity{
						Issuer:  "https://token.actions.githubusercontent.com",
						Subject: `^https://github\.com/acme/[a-z]+/\.github/workflows/release\.yml@refs/tags/v.*$`,
					}},
					{Identity: &policy.Identity{Issuer: "https://accounts.example", Subject: "release+bot@acme.example"}},
				}},
			},
			{Match: "local", MinReleaseAge: 14 * 24 * time.Hour, Line: 20},
		},
		Forbid:    []policy.Capability{policy.NativeBinaries, policy.Hooks},
		Approve:   []policy.Capability{policy.Scripts},
		Limits:    policy.Limits{Files: 2000, FileBytes: 10 << 20, TotalBytes: 52428800, PathBytes: 240, Depth: 16},
		Downgrade: policy.AllowDowngrade,
		Lint:      policy.Lint{FailOn: []string{"SEC101", "SEC2*", "fm"}},
		Audit:     &policy.Audit{Path: "/var/log/skillpm/audit.jsonl", Required: true, Team: "payments"},

		AllowedTools: policy.Grant,
		Hooks:        policy.HookRules{Unreadable: policy.Open},
		Approvers:    policy.UserApprovers,
		Updates:      policy.Updates{CapabilityIncrease: policy.AskIncrease},
	}
	if got := policy.WithoutLines(p); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	for key, line := range map[string]int{
		"sources.allow": 5, "limits.files": 23, "limits.depth": 23, "downgrade": 24, "audit": 26, "allowed-tools": 27,
		"hooks": 28, "approvers": 29, "updates.capability-increase": 30, "execution": 0,
		"nothing.here": 0,
	} {
		if got := p.Line(key); got != line {
			t.Errorf("%s is on line %d, want %d", key, got, line)
		}
	}
	for key, lines := range map[string][]int{
		"sources.deny": {7, 0}, "skills.deny": {8, 8, 0}, "forbid": {21, 21, 0}, "approve": {22, 0},
		"lint.fail_on": {25, 25, 25, 0}, "publish.allow": {0},
	} {
		for i, line := range lines {
			if got := p.Line(key, i); got != line {
				t.Errorf("entry %d of %s is on line %d, want %d", i, key, got, line)
			}
		}
	}
}

// TestDefaults checks that missing settings have the strict default, and that an empty list differs from a missing one.
func TestDefaults(t *testing.T) {
	p, err := policy.Parse("p", []byte("version: '1'\nrequire: [{match: local, signatures: {any_of: [{key: {file: /k, sha256: "+sum+"}}]}}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if p.Mode != policy.Enforce || p.Downgrade != policy.DenyDowngrade || p.Sources.Allow != nil || p.Audit != nil {
		t.Errorf("got %+v", p)
	}
	if p.Require[0].Signatures.Threshold != 1 {
		t.Errorf("got threshold %d", p.Require[0].Signatures.Threshold)
	}
	p, err = policy.Parse("p", []byte("version: 1\nsources: {allow: []}\n"))
	if err != nil || p.Sources.Allow == nil || len(p.Sources.Allow) != 0 {
		t.Errorf("an empty list: %+v, %v", p, err)
	}
}

// render writes problems as line:column: message (hint), one a line.
func render(problems []policy.Problem) string {
	var b strings.Builder
	for _, p := range problems {
		fmt.Fprintf(&b, "%d:%d: %s", p.Line, p.Column, p.Message)
		if p.Hint != "" {
			fmt.Fprintf(&b, " (%s)", p.Hint)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// bad are policies with one mistake each.
var bad = []struct{ name, text, want string }{
	{"empty", "", "1:1: the policy is empty (add version: 1 as the first line)"},
	{"comment only", "# nothing\n", "1:1: the policy is empty (add version: 1 as the first line)"},
	{"null", "~\n", "1:1: expected a mapping, with a key on each line (add version: 1 as the first line)"},
	{"list", "- version: 1\n", "1:1: expected a mapping, with a key on each line (add version: 1 as the first line)"},
	{"no version", "mode: audit\n", "1:1: the policy does not have a version (add version: 1 as the first line)"},
	{"newer version", "version: 2\n", `1:10: unsupported format version "2"; this skillpm supports version 1 (use a newer skillpm)`},
	{"version as a float", "version: 1.0\n", `1:10: unsupported format version "1.0"; this skillpm supports version 1 (use a newer skillpm)`},
	{"not YAML", "version: 1\nmode: a: b\n", `2:8: invalid YAML: unexpected ": " inside a value: write the value in quotes`},
	{"template", "version: 1\n{{ x }}: y: z\n", "0:0: invalid YAML: line 2: mapping values are not allowed in this context"},
	{"two documents", "version: 1\n---\nversion: 1\n", "2:1: unexpected second YAML document (remove the line --- and the text after it)"},
	{"conflict", "version: 1\n<<<<<<< HEAD\nmode: audit\n", "2:1: unresolved merge conflict: <<<<<<< HEAD (choose one side, and remove the lines <<<<<<<, =======, and >>>>>>>)"},
	{"too large", "version: 1\n" + strings.Repeat("#", 1<<20), "0:0: the file has 1048587 bytes; the limit is 1048576"},
	{"unknown key", "version: 1\nsource: {}\n", `2:1: unknown key "source" in the policy (did you mean sources?)`},
	{"unknown key without a neighbour", "version: 1\nsources: {only: []}\n", `2:11: unknown key "only" in sources (use allow or deny)`},
	{"duplicate key", "version: 1\nmode: audit\nmode: enforce\n", `3:1: the key "mode" is duplicated; it first appears on line 2`},
	{"duplicate key below", "version: 1\nsources: {deny: [local], deny: []}\n", `2:26: the key "deny" is duplicated; it first appears on line 2`},
	{"alias", "version: 1\nforbid: &f [hooks]\n", "2:9: the YAML anchor &f is not allowed here (write the value itself in quotes)"},
	{"tag", "version: !!str 1\n", "1:10: the YAML tag !!str is not allowed here (write the value in quotes)"},
	{"merge key", "version: 1\n<<: {mode: audit}\n", `2:1: unknown key "<<" in the policy (use one of advisories, allowed-tools, approve, approvers, audit, authoring, downgrade, execution, forbid, hooks, limits, lint, mode, publish, require, skills, sources, updates, or version)`},
	{"key that is a list", "version: 1\n? [a]\n: b\n", "2:3: a key must be one word"},
	{"no value", "version: 1\nmode:\n", "2:6: mode does not have a value (write a value, or remove the key)"},
	{"null value", "version: 1\nmode: ~\n", `2:7: mode is ~, which YAML reads as null (write the value in quotes: "~")`},
	{"list without a value", "version: 1\nsources:\n  allow:\n", "3:9: allow does not have a value (write [] for an empty list, or remove the key)"},
	{"mode", "version: 1\nmode: enforced\n", `2:7: mode has the unknown value "enforced" (did you mean enforce?)`},
	{"mode of several lines", "version: 1\nmode: |\n  audit\n", "2:7: mode must be one line of text (write the value in quotes on one line)"},
	{"mode as a list", "version: 1\nmode: [audit]\n", "2:7: mode must be text (write the value in quotes)"},
	{"hidden characters", "version: 1\nsources: {deny: [\"local\u200b\"]}\n", "2:18: an entry of deny must be one line of text (write the value in quotes on one line)"},
	{"sources as a list", "version: 1\nsources: [local]\n", "2:10: sources must be a mapping (write {key: value}, or one indented line for each key)"},
	{"allow as a text", "version: 1\nsources: {allow: local}\n", "2:18: allow must be a list (write [a, b], or one line with a hyphen for each entry)"},
	{"the same twice", "version: 1\nsources: {allow: [local, local]}\n", `2:26: "local" appears more than once in allow (remove one of the two entries)`},
	{"a character that no name has", "version: 1\nskills: {deny: [\"b?x\"]}\n", `2:17: "b?x" does not have the form skill@owner/name, owner/name, or skill (use deploy, deploy@acme/tools, deploy@acme/*, acme/tools, or acme/*)`},
	{"two stars in a bare skill", "version: 1\nskills: {deny: [\"de**\"]}\n", `2:17: "de**" does not have the form skill@owner/name, owner/name, or skill (use deploy, deploy@acme/tools, deploy@acme/*, acme/tools, or acme/*)`},
	{"allowed tools", "version: 1\nallowed-tools: all\n", `2:16: allowed-tools has the unknown value "all" (use restrict or grant)`},
	{"hooks", "version: 1\nhooks: {unreadable: close}\n", `2:21: unreadable has the unknown value "close" (did you mean closed?)`},
	{"capability increase", "version: 1\nupdates: {capability-increase: allow}\n", `2:32: capability-increase has the unknown value "allow" (use ask or deny)`},
	{"sandbox", "version: 1\nexecution: {sandbox: never}\n", `2:22: sandbox has the unknown value "never" (use asked or always)`},
	{"execution", "version: 1\nexecution: {net: []}\n", `2:13: unknown key "net" in execution (use one of network, paths, sandbox, or unavailable)`},
	{"host", "version: 1\nexecution: {network: ['https://a.test/']}\n", `2:23: "https://a.test/" is not a host with an optional port (use api.example.com:443, *.example.com, or * for all hosts)`},
	{"path", "version: 1\nexecution: {paths: [build]}\n", `2:21: "build" is neither an absolute path nor a path in the home directory (use an absolute path, such as /srv/data, or a path in the home directory, such as ~/reports)`},
	{"path with dots", "version: 1\nexecution: {paths: [/srv/../etc]}\n", `2:21: "/srv/../etc" contains .. (use a path without ..)`},
	{"approvers", "version: 1\napprovers: [root]\n", `2:12: approvers must be text (write the value in quotes)`},
	{"pack without an owner", "version: 1\nskills: {deny: [deploy@tools]}\n", `2:17: "deploy@tools" does not have the form skill@owner/name, owner/name, or skill (add the owner of the pack, or write deploy@*/tools for the packs of all owners)`},
	{"unknown layer", "version: 1\nauthoring: {create: {plugin: [ada]}}\n", `2:22: unknown key "plugin" in create (use enterprise, personal, project, or * for the others)`},
	{"owner with a slash", "version: 1\nauthoring: {publish: {acme/x: [ada]}}\n", `2:23: unknown key "acme/x" in publish (use the owner of packs, such as acme, or * for the others)`},
	{"user pattern", "version: 1\nauthoring: {publish: {acme: [\"a*\"]}}\n", `2:30: "a*" is not a user, a group, or * (use the name of a user, group:NAME, or *)`},
	{"two stars in a skill", "version: 1\nskills: {deny: [\"**@a/b\"]}\n", `2:17: "**@a/b" does not have the form skill@owner/name, owner/name, or skill (use deploy, deploy@acme/tools, deploy@acme/*, acme/tools, or acme/*)`},
	{"no match", "version: 1\nrequire: [{min_release_age: 1h}]\n", `2:11: the key "match" is missing in an entry of require (write match: "oci://registry.example/acme/**")`},
	{"nothing required", "version: 1\nrequire: [{match: local}]\n", "2:11: an entry of require does not have requirements (add signatures or min_release_age, or remove the entry)"},
	{"age without a unit", "version: 1\nrequire: [{match: local, min_release_age: 72}]\n", `2:43: min_release_age is "72", which is not a duration (write 72h for hours, or 72d for days)`},
	{"age in minutes", "version: 1\nrequire: [{match: local, min_release_age: 90m}]\n", `2:43: min_release_age is "90m", which is not a duration (use hours, days, or weeks, such as 72h, 3d, or 2w)`},
	{"no age", "version: 1\nrequire: [{match: local, min_release_age: 0h}]\n", `2:43: min_release_age is "0h", which is not a duration (use hours, days, or weeks, such as 72h, 3d, or 2w)`},
	{"no signers", "version: 1\nrequire: [{match: local, signatures: {}}]\n", `2:38: the key "any_of" is missing in signatures (write any_of: [{key: {file: keys/acme.pub, sha256: "…"}}])`},
	{"empty signers", "version: 1\nrequire: [{match: local, signatures: {any_of: []}}]\n", "2:47: any_of is empty, so no signature can match (list at least one key or identity)"},
	{"threshold", signed("threshold: 2, any_of: [{key: {file: k, sha256: " + sum + "}}]"), "2:50: threshold is 2, but any_of has only 1 entry"},
	{"threshold of zero", signed("threshold: 0, any_of: [{key: {file: k, sha256: " + sum + "}}]"), "2:50: threshold must be a whole number of at least 1 (write the number in digits, without quotes, such as 2000)"},
	{"threshold as a text", signed("threshold: '1', any_of: [{key: {file: k, sha256: " + sum + "}}]"), "2:50: threshold must be a whole number of at least 1 (write the number in digits, without quotes, such as 2000)"},
	{"one key twice", signed("any_of: [{key: {file: k, sha256: " + sum + "}}, {key: {file: l, sha256: " + sum + "}}]"), "2:140: any_of lists this signer twice, first on line 2 (remove one of the entries)"},
	{"both", signed("any_of: [{key: {file: k, sha256: " + sum + "}, identity: {issuer: \"https://a.b\", subject: c}}]"), "2:48: an entry of any_of has more than one of key, identity, github, gitlab, and ssh (use one entry for each signer)"},
	{"neither", signed("any_of: [{}]"), "2:48: an entry of any_of does not have a key, identity, github, gitlab, or ssh (write {key: {file: …, sha256: …}}, {identity: {issuer: …, subject: …}}, {github: OWNER/REPO, workflow: FILE}, {gitlab: GROUP/PROJECT}, or {ssh: {allowed_signers: …, sha256: …}})"},
	{"key without a digest", signed("any_of: [{key: {file: k}}]"), `2:54: the key "sha256" is missing in key (write key: {file: keys/acme.pub, sha256: …})`},
	{"digest with a prefix", signed("any_of: [{key: {file: k, sha256: \"sha256:" + strings.ToUpper(sum) + "\"}}]"), "2:72: sha256 must have 64 lowercase hexadecimal digits (write " + sum + ")"},
	{"short digest", signed("any_of: [{key: {file: k, sha256: e3b0}}]"), "2:72: sha256 must have 64 lowercase hexadecimal digits (print the digest with: sha256sum FILE)"},
	{"key outside", signed("any_of: [{key: {file: ../k, sha256: " + sum + "}}]"), `2:61: "../k" is not the path of a file (use a path relative to the policy, with forward slashes and without .., such as keys/acme.pub)`},
	{"ssh without a file", signed("any_of: [{ssh: {sha256: " + sum + "}}]"), `2:54: the key "allowed_signers" is missing in ssh (write ssh: {allowed_signers: keys/allowed_signers, sha256: …})`},
	{"ssh without a digest", signed("any_of: [{ssh: {allowed_signers: a}}]"), `2:54: the key "sha256" is missing in ssh (write ssh: {allowed_signers: keys/allowed_signers, sha256: …})`},
	{"ssh outside", signed("any_of: [{ssh: {allowed_signers: ../a, sha256: " + sum + "}}]"), `2:72: "../a" is not the path of a file (use a path relative to the policy, with forward slashes and without .., such as keys/allowed_signers)`},
	{"a key in ssh", signed("any_of: [{ssh: {allowed_signers: a, sha256: " + sum + ", key: b}}]"), `2:149: unknown key "key" in ssh (use allowed_signers or sha256)`},
	{"github without an owner", signed("any_of: [{github: skills}]"), `2:48: "skills" is not a GitHub repository (use OWNER/REPO, such as acme/skills)`},
	{"github as an address", signed(`any_of: [{github: "https://github.com/acme/skills"}]`), `2:48: "https://github.com/acme/skills" is not a GitHub repository (use OWNER/REPO, such as acme/skills)`},
	{"github with a pattern", signed(`any_of: [{github: "acme/*"}]`), `2:48: "acme/*" is not a GitHub repository (use OWNER/REPO, such as acme/skills)`},
	{"github and gitlab", signed("any_of: [{github: acme/skills, gitlab: acme/skills}]"), "2:48: an entry of any_of has more than one of key, identity, github, gitlab, and ssh (use one entry for each signer)"},
	{"workflow in a directory", signed("any_of: [{github: acme/skills, workflow: .github/workflows/release.yml}]"), `2:48: ".github/workflows/release.yml" is not a workflow file (use the name of a file in .github/workflows/, such as release.yml)`},
	{"empty workflow", signed(`any_of: [{github: acme/skills, workflow: ""}]`), "2:80: workflow is empty (remove the key)"},
	{"workflow of gitlab", signed("any_of: [{gitlab: acme/skills, workflow: release.yml}]"), `2:48: "release.yml" is not a setting of a GitLab project (remove the workflow; it applies to GitHub only)`},
	{"ref of a pull request", signed("any_of: [{github: acme/skills, ref: refs/pull/1/merge}]"), `2:48: "refs/pull/1/merge" is not a ref of a branch or tag (use refs/heads/NAME or refs/tags/NAME, such as refs/tags/v*)`},
	{"ref of a key", signed("any_of: [{key: {file: k, sha256: " + sum + "}, ref: refs/tags/v*}]"), "2:144: ref applies only to github and gitlab"},
	{"host in upper case", signed("any_of: [{gitlab: acme/skills, host: Git.example}]"), `2:48: "Git.example" is not a host (use the host of the server in lower case, such as git.example)`},
	{"repository without a path", signed(`any_of: [{identity: {issuer: "https://a.b", subject: c, repository: "https://a.b"}}]`), `2:107: "https://a.b" is not the https address of a repository (use the exact address, such as https://github.com/acme/skills)`},
	{"identity without a subject", signed("any_of: [{identity: {issuer: \"https://a.b\"}}]"), `2:59: the key "subject" is missing in identity (write {issuer: https://…, subject: …})`},
	{"capability", "version: 1\nforbid: [hook]\n", `2:10: an entry of forbid has the unknown value "hook" (did you mean hooks?)`},
	{"forbidden and approved", "version: 1\nforbid: [hooks]\napprove: [scripts, hooks]\n", "3:20: hooks is in both approve and forbid (remove the capability from approve or from forbid)"},
	{"limit as a text", "version: 1\nlimits: {files: many}\n", "2:17: files must be a whole number of at least 1 (write the number in digits, without quotes, such as 2000)"},
	{"limit in hexadecimal", "version: 1\nlimits: {files: 0x10}\n", "2:17: files must be a whole number of at least 1 (write the number in digits, without quotes, such as 2000)"},
	{"negative limit", "version: 1\nlimits: {file_bytes: -1}\n", "2:22: file_bytes must be a whole number of at least 1 (write the number in digits, without quotes, such as 2000)"},
	{"size in MB", "version: 1\nlimits: {file_bytes: 10MB}\n", `2:22: file_bytes is "10MB", which is not a size (write 10MiB; units are powers of 1024)`},
	{"size with a fraction", "version: 1\nlimits: {file_bytes: 1.5MiB}\n", `2:22: file_bytes is "1.5MiB", which is not a size (use a number of bytes, or KiB, MiB, or GiB, such as 10MiB)`},
	{"size in quotes", "version: 1\nlimits: {file_bytes: '10'}\n", `2:22: file_bytes is "10", which is not a size (use a number of bytes, or KiB, MiB, or GiB, such as 10MiB)`},
	{"a file larger than all", "version: 1\nlimits: {total_bytes: 1MiB, file_bytes: 2MiB}\n", "2:41: file_bytes is larger than total_bytes"},
	{"downgrade", "version: 1\ndowngrade: warn\n", `2:12: downgrade has the unknown value "warn" (use deny or allow)`},
	{"rule", "version: 1\nlint: {fail_on: [SEC999]}\n", "2:18: unknown rule \"SEC999\" (list rules with \"skillpm explain\"; a family such as SEC selects all its rules)"},
	{"team", "version: 1\naudit: {team: \"a b\"}\n", `2:15: "a b" is not the name of a team (use at most 64 letters, digits, and . _ - /, such as payments)`},
	{"relative audit", "version: 1\naudit: {path: log/audit.jsonl}\n", `2:15: "log/audit.jsonl" is not the absolute path of a file (use an absolute path without .., such as /var/log/skillpm/audit.jsonl)`},
	{"audit as yes", "version: 1\naudit: {path: /log, required: yes}\n", "2:31: required must be true or false (write true or false, without quotes)"},
}

// signed is a policy that requires signatures.
func signed(signatures string) string {
	return "version: 1\nrequire: [{match: local, signatures: {" + signatures + "}}]\n"
}

func TestCheck(t *testing.T) {
	for _, tt := range bad {
		t.Run(tt.name, func(t *testing.T) {
			if got := render(policy.Check("policy.yaml", []byte(tt.text))); got != tt.want+"\n" {
				t.Errorf("got  %swant %s", got, tt.want)
			}
		})
	}
}

var user = regexp.MustCompile(`^([a-z+]+://)?[^.]+@`)

func TestCheckSources(t *testing.T) {
	for _, tt := range []struct{ pattern, want string }{
		{"oci://registry.example/acme/**", ""},
		{"oci://registry.example:5000/**", ""},
		{"oci://*.registry.example/*/tools-*", ""},
		{"git+ssh://git.example/acme/tools.git", ""},
		{"git+https://github.com/acme/**", ""},
		{"git+https://github.com/acme/tools.git//packs/*", ""},
		{"git+https://git.example/Acme/a%20b", ""},
		{"git+file", ""},
		{"oci://[2001:db8::1]:5000/**", ""},

		{"oci://[2001:DB8::1]/**", "has an address that is not in canonical form (write oci://[2001:db8::1]/**)"},
		{"oci://[::ffff:127.0.0.1]:5000/**", "has an IPv4 address within an IPv6 address (write oci://127.0.0.1:5000/**)"},
		{"oci://[::1/**", "has a missing or invalid host (use brackets only for IPv6 addresses, such as [2001:db8::1])"},
		{"registry.example/acme", "is not a source (use scheme://host/path, such as oci://registry.example/acme/**, or one of local, embedded, path, oci-layout, git+file)"},
		{"**", "is not a source (use scheme://host/path, such as oci://registry.example/acme/**, or one of local, embedded, path, oci-layout, git+file)"},
		{"github.com/acme/tools", "is not a source (write git+https://github.com/acme/tools)"},
		{"git@git.example:acme/tools.git", "is not a source (write git+ssh://git.example/acme/tools.git)"},
		{"https://git.example/acme/**", "has the unsupported scheme https (write git+https://git.example/acme/**, or oci:// for a registry)"},
		{"OCI://h.example/a", "has a scheme in upper case (write oci://h.example/a)"},
		{"git+http://h.example/a", "has an unknown scheme (use oci, git+https, git+ssh, well-known+https, clawhub+https, or apm+https)"},
		{"oci://Registry.Example/acme/**", "has a host in upper case (write oci://registry.example/acme/**)"},
		{"git+ssh://git@git.example/a", "has a user name, which a source must not have (write git+ssh://git.example/a)"},
		{"oci://me:secret@h.example/a", "has a user name, which a source must not have (write oci://h.example/a)"},
		{"oci://Me:secret@h.example/a", "has a user name, which a source must not have (write oci://h.example/a)"},
		{"https://me:sec/ret@h.example/a", "has a user name, which a source must not have (write https://h.example/a)"},
		{"git+https://git.example/~me@work/a", ""},
		{"oci://registry.example:443/**", "has the default port, but sources do not contain the default port (write oci://registry.example/**)"},
		{"git+ssh://git.example:22/**", "has the default port, but sources do not contain the default port (write git+ssh://git.example/**)"},
		{"oci://registry.example:0x1/**", "has an invalid port (write a port number from 1 to 65535 after the colon)"},
		{"oci://registry.example:99999/**", "has an invalid port (write a port number from 1 to 65535 after the colon)"},
		{"oci://*/acme", "has a missing or invalid host (use a name such as registry.example, or *.registry.example for all its subdomains)"},
		{"oci://*registry.example/acme", "has a missing or invalid host (use a name such as registry.example, or *.registry.example for all its subdomains)"},
		{"oci://registry.*/acme", "has a missing or invalid host (use a name such as registry.example, or *.registry.example for all its subdomains)"},
		{"oci:///acme", "has a missing or invalid host (use a name such as registry.example, or *.registry.example for all its subdomains)"},
		{"oci://registry.example", "does not have a path after the host (write oci://registry.example/** for every source on this host)"},
		{"oci://registry.example/", "does not have a path after the host (write oci://registry.example/** for every source on this host)"},
		{"oci://registry.example/acme/", "has an empty part in its path (remove the extra slash)"},
		{"oci://registry.example/acme//x", "has an empty part in its path (remove the extra slash)"},
		{"git+https://git.example/a.git//", "has an empty part in its path (remove the extra slash)"},
		{"git+https://git.example/a//b//c", "has an empty part in its path (remove the extra slash)"},
		{"oci://registry.example/a/../b", "has . or .. in its path (use a path without . and ..)"},
		{"oci://registry.example/acme**", "has ** next to other characters (write ** alone between slashes, or * within a part)"},
		{"oci://registry.example/***", "has ** next to other characters (write ** alone between slashes, or * within a part)"},
		{"oci://registry.example/Acme/**", "has uppercase letters in its path, which OCI repositories do not allow (write the path in lower case)"},
		{"oci://registry.example/acme:1.0", `has invalid characters in its path: "acme:1.0" (use the path from the lockfile, with * and ** as wildcards)`},
		{"git+https://git.example/a?b", `has invalid characters in its path: "a?b" (use the path from the lockfile, with * and ** as wildcards)`},
		{"git+https://github.com/acme/tools", "does not end with .git, but repositories on github.com do (write git+https://github.com/acme/tools.git, or git+https://github.com/acme/tools/** for everything below this path)"},
	} {
		want := ""
		if tt.want != "" {
			want = fmt.Sprintf("2:18: %q %s\n", user.ReplaceAllString(tt.pattern, "$1…@"), tt.want)
		}
		if got := render(policy.Check("p", fmt.Appendf(nil, "version: 1\nsources: {deny: [%q]}\n", tt.pattern))); got != want {
			t.Errorf("got  %swant %s", got, want)
		}
	}
}

func TestCheckIdentities(t *testing.T) {
	const exact = "use the exact subject, or a regular expression between ^ and $"
	const unanchored = "a regular expression in subject must start with ^ and end with $; otherwise it matches parts of other names (" + exact + ")"
	for _, tt := range []struct{ issuer, subject, want string }{
		{"https://accounts.example", "me@acme.example", ""},
		{"https://ci.example:8443/oidc", "https://ci.example/acme?x=1#2", ""},
		{"https://a.b", `^https://github\.com/acme/.*$`, ""},
		{"https://a.b", `^(a|b)@acme\.example$`, ""},
		{"https://a.b", `^one$|^two$`, ""},
		{"https://a.b", `^.*@acme\.example$`, ""},

		{"http://a.b", "x", `"http://a.b" is not the https address of an issuer (use the exact address, such as https://accounts.example)`},
		{"https://A.b", "x", `"https://A.b" is not the https address of an issuer (use the exact address, such as https://accounts.example)`},
		{"https://.*", "x", `"https://.*" is not the https address of an issuer (use the exact address, such as https://accounts.example)`},
		{"https://me@a.b", "x", `"https://me@a.b" is not the https address of an issuer (use the exact address, such as https://accounts.example)`},
		{"https://", "x", `"https://" is not the https address of an issuer (use the exact address, such as https://accounts.example)`},
		{"https://a.b", "", "subject is empty or contains a space (" + exact + ")"},
		{"https://a.b", ".*@acme.example", unanchored},
		{"https://a.b", "*@acme.example", unanchored},
		{"https://a.b", `^https://github\.com/acme/`, unanchored},
		{"https://a.b", `(acme|globex)$`, unanchored},
		{"https://a.b", `^acme|globex$`, "subject is only partly anchored: ^ and $ must apply to every alternative (write ^(acme|globex)$)"},
		{"https://a.b", `^(?m)acme$`, "subject is only partly anchored: ^ and $ must apply to every alternative (write ^((?m)acme)$)"},
		{"https://a.b", `^acme\$`, "subject is only partly anchored: ^ and $ must apply to every alternative (write ^(acme\\)$)"},
		{"https://a.b", `^.*$`, "subject matches every identity (add a fixed part to the expression)"},
		{"https://a.b", `^(acme)?.*$`, "subject matches every identity (add a fixed part to the expression)"},
		{"https://a.b", `^$`, "subject matches every identity (add a fixed part to the expression)"},
		{"https://a.b", `^(acme$`, "subject is not a regular expression: error parsing regexp: missing closing ): `^(acme$` (" + exact + ")"},
	} {
		text := signed(fmt.Sprintf("any_of: [{identity: {issuer: '%s', subject: '%s'}}]", tt.issuer, tt.subject))
		got := render(policy.Check("p", []byte(text)))
		_, message, _ := strings.Cut(strings.TrimSuffix(got, "\n"), ": ")
		if message != tt.want {
			t.Errorf("%s, %s:\ngot  %s\nwant %s", tt.issuer, tt.subject, got, tt.want)
		}
	}
}

// TestCheckAll checks that all mistakes of a file are reported, in order, and that none hides another.
func TestCheckAll(t *testing.T) {
	const text = `mode: enforced
sources:
  allow: [oci://h/a**, ok, *x]
  denny: []
require:
  - signatures: {threshold: 3, any_of: [{key: {sha256: x}}, {identity: {issuer: a}}, y]}
  - z
limits: {files: -1, depth: "2"}
approve: [hooks, 1]
forbid: [hooks]
`
	const want = `1:1: the policy does not have a version (add version: 1 as the first line)
1:7: mode has the unknown value "enforced" (did you mean enforce?)
3:11: "oci://h/a**" has ** next to other characters (write ** alone between slashes, or * within a part)
3:24: "ok" is not a source (use scheme://host/path, such as oci://registry.example/acme/**, or one of local, embedded, path, oci-layout, git+file)
3:28: "x*" is not a source (use scheme://host/path, such as oci://registry.example/acme/**, or one of local, embedded, path, oci-layout, git+file)
4:3: unknown key "denny" in sources (did you mean deny?)
6:5: the key "match" is missing in an entry of require (write match: "oci://registry.example/acme/**")
6:47: the key "file" is missing in key (write key: {file: keys/acme.pub, sha256: …})
6:56: sha256 must have 64 lowercase hexadecimal digits (` + "print the digest with: sha256sum FILE" + `)
6:72: the key "subject" is missing in identity (write {issuer: https://…, subject: …})
6:81: "a" is not the https address of an issuer (use the exact address, such as https://accounts.example)
6:86: an entry of any_of must be a mapping (write {key: value}, or one indented line for each key)
7:5: an entry of require must be a mapping (write {key: value}, or one indented line for each key)
8:17: files must be a whole number of at least 1 (write the number in digits, without quotes, such as 2000)
8:28: depth must be a whole number of at least 1 (write the number in digits, without quotes, such as 2000)
9:11: hooks is in both approve and forbid (remove the capability from approve or from forbid)
9:18: an entry of approve has the unknown value "1" (use one of native-binaries, hooks, dynamic-shell, scripts, network-tools, file-write, unscoped-shell, or secrets)
`
	if got := render(policy.Check("p", []byte(strings.Replace(text, "*x", `"x*"`, 1)))); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestInvalidError(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"version: 1\nmode: x\n", `p.yaml:2:7: mode has the unknown value "x"`},
		{"version: 2\nmode: x\n", `p.yaml:1:10: unsupported format version "2"; this skillpm supports version 1, and one more problem`},
		{"version: 2\nmode: x\nfoo: bar\n", `p.yaml:1:10: unsupported format version "2"; this skillpm supports version 1, and 2 more problems`},
		{strings.Repeat(" ", 1<<20+1), "p.yaml: the file has 1048577 bytes; the limit is 1048576"},
	} {
		p, err := policy.Parse("p.yaml", []byte(tt.text))
		var invalid *policy.InvalidError
		if p != nil || !errors.As(err, &invalid) || diag.CodeOf(err) != diag.Invalid || err.Error() != tt.want {
			t.Errorf("got %v, %v, want %s", p, err, tt.want)
			continue
		}
		if diag.HintOf(err) != invalid.Problems[0].Hint {
			t.Errorf("got hint %q", diag.HintOf(err))
		}
	}
}
