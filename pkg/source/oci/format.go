package oci

import (
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Formats in which packs are published.
const (
	FormatPack        = ""            // one manifest, whatever the number of skills
	FormatAgentSkills = "agentskills" // an index of one artifact a skill
	FormatFlux        = "flux"        // as flux-operator publishes skills
	FormatToolHive    = "toolhive"    // as ToolHive publishes a skill
)

// Formats returns the names of the formats besides skillpm's own, which has none.
func Formats() []string { return []string{FormatAgentSkills, FormatFlux, FormatToolHive} }

func checkFormat(name string) error {
	if name == FormatPack || slices.Contains(Formats(), name) {
		return nil
	}
	return diag.Errorf(diag.Usage, "%q is not a format that packs are published in", name).WithHint("there are %s", strings.Join(Formats(), ", "))
}
