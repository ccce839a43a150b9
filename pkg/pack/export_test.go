package pack

import "slices"

// ManifestKeys returns the keys that the parser knows.
func ManifestKeys() []string { return slices.Clone(manifestKeys) }
