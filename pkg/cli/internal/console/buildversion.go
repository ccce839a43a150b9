package console

import "runtime/debug"

// BuildVersion returns the release's version, or the module's version for a build from source.
func BuildVersion(release string) string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
