package scan

import (
	"bytes"
	"path"
	"strings"
)

// ScriptName reports whether a file is a script by its extension.
func ScriptName(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".sh", ".bash", ".zsh", ".py", ".rb", ".pl", ".js", ".mjs", ".cjs", ".ts", ".php", ".lua", ".r":
		return true
	}
	return false
}

// Shebang reports whether a text starts with #! and not with the #![ of Rust.
func Shebang(text []byte) bool {
	return bytes.HasPrefix(text, []byte("#!")) && !bytes.HasPrefix(text, []byte("#!["))
}
