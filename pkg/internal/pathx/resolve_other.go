//go:build !windows

package pathx

// canonical returns the path: names have no second form.
func canonical(path string) string { return path }
