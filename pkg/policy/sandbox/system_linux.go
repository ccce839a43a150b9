package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/pathx"
)

// system returns the paths that all programs need. None contains secrets: of /etc only some files are listed.
func system() []string {
	paths := []string{
		"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/run/current-system",
		"/gnu/store",
		"/snap", "/var/lib/snapd/snap", "/home/linuxbrew/.linuxbrew", "/var/cache/fontconfig",
		"/sys/devices/system/cpu",
	}
	for name := range strings.FieldsSeq(`
		passwd group hosts host.conf hostname resolv.conf nsswitch.conf gai.conf services protocols networks ethertypes
		ld.so.cache ld.so.conf ld.so.conf.d ld.so.preload ld-musl-x86_64.path ld-musl-aarch64.path
		localtime timezone locale.conf locale.alias locale.gen default/locale alternatives
		ssl/certs ssl/cert.pem ssl/openssl.cnf pki/tls/certs pki/tls/cert.pem
		pki/tls/openssl.cnf pki/ca-trust ca-certificates
		ca-certificates.conf crypto-policies gnutls
		os-release lsb-release debian_version alpine-release redhat-release fedora-release arch-release machine-id
		magic mime.types mailcap terminfo inputrc bash.bashrc bashrc shells
		fonts java java-8-openjdk java-11-openjdk java-17-openjdk java-21-openjdk java-25-openjdk
		python3 python3.9 python3.10 python3.11 python3.12 python3.13
		python3.14 perl php ImageMagick-6 ImageMagick-7 ghostscript papersize texmf R lua static nix/nix.conf
	`) {
		paths = append(paths, "/etc/"+name)
	}
	return paths
}

// programs returns the directories of the programs in PATH, and of the program to run, which may be anywhere, for
// example in a home directory. With a bin directory come the libraries beside it, and with a version manager's shims
// its installations.
//
// A command may have created anything in a writable directory. A link there is only followed to a directory of
// programs.
func (d *disk) programs(path, program string, writable []string) []string {
	dirs := filepath.SplitList(path)
	if real, _ := d.follow(program); real != "/" && d.trusted(program, real, writable) {
		dirs = append(dirs, filepath.Dir(real))
	}
	for _, name := range []string{
		"python3", "python", "node", "ruby", "perl", "php", "lua", "deno", "bun", "Rscript",
		"pwsh", "java", "go",
	} {
		if real := d.first(dirs, name, writable); real != "" {
			dirs = append(dirs, filepath.Dir(real))
		}
	}
	var candidates []string
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) || d.below(dir, writable) {
			continue // writable directories are visible anyway
		}
		candidates = append(candidates, dir)
		above := filepath.Dir(filepath.Clean(dir))
		switch filepath.Base(dir) {
		case "bin", "sbin":
			for _, beside := range []string{"lib", "lib64", "libexec", "include", "conf", "pyvenv.cfg"} {
				candidates = append(candidates, filepath.Join(above, beside))
			}
		case "shims":
			candidates = append(candidates, above)
		}
	}
	return candidates
}

// first returns the resolved path of the first program with a name in dirs, "" if there is none.
func (d *disk) first(dirs []string, name string, writable []string) string {
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) {
			continue
		}
		path := filepath.Join(dir, name)
		if real, links := d.follow(path); len(links) > 0 {
			if !d.trusted(path, real, writable) {
				return ""
			}
			return real
		}
	}
	return ""
}

// below reports whether a path, as written or resolved, is in a writable directory.
func (d *disk) below(path string, writable []string) bool {
	parent, _ := d.follow(filepath.Dir(path))
	real := filepath.Join(parent, filepath.Base(path))
	return slices.ContainsFunc(writable, func(dir string) bool {
		return pathx.Contains(dir, path) ||
			pathx.Contains(dir, real)
	})
}

// trusted reports whether the directory that a program's path resolves to may become visible. For a path in a writable
// directory, it must be named bin and contain an executable of the same name, as in a virtual environment.
func (d *disk) trusted(path, real string, writable []string) bool {
	if !d.below(path, writable) {
		return true
	}
	info, err := os.Stat(real)
	stem := strings.TrimRight(filepath.Base(path), "0123456789.")
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 &&
		filepath.Base(filepath.Dir(real)) == "bin" && strings.HasPrefix(filepath.Base(real), stem)
}
