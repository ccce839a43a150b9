package scope

import "path/filepath"

// Resolved returns where a path leads, as far as it exists: links are followed, and on Windows a directory has its long name.
func Resolved(path string) string {
	rest := ""
	for at := path; ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if filepath.Dir(at) == at {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}
