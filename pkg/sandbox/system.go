package sandbox

import (
	"path/filepath"
	"strings"
)

// system are the places that programs need to start and to be themselves. None of them holds a secret: of /etc it is a
// choice.
func system() []string {
	paths := []string{
		"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/run/current-system", "/gnu/store",
		"/snap", "/var/lib/snapd/snap", "/home/linuxbrew/.linuxbrew", "/var/cache/fontconfig", "/sys/devices/system/cpu",
	}
	for name := range strings.FieldsSeq(`
		passwd group hosts host.conf hostname resolv.conf nsswitch.conf gai.conf services protocols networks ethertypes
		ld.so.cache ld.so.conf ld.so.conf.d ld.so.preload ld-musl-x86_64.path ld-musl-aarch64.path
		localtime timezone locale.conf locale.alias locale.gen default/locale alternatives
		ssl/certs ssl/cert.pem ssl/openssl.cnf pki/tls/certs pki/tls/cert.pem pki/tls/openssl.cnf pki/ca-trust ca-certificates
		ca-certificates.conf crypto-policies gnutls
		os-release lsb-release debian_version alpine-release redhat-release fedora-release arch-release machine-id
		magic mime.types mailcap terminfo inputrc bash.bashrc bashrc shells
		fonts java java-8-openjdk java-11-openjdk java-17-openjdk java-21-openjdk java-25-openjdk python3 python3.9 python3.10 python3.11 python3.12 python3.13
		python3.14 perl php ImageMagick-6 ImageMagick-7 ghostscript papersize texmf R lua static nix/nix.conf
	`) {
		paths = append(paths, "/etc/"+name)
	}
	return paths
}

// programs are the places of the programs in a PATH, and of the program that is to be run, which may be anywhere: in a
// home directory, say. A directory bin brings the libraries that lie beside it, and one of a version manager's shims all
// that the manager has installed.
func (d disk) programs(path, program string) []string {
	dirs := filepath.SplitList(path)
	if real, _ := d.follow(program); real != "/" {
		dirs = append(dirs, filepath.Dir(real))
	}
	for _, name := range []string{"python3", "python", "node", "ruby", "perl", "php", "lua", "deno", "bun", "Rscript", "pwsh", "java", "go"} {
		if real := d.first(dirs, name); real != "" {
			dirs = append(dirs, filepath.Dir(real))
		}
	}
	var places []string
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) {
			continue
		}
		places = append(places, dir)
		above := filepath.Dir(filepath.Clean(dir))
		switch filepath.Base(dir) {
		case "bin", "sbin":
			for _, beside := range []string{"lib", "lib64", "libexec", "include", "conf", "pyvenv.cfg"} {
				places = append(places, filepath.Join(above, beside))
			}
		case "shims":
			places = append(places, above)
		}
	}
	return places
}

// first returns where the first program of a name in some directories leads, "" if there is none.
func (d disk) first(dirs []string, name string) string {
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) {
			continue
		}
		if real, links := d.follow(filepath.Join(dir, name)); len(links) > 0 {
			return real
		}
	}
	return ""
}
