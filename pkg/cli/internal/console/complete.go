package console

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/skill/agent"
)

// CompletePacks completes packs of the embedded index, and directories.
func (a *App) CompletePacks(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	c, err := a.Client()
	if err != nil || strings.HasPrefix(prefix, ".") || strings.HasPrefix(prefix, "/") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return Matching(c.KnownPacks(), prefix), cobra.ShellCompDirectiveNoFileComp
}

// CompleteInstalledPacks completes the packs in the manifest.
func (a *App) CompleteInstalledPacks(cmd *cobra.Command, _ []string, prefix string) ([]string,
	cobra.ShellCompDirective,
) {
	c, err := a.Client()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	packs, _ := c.InstalledNames(cmd.Flag("scope").Value.String())
	return Matching(packs, prefix), cobra.ShellCompDirectiveNoFileComp
}

// CompletePacksAndSkills completes installed packs and skills, and packs of the embedded index.
func (a *App) CompletePacksAndSkills(cmd *cobra.Command, _ []string, prefix string) ([]string,
	cobra.ShellCompDirective,
) {
	c, err := a.Client()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	packs, skills := c.InstalledNames(cmd.Flag("scope").Value.String())
	names := append(append(skills, packs...), c.KnownPacks()...)
	return Matching(names, prefix), cobra.ShellCompDirectiveNoFileComp
}

// CompleteAgents completes agent ids.
func (a *App) CompleteAgents(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	return Matching(append(agent.IDs(), agent.AllID, agent.DetectedID), prefix), cobra.ShellCompDirectiveNoFileComp
}

// CompleteFlag registers a flag's completion.
func (a *App) CompleteFlag(cmd *cobra.Command, flag string, complete cobra.CompletionFunc) {
	_ = cmd.RegisterFlagCompletionFunc(flag, complete) // cannot fail: the flag exists
}

// Matching returns the completions with a prefix.
func Matching(names []string, prefix string) []string {
	seen := map[string]bool{}
	var out []string
	for _, n := range names {
		if strings.HasPrefix(n, prefix) && !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	return out
}

// FirstOf returns the first argument, or "".
func FirstOf(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// CompleteDirectory completes one directory.
func CompleteDirectory(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// CompleteLocked completes all installed packs and skills.
func (a *App) CompleteLocked(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	c, err := a.Client()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	packs, skills := c.LockedNames(cmd.Flag("scope").Value.String())
	return Matching(append(skills, packs...), prefix), cobra.ShellCompDirectiveNoFileComp
}
