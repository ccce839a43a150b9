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

// compactFormat is the layout for any number of skills, of profiles that have none of their own.
const compactFormat = "compact"

// commonLayouts returns the layouts that every profile has besides its own.
func commonLayouts() (map[string]profile.Layout, error) {
	var out map[string]profile.Layout
	err := yamlx.Unmarshal(formats, &out)
	return out, err
}

// Formats returns the names of the formats that a listing can have besides the profile's own, in order.
func Formats(p *profile.Profile) []string {
	common, _ := commonLayouts() // what is embedded can be read
	delete(common, compactFormat)
	maps.Copy(common, p.Stage1.Formats)
	return slices.Sorted(maps.Keys(common))
}
