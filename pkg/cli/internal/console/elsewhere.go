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
	{"approvals", "use: skillpm approve --list"},
	{"audit advisories", "use: skillpm log"},
	{"cat", "use: skillpm read SKILL FILE"},
	{"ci", "use: skillpm install --frozen"},
	{"clean prune gc", "use: skillpm cache gc"},
	{"create generate scaffold", "use \"skillpm new\" for a skill, or \"skillpm init\" for a pack"},
	{"delete", "use \"skillpm remove\" for installed packs, or \"skillpm yank\" for published versions"},
	{"deprecate", "use: skillpm yank PACK --deprecate MESSAGE"},
	{"edit", "edit a local copy with: skillpm link DIR"},
	{"env", "use: skillpm config list"},
	{"exec x dlx npx use", "use: skillpm run SKILL"},
	{"fetch download clone", "use: skillpm install --dry-run, or skillpm try PACK"},
	{"fmt format fix", "use: skillpm validate --fix"},
	{"freeze lock", "use: skillpm install"},
	{"get require", "use: skillpm install"},
	{"graph deps dependencies", "use: skillpm tree"},
	{"hooks mcp-server setup", "use: skillpm connect AGENT"},
	{"keygen keys", "use: skillpm key generate"},
	{"logs history", "use: skillpm log"},
	{"ls-remote versions", "use: skillpm info PACK"},
	{"owner", "owners are bound to registries: skillpm registry bind OWNER REGISTRY"},
	{"pack build archive export", "use: skillpm publish --output FILE"},
	{"publish-dir push release upload", "use: skillpm publish"},
	{"pull", "use: skillpm install PACK, or skillpm try PACK to look at it"},
	{"registries source sources repo tap", "use: skillpm registry list"},
	{"restore repair", "use: skillpm verify --fix"},
	{"revoke", "use: skillpm approve SKILL --undo"},
	{"rollback downgrade", "use: git checkout skillpm.lock && skillpm install"},
	{"rules", "use: skillpm explain"},
	{"self self-upgrade", "use: skillpm self-update"},
	{"set", "use: skillpm config set KEY VALUE"},
	{"signatures", "use: skillpm info PACK --signatures"},
	{"site", "use: skillpm index site"},
	{"start serve server", "use \"skillpm mcp\" for agents, or \"skillpm index serve\" for an index"},
	{"status", "use: skillpm list, or skillpm agents"},
	{"sync", "use \"skillpm install\", or \"skillpm enterprise sync\" for the enterprise layer"},
	{"undeploy", "delete the copy: skillpm which SKILL prints its directory"},
	{"undeprecate", "use: skillpm yank PACK --deprecate --undo"},
	{"unbind", "use: skillpm registry bind OWNER --undo"},
	{"uninstall un unin r purge", "use: skillpm remove"},
	{"unlink", "use: skillpm link PACK --undo"},
	{"unpublish", "published versions stay; withdraw one with: skillpm yank"},
	{"untrust", "use: skillpm trust --undo"},
	{"unyank", "use: skillpm yank PACK@VERSION --undo"},
	{"upgrade bump", "use: skillpm update"},
	{"vet", "use: skillpm validate"},
	{"view inspect describe", "use: skillpm info"},
	{"whoami", "logins are stored for each registry: skillpm login REGISTRY"},
}

// otherSubcommands has hints for subcommands that other tools, or other groups, have: the commands, separated by bars,
// and the hint.
var otherSubcommands = [...][2]string{
	{"approve list", "use: skillpm approve --list"},
	{"cache clear", "use: skillpm cache gc --all"},
	{"config delete|config unset|config rm|config remove", "use: skillpm config set KEY --undo"},
	{"config edit", "open the file in your editor: skillpm config path prints its path"},
	{"config add", "use: skillpm config set KEY VALUE"},
	{"hook install|hook add|mcp install|mcp add", "use: skillpm connect AGENT"},
	{"hook remove|mcp remove", "use: skillpm disconnect AGENT"},
	{"hook status|mcp status", "use: skillpm agents"},
	{"policy list|policy show", "use: skillpm policy explain"},
	{"registry login", "use: skillpm login REGISTRY"},
	{"registry logout", "use: skillpm logout REGISTRY"},
	{"registry unbind", "use: skillpm registry bind OWNER --undo"},
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
	{"global g user system", "scope", "use: --scope user"},
	{"local workspace-root", "scope", "use: --scope project, which is the default"},
	{"frozen-lockfile locked immutable ci", "frozen", "use: --frozen"},
	{"prefer-offline no-network", "offline", "use: --offline"},
	{"host client target ide a", "agent", "use: --agent ID"},
	{"host client target ide a", "profile", "use: --profile ID"},
	{"out outfile o", "output", "use: --output FILE"},
	{"n dryrun dry simulate just-print whatif", "dry-run", "use: --dry-run"},
	{"copy symlink method", "link-mode", "use: --link-mode symlink, copy, or hardlink"},
	{"f overwrite replace", "force", "use: --force"},
	{"message m comment", "reason", "use: --reason TEXT"},
	{"dest destination remote repo", "to", "use: --to TARGET"},
	{"dev D save-dev", "", "development dependencies are in dev-dependencies of skillpm.yaml"},
	{"save S no-save save-exact E", "", "skillpm.yaml is always updated; \"skillpm try PACK\" installs nothing"},
	{"yes y non-interactive assume-yes", "", "skillpm asks only on a terminal, and only if arguments are missing"},
	{"no-color nocolor", "", "use: --color never"},
	{"debug trace", "", "use: -v, or -vv for more"},
	{"silent s", "", "use: --quiet"},
	{"cwd dir prefix", "", "use: -C DIR"},
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
