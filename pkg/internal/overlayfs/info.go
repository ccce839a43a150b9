package overlayfs

import (
	"io/fs"
	"time"
)

// fileInfo describes what is overlaid.
type fileInfo struct {
	name string
	size int64
	mode fs.FileMode
	time time.Time
}

func (i fileInfo) Name() string       { return i.name }
func (i fileInfo) Size() int64        { return i.size }
func (i fileInfo) Mode() fs.FileMode  { return i.mode }
func (i fileInfo) ModTime() time.Time { return i.time }
func (i fileInfo) IsDir() bool        { return i.mode.IsDir() }
func (i fileInfo) Sys() any           { return nil }
