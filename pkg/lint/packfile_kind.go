package lint

// packKind says which of the files that describe packs a file is.
type packKind int

// packFileKind tells a file that describes packs by its name.
func packFileKind(string) (packKind, bool) { return 0, false }
