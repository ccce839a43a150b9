package policy

import (
	"embed"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

//go:embed preset/*.yaml
var presetFiles embed.FS

// Presets returns the names of the policies that come with skillpm, for [Preset].
func Presets() []string {
	entries, _ := presetFiles.ReadDir("preset") // embedded: it exists
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = strings.TrimSuffix(entry.Name(), ".yaml")
	}
	slices.Sort(names)
	return names
}

// Preset returns the text of a policy that comes with skillpm. Its comments explain each rule.
func Preset(name string) (string, error) {
	if !slices.Contains(Presets(), name) {
		return "", diag.Errorf(diag.Usage, "unknown preset %q", name).WithHint("use %s", textx.OneOf(Presets()))
	}
	data, err := presetFiles.ReadFile("preset/" + name + ".yaml")
	return string(data), err
}
