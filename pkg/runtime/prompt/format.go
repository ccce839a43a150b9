package prompt

import (
	_ "embed"
	"maps"
	"slices"

	"github.com/skillpm/skillpm/pkg/internal/yamlx"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

//go:embed formats.yaml
var formats []byte

// compactFormat is the name of the compact layout that profiles without their own use.
const compactFormat = "compact"

// commonLayouts returns the layouts that every profile has in addition to its own.
func commonLayouts() (map[string]profile.Layout, error) {
	var out map[string]profile.Layout
	err := yamlx.Unmarshal(formats, &out)
	return out, err
}

// Formats returns the sorted names of the formats that a listing can have in addition to the profile's own.
func Formats(p *profile.Profile) []string {
	common, _ := commonLayouts() // the embedded file is valid
	delete(common, compactFormat)
	maps.Copy(common, p.Stage1.Formats)
	return slices.Sorted(maps.Keys(common))
}
