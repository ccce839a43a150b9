//go:build !linux

package publish

// moveNew moves a directory to a place where nothing is.
func moveNew(staged, target string) error { return renameNew(staged, target) }

func replaceOld(staged, target, backup string) (kept string, err error) {
	return replaceInTwo(staged, target, backup)
}
