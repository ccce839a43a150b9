package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/skill/agent"
)

// completePacks completes the names of packs in the embedded index; directories complete as files do.
func (a *app) completePacks(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	c, err := a.client()
	if err != nil || strings.HasPrefix(prefix, ".") || strings.HasPrefix(prefix, "/") {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return matching(c.KnownPacks(), prefix), cobra.ShellCompDirectiveNoFileComp
}

// completeInstalledPacks completes what the manifest requires.
func (a *app) completeInstalledPacks(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	c, err := a.client()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	packs, _ := c.InstalledNames(cmd.Flag("scope").Value.String())
	return matching(packs, prefix), cobra.ShellCompDirectiveNoFileComp
}

// completePacksAndSkills completes installed packs and skills, and the packs of the embedded index.
func (a *app) completePacksAndSkills(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	c, err := a.client()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	packs, skills := c.InstalledNames(cmd.Flag("scope").Value.String())
	names := append(append(skills, packs...), c.KnownPacks()...)
	return matching(names, prefix), cobra.ShellCompDirectiveNoFileComp
}

func (a *app) completeAgents(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	return matching(append(agent.IDs(), agent.AllID, agent.DetectedID), prefix), cobra.ShellCompDirectiveNoFileComp
}

// completeFlag registers a flag's completion.
func (a *app) completeFlag(cmd *cobra.Command, flag string, complete cobra.CompletionFunc) {
	_ = cmd.RegisterFlagCompletionFunc(flag, complete) // the flag exists
}

func matching(names []string, prefix string) []string {
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
