// Package registryindex holds the registry that comes with the binary: an index in the format of pkg/pack/index, and
// the packs that it lists as an OCI image layout, a form that keeps executable bits where [embed.FS] drops them.
//
// The packs' sources are in src/<owner>/<name>/<version>, for reading. A test of this package rebuilds the index and
// the layout from them and compares; with -update it writes them.
package registryindex

import (
	"embed"
	"io/fs"
)

// FS is the index: config.json, packs, their catalog and layout.
//
//go:embed config.json catalog.ndjson.gz packs layout
var FS embed.FS

// Layout returns the OCI image layout that the index's lines point to.
func Layout() fs.FS {
	layout, _ := fs.Sub(FS, "layout") // the name is valid
	return layout
}
