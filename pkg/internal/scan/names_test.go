package scan

import "fmt"

var problemNames = [...]string{
	HoldsNative: "HoldsNative", HoldsCompiled: "HoldsCompiled", HoldsMacros: "HoldsMacros",
	HoldsEncrypted: "HoldsEncrypted",
	HoldsText:      "HoldsText", UnsafeEntry: "UnsafeEntry", OpaqueArchive: "OpaqueArchive",
}

// String returns the name of the problem's constant.
func (p Problem) String() string {
	if p <= 0 || p >= problems {
		return fmt.Sprintf("Problem(%d)", int(p))
	}
	return problemNames[p]
}
