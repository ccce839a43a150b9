package pathx

import (
	"path"
	"runtime"
	"strings"
)

// Contains reports whether path is dir or below it. It is lexical: see the package comment.
//
// Both are absolute, or both are relative to the same directory; otherwise the answer is false. An empty string is not
// a path, and neither contains anything nor is contained.
func Contains(dir, path string) bool {
	_, ok := system().rel(dir, path)
	return ok
}

// ContainsStrict reports whether path is below dir, and not dir itself. It is lexical, as [Contains].
func ContainsStrict(dir, path string) bool {
	rel, ok := system().rel(dir, path)
	return ok && rel != "."
}

// ContainsFold is [Contains] as on a file system that ignores case, whatever the system. It is for refusing: it also
// refuses what would be another file where case counts.
func ContainsFold(dir, path string) bool {
	r := system()
	r.fold = true
	_, ok := r.rel(dir, path)
	return ok
}

// Rel returns path relative to dir, with the system's separators and "." for dir itself; ok is false if dir does not
// contain path, so that rel never begins with "..". It is lexical, as [Contains].
func Rel(dir, path string) (rel string, ok bool) {
	return system().rel(dir, path)
}

// RelSlash is [Rel] for slash-separated names that are relative to one directory, as in an fs.FS or a repository: the
// same on every system, and each byte counts.
func RelSlash(dir, name string) (rel string, ok bool) {
	return rules{}.rel(dir, name)
}

// Escapes reports whether a slash-separated name leads out of the directory that it is relative to: it is absolute, or
// has more ".." than directories before them. It is lexical, and the same on every system: it is meant for names in
// manifests, archives, and fs.FS. What backslashes and drive letters mean is up to the caller.
func Escapes(name string) bool {
	name = path.Clean(name)
	return leavesParent(name) || strings.HasPrefix(name, "/")
}

// leavesParent reports whether a clean relative path, with slashes, begins with "..".
func leavesParent(clean string) bool { return clean == ".." || strings.HasPrefix(clean, "../") }

// rules are what paths of an operating system mean.
type rules struct {
	windows bool // paths have volumes, and backslashes separate, too
	fold    bool // names that differ only in case are the same
}

// system returns the rules of this operating system.
func system() rules {
	windows := runtime.GOOS == "windows"
	return rules{windows: windows, fold: windows || runtime.GOOS == "darwin"}
}

// rel is [Rel] by these rules.
func (r rules) rel(dir, name string) (rel string, ok bool) {
	if dir == "" || name == "" {
		return "", false
	}
	root, dir, ok := r.split(dir)
	nameRoot, name, nameOK := r.split(name)
	if !ok || !nameOK || root != nameRoot {
		return "", false
	}
	for dir != "" {
		var want, have string
		want, dir, _ = strings.Cut(dir, "/")
		have, name, _ = strings.Cut(name, "/")
		if want != have && !(r.fold && strings.EqualFold(want, have)) {
			return "", false
		}
	}
	switch {
	case leavesParent(name):
		return "", false
	case name == "":
		return ".", true
	case r.windows:
		return strings.ReplaceAll(name, "/", `\`), true
	}
	return name, true
}

// split returns the root that a path begins with ("" for a relative path) and its clean rest, with slashes and without
// the one in front ("" for the root itself, or the directory that a relative path is relative to). Different ways to
// write a volume give the same root. ok is false if the rest depends on a directory that belongs to the process, as
// C:dir.
func (r rules) split(name string) (root, rest string, ok bool) {
	if r.windows {
		if root, name, ok = splitVolume(strings.ReplaceAll(name, `\`, "/")); !ok {
			return "", "", false
		}
	}
	if strings.HasPrefix(name, "/") {
		return root + "/", strings.TrimPrefix(path.Clean(name), "/"), true
	}
	if rest = path.Clean(name); rest == "." {
		rest = ""
	}
	return root, rest, true
}

// splitVolume splits a Windows path with slashes after its volume, which it returns in lower case: "c:",
// "//host/share", or "//?/volume{…}". The long forms //?/C:/dir and //?/UNC/host/share mean the same volumes as the
// usual ones.
func splitVolume(name string) (volume, rest string, ok bool) {
	device := false
	for _, prefix := range []string{"//?/", "//./", "/??/"} {
		if strings.HasPrefix(name, prefix) {
			device, name = true, name[len(prefix):]
			break
		}
	}
	switch {
	case device && len(name) >= 4 && strings.EqualFold(name[:4], "unc/"):
		return splitShare(name[4:])
	case strings.HasPrefix(name, "//") && !device:
		return splitShare(name[2:])
	case len(name) >= 2 && name[1] == ':' && isLetter(name[0]):
		if len(name) > 2 && name[2] != '/' || len(name) == 2 && !device {
			return "", "", false // relative to what the process works in on that drive
		}
		return strings.ToLower(name[:2]), "/" + strings.TrimPrefix(name[2:], "/"), true
	case device:
		name, rest, _ = strings.Cut(name, "/")
		return "//?/" + strings.ToLower(name), "/" + rest, name != ""
	}
	return "", name, true
}

// splitShare splits host/share/rest.
func splitShare(name string) (volume, rest string, ok bool) {
	host, name, _ := strings.Cut(name, "/")
	share, rest, _ := strings.Cut(name, "/")
	return "//" + strings.ToLower(host+"/"+share), "/" + rest, host != "" && share != ""
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
