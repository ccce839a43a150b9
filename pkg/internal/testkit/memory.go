// Package testkit helps tests. Its subdirectories are servers and repositories that tests use.
package testkit

import "os"

// UseMemory has the tests of this process keep their temporary files in memory if the machine offers a file system for
// that. Tests create and delete hundreds of thousands of small files, which takes several times as long on a disk. A
// TMPDIR that is set stays as it is. [testing.M] calls it before any test runs:
//
//	func TestMain(m *testing.M) {
//		testkit.UseMemory()
//		m.Run()
//	}
func UseMemory() {
	set := os.Getenv("TMPDIR") != "" //nolint:forbidigo // tests, whose temporary files the testing package places
	if dir := memoryDir(); dir != "" && !set {
		_ = os.Setenv("TMPDIR", dir) // if that fails, they are on the disk
	}
}
