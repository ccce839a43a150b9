package run

import (
	"os"
	"path/filepath"
	"strings"
)

// CallerPaths returns arguments for a command that runs in another directory than its caller's, dir: those that are
// relative paths of existing files become absolute, also behind the equals sign of an option. A word without a slash
// that is the name of a directory stays, because it may be a subcommand.
func CallerPaths(dir string, args []string) []string {
	out := make([]string, len(args))
	for i, arg := range args {
		option, value, assigned := strings.Cut(arg, "=")
		switch {
		case strings.HasPrefix(arg, "-") && assigned:
			out[i] = option + "=" + callerPath(dir, value)
		case strings.HasPrefix(arg, "-"):
			out[i] = arg
		default:
			out[i] = callerPath(dir, arg)
		}
	}
	return out
}

func callerPath(dir, text string) string {
	if text == "" || dir == "" || filepath.IsAbs(text) || strings.ContainsRune(text, 0) {
		return text
	}
	path := filepath.Join(dir, filepath.FromSlash(text))
	info, err := os.Stat(path)
	if err != nil || info.IsDir() && !strings.ContainsAny(text, `/\`) {
		return text
	}
	if strings.HasSuffix(text, "/") {
		path += string(filepath.Separator)
	}
	return path
}
