package doctor

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// writable reports whether this user may create files in a directory, by trying to.
func writable(dir string) bool {
	f, err := os.CreateTemp(dir, ".skillpm-")
	if err != nil {
		return false
	}
	f.Close()
	return os.Remove(f.Name()) == nil
}

// freeSpace returns how many bytes this user may still write on the volume of a directory.
func freeSpace(dir string) (free uint64, known bool) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, false
	}
	return free, windows.GetDiskFreeSpaceEx(name, &free, nil, nil) == nil
}

// sameDevice reports whether two files are on one volume.
func sameDevice(a, b string) bool {
	return strings.EqualFold(filepath.VolumeName(a), filepath.VolumeName(b))
}
