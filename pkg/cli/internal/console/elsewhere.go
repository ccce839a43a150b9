package console

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/skillpm/skillpm/pkg/diag"
)

// otherCommands has hints for the commands of other tools: the words, separated by spaces, and the hint.
var otherCommands = [...][2]string{
	{"approvals", "list approvals with: skillpm approve --list"},
	{"advisories advisory vulnerabilities", "show advisories about locked packs with: skillpm audit"},
	{"cat", "print a file of a skill with: skillpm read SKILL FILE"},
	{"ci", "install exactly what skillpm.lock records with: skillpm install --frozen"},
	{"clean prune gc", "remove unused files with: skillpm cache gc"},
	{"create generate scaffold", "create a skill with \"skillpm new\", or a pack with \"skillpm init\""},
	{"delete", "remove installed packs with \"skillpm remove\", or yank published versions with \"skillpm yank\""},
	{"deprecate", "deprecate a pack with: skillpm yank PACK --deprecate MESSAGE"},
	{"edit", "edit a local copy with: skillpm link DIR"},
	{"env", "list settings with: skillpm config list"},
	{"exec x dlx npx use", "run a script of a skill with: skillpm run SKILL"},
	{"fetch download clone", "preview an installation with: skillpm install --dry-run"},
	{"fmt format fix", "fix findings with: skillpm validate --fix"},
	{"freeze lock", "update skillpm.lock with: skillpm install"},
	{"get require", "install a pack with: skillpm install PACK"},
	{"graph deps dependencies", "show dependencies with: skillpm tree"},
	{"hooks mcp-server setup", "connect an agent with: skillpm connect AGENT"},
	{"keygen keys", "generate a signing key with: skillpm key generate"},
	{"logs history", "show the audit log with: skillpm log"},
	{"ls-remote versions", "show the versions of a pack with: skillpm info PACK"},
	{"owner", "bind an owner to a registry with: skillpm registry bind OWNER REGISTRY"},
	{"pack build archive export", "write a pack to a file with: skillpm publish --output FILE"},
	{"publish-dir push release upload", "publish a pack with: skillpm publish"},
	{"pull", "install a pack with \"skillpm install PACK\", or try a pack with \"skillpm try PACK\""},
	{"registries source sources repo tap", "list registries with: skillpm registry list"},
	{"restore repair", "restore missing and damaged files with: skillpm verify --fix"},
	{"revoke", "remove an approval with: skillpm approve SKILL --undo"},
	{"rollback downgrade", "restore the previous versions with: git checkout skillpm.lock && skillpm install"},
	{"rules", "list validation rules with: skillpm explain"},
	{"self self-upgrade", "update skillpm with: skillpm self-update"},
	{"set", "change a setting with: skillpm config set KEY VALUE"},
	{"signatures", "show the signatures of a pack with: skillpm info PACK --signatures"},
	{"site", "generate the website of an index with: skillpm index site"},
	{"start serve server", "serve skills to agents with \"skillpm mcp\", or an index with \"skillpm index serve\""},
	{"status", "list packs with \"skillpm list\", or agents with \"skillpm agents\""},
	{"sync", "install packs with \"skillpm install\", or sync skills with \"skillpm enterprise sync\""},
	{"undeploy", "delete the directory that \"skillpm which SKILL\" prints"},
	{"undeprecate", "undo a deprecation with: skillpm yank PACK --deprecate --undo"},
	{"unbind", "remove a binding with: skillpm registry bind OWNER --undo"},
	{"uninstall un unin r purge", "remove a pack with: skillpm remove PACK"},
	{"unlink", "remove a link with: skillpm link PACK --undo"},
	{"unpublish", "yank a published version with: skillpm yank PACK@VERSION"},
	{"untrust", "stop trusting a project with: skillpm trust --undo"},
	{"unyank", "undo a yank with: skillpm yank PACK@VERSION --undo"},
	{"upgrade bump", "update packs with: skillpm update"},
	{"vet", "validate skills with: skillpm validate"},
	{"view inspect describe", "show details of a pack with: skillpm info PACK"},
	{"whoami", "log in to a registry with: skillpm login REGISTRY"},
}

