//go:build !linux

package author

import "os"

// placeNew moves a directory to a place where nothing is.
func placeNew(staged, target string) error { return os.Rename(staged, target) }

func replaceOld(staged, target, backup string) error { return replaceInTwo(staged, target, backup) }
