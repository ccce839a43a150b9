package pack

import "slices"

// ManifestKeys and ConfigKeys are the keys that the parsers know.
func ManifestKeys() []string { return slices.Clone(manifestKeys) }
func ConfigKeys() []string   { return slices.Clone(configKeys) }
