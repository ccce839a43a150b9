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
// Own are the resolved directories of the skill and the project. Their authors could have named anything in them,
// so programs are not searched there, and no link there is followed.
func (d *disk) programs(env []string, program string, own []string) (candidates []string) {
	home := lookup(env, "HOME")
	var dirs []string
	for _, dir := range filepath.SplitList(lookup(env, "PATH")) {
		if d.outside(dir, own) {
			dirs = append(dirs, dir)
		}
	}
	programs := []string{program}
	for _, name := range []string{
		"python3", "python", "node", "ruby", "perl", "php", "lua", "deno", "bun", "Rscript",
		"pwsh", "java", "go",
	} {
		programs = append(programs, d.first(dirs, name))
	}
	for _, path := range programs {
		if !d.outside(path, own) {
			continue
		}
		real, _ := d.follow(path)
		if isProgramDir(filepath.Dir(real)) {
			dirs = append(dirs, filepath.Dir(real))
			continue
		}
		candidates = append(candidates, real) // what is beside it may be anything
	}
	candidates = append(candidates, dirs...)
	for _, dir := range dirs {
		candidates = append(candidates, d.beside(dir, home)...)
	}
	// Virtual environments in projects link to these interpreters.
	candidates = append(candidates, filepath.Join(home, ".local", "share", "uv", "python"))
	return slices.DeleteFunc(candidates, func(path string) bool { return !d.outside(path, own) })
}

// isProgramDir reports whether a directory contains programs by its name.
func isProgramDir(dir string) bool {
	return slices.Contains([]string{"bin", "sbin", "shims"}, filepath.Base(dir))
}

// beside returns what the programs in a directory need of their installation.
func (d *disk) beside(dir, home string) (paths []string) {
	above := filepath.Dir(filepath.Clean(dir))
	if above == home {
		return nil // ~/bin is not an installation's
	}
	switch filepath.Base(dir) {
	case "bin", "sbin":
		for _, name := range []string{"lib", "lib64", "libexec", "include", "conf", "pyvenv.cfg"} {
			paths = append(paths, filepath.Join(above, name))
		}
	case "shims":
		for _, installed := range []string{"versions", "installs"} {
			if info, err := os.Lstat(filepath.Join(above, installed)); err == nil && info.IsDir() {
				return []string{above}
			}
		}
	}
	return paths
}

// first returns the path of the first program with a name in dirs, "" if there is none.
func (d *disk) first(dirs []string, name string) string {
	for _, dir := range dirs {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

// outside reports whether a path is absolute and neither leads into the directories nor through a link in them.
func (d *disk) outside(path string, dirs []string) bool {
	if !filepath.IsAbs(path) {
		return false
	}
	if _, through := d.ThroughLink(path, dirs); through {
		return false
	}
	real, _ := d.follow(path)
	return !slices.ContainsFunc(dirs, func(dir string) bool { return pathx.Contains(dir, real) })
}
