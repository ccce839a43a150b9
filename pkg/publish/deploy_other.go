//go:build !linux

package publish

// moveNew renames a directory and fails if target exists.
func moveNew(staged, target string) error { return renameNew(staged, target) }

func replaceOld(staged, target, backup string) (backedUp string, err error) {
	return replaceInTwo(staged, target, backup)
}