// otherSubcommands has hints for subcommands that other tools, or other groups, have: the commands, separated by bars,
// and the hint.
var otherSubcommands = [...][2]string{
	{"cache clear", "remove all cached files with: skillpm cache gc --all"},
	{"config delete|config unset|config rm|config remove", "remove a setting with: skillpm config set KEY --undo"},
	{"config edit", "edit the file whose path \"skillpm config path\" prints"},
	{"config add", "change a setting with: skillpm config set KEY VALUE"},
	{"mcp install|mcp add", "connect an agent with: skillpm connect AGENT"},
	{"mcp remove", "disconnect an agent with: skillpm disconnect AGENT"},
	{"mcp status", "list agents with: skillpm agents"},
	{"policy list|policy show", "show the policies in effect with: skillpm policy explain"},
	{"registry login", "log in to a registry with: skillpm login REGISTRY"},
	{"registry logout", "log out of a registry with: skillpm logout REGISTRY"},
	{"registry unbind", "remove a binding with: skillpm registry bind OWNER --undo"},
}

// elsewhere returns the hint for a command of another tool, or "".
func elsewhere(command string) string {
	for _, row := range otherCommands {
		if slices.Contains(strings.Fields(row[0]), command) {
			return row[1]
		}
	}
	for _, row := range otherSubcommands {
		if slices.Contains(strings.Split(row[0], "|"), command) {
			return row[1]
		}
	}
	return ""
}

// elsewhereWords returns the top-level commands of other tools, without short ones, which are near to too much.
func elsewhereWords() (all []string) {
	for _, row := range otherCommands {
		for word := range strings.FieldsSeq(row[0]) {
			if len(word) > 3 {
				all = append(all, word)
			}
		}
	}
	return all
}

// otherFlags has hints for the flags of other tools: the words, the flag that the command must have, and the hint.
var otherFlags = [...][3]string{
	{"global g user system", "scope", "select the packs of the user with: --scope user"},
	{"local workspace-root", "scope", "select the packs of the project with: --scope project, which is the default"},
	{"frozen-lockfile locked immutable ci", "frozen", "install exactly what skillpm.lock records with: --frozen"},
	{"prefer-offline no-network", "offline", "avoid the network with: --offline"},
	{"host client target ide a", "agent", "select an agent with: --agent ID"},
	{"host client target ide a", "profile", "select a profile with: --profile ID"},
	{"out outfile o", "output", "write to a file with: --output FILE"},
	{"n dryrun dry simulate just-print whatif", "dry-run", "preview the changes with: --dry-run"},
	{"copy symlink method", "link-mode", "select the link mode with: --link-mode MODE"},
	{"f overwrite replace", "force", "replace existing files with: --force"},
	{"message m comment", "reason", "add a reason with: --reason TEXT"},
	{"dest destination remote repo", "to", "select the target with: --to TARGET"},
	{"dev D save-dev", "", "add development dependencies to dev-dependencies in skillpm.yaml"},
	{"save S no-save save-exact E", "", "remove the flag: the installer always records packs in skillpm.yaml"},
	{"yes y non-interactive assume-yes", "", "remove the flag: skillpm only asks if arguments are missing"},
	{"no-color nocolor", "", "disable colors with: --color never"},
	{"debug trace", "", "show more output with: -v or -vv"},
	{"silent s", "", "omit progress, notes, and summaries with: --quiet"},
	{"cwd dir prefix", "", "change the working directory with: -C DIR"},
}

// flagHint returns what a user of an unknown flag may look for, or "".
func flagHint(cmd *cobra.Command, name string) string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	for _, row := range otherFlags {
		if slices.Contains(strings.Fields(row[0]), name) && (row[1] == "" || slices.Contains(names, row[1])) {
			return row[2]
		}
	}
	if near := diag.Nearest(name, names); near != "" && len(name) > 1 {
		return "did you mean --" + near + "?"
	}
	return ""
}
