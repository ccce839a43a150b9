//go:build !unix

package connect

import "io/fs"

// others is not supported here: file owners are unknown.
func others(fs.FileInfo, int) string { return "" }
