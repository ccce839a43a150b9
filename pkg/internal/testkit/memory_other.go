//go:build !linux

package testkit

// memoryDir returns "": only Linux has a directory in memory that is always there.
func memoryDir() string { return "" }
