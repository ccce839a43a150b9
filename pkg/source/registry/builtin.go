package registry

import "github.com/skillpm/skillpm/pkg/pack"

// OfficialOwner is the owner of the packs that are part of skillpm. They come with the program and are always
// available.
const OfficialOwner = "skillpm"

// IsBuiltIn reports whether a name, or the source in a lockfile, is a registry that needs no configuration.
func IsBuiltIn(name string) bool { return name == Local || name == Embedded }

// IsDemo reports whether a pack is one of the demo packs: those that come with the program, so that its commands can be
// tried, and that have the names of invented owners.
func IsDemo(id pack.ID, lockedSource string) bool {
	return lockedSource == Embedded && id.Owner != OfficialOwner
}
