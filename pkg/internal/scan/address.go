package scan

import (
	"bytes"
	"net/netip"
	"strconv"
	"strings"
)

// An address is the source of a download.
type address struct {
	text  []byte // as in the file
	host  []byte // without user and port
	path  []byte // from the slash after the host on
	plain bool   // the scheme is http
}

// parseAddress parses an address, with or without a scheme.
func parseAddress(b []byte) address {
	a := address{text: b}
	if scheme, rest, ok := bytes.Cut(b, []byte("://")); ok {
		a.plain = isFold(scheme, "http")
		b = rest
	}
	a.host = b
	if k := bytes.IndexAny(b, "/?#"); k >= 0 {
		a.host, a.path = b[:k], b[k:]
	}
	if k := bytes.LastIndexByte(a.host, '@'); k >= 0 {
		a.host = a.host[k+1:]
	}
	if len(a.host) > 0 && a.host[0] == '[' {
		if k := bytes.IndexByte(a.host, ']'); k > 0 {
			a.host = a.host[1:k]
		}
	} else if k := bytes.LastIndexByte(a.host, ':'); k >= 0 {
		a.host = a.host[:k]
	}
	return a
}

// addresses calls yield for every address among the arguments from start to end.
func (t *text) addresses(start, end int, yield func(address) bool) {
	for i := start; i < end; {
		for i < end && (is(t.data[i], isBlank) || bytes.IndexByte([]byte("\"'`()\\,"), t.data[i]) >= 0) {
			i++
		}
		from := i
		for i < end && !is(t.data[i], isBlank) && bytes.IndexByte([]byte("\"'`()\\"), t.data[i]) < 0 {
			i++
		}
		word := bytes.TrimRight(t.data[from:i], ",;")
		if k := bytes.IndexByte(word, '='); k > 0 && word[0] == '-' {
			word = word[k+1:] // --url=https://…
		}
		if looksLikeAddress(word) && !yield(parseAddress(word)) {
			return
		}
	}
}

// looksLikeAddress reports whether an argument of curl is an address: it has a scheme, or a host with a dot before a
// slash, or it is a variable.
func looksLikeAddress(word []byte) bool {
	switch {
	case len(word) < 3 || word[0] == '-':
		return false
	case bytes.Contains(word, []byte("://")), word[0] == '$', word[0] == '%' && word[len(word)-1] == '%':
		return true
	}
	host, _, _ := bytes.Cut(word, []byte("/"))
	k := bytes.IndexByte(host, '.')
	return k > 0 && k < len(host)-1 && !bytes.HasPrefix(word, []byte("=")) && hostBytes(host) && !isFileName(host)
}

func hostBytes(host []byte) bool {
	for _, c := range host {
		if !is(c, isWordy) && bytes.IndexByte([]byte(".-:[]@"), c) < 0 {
			return false
		}
	}
	return true
}

// isFileName reports whether a supposed host is a file name: "install.sh" as the value of -o.
func isFileName(host []byte) bool {
	for _, suffix := range []string{
		".sh", ".txt", ".json", ".gz", ".zip", ".py", ".html", ".xml", ".log", ".tgz",
		".deb",
	} {
		if bytes.HasSuffix(host, []byte(suffix)) && bytes.Count(host, []byte(".")) == 1 {
			return true
		}
	}
	return false
}

// isPlaceholder reports whether an address is a placeholder: its host is in a domain that is reserved for examples and
// tests (RFC 2606, RFC 6761) or for private networks, or is text to be filled in. Words within a host name prove
// nothing: anyone can register them.
func (a address) isPlaceholder() bool {
	if bytes.ContainsAny(a.host, "<>[]{}*…") || containsAny(a.text, "...", "…", "<") || len(a.host) == 0 ||
		bytes.IndexByte(a.text, '[') >= 0 && bytes.IndexByte(a.host, ':') < 0 ||
		bytes.Contains(a.text, []byte("://$")) {
		return true
	}
	labels := strings.Split(strings.ToLower(string(a.host)), ".")
	switch last := labels[len(labels)-1]; last {
	case "example", "test", "invalid", "localhost", "local", "internal":
		return true
	case "com", "net", "org":
		return len(labels) > 1 && labels[len(labels)-2] == "example"
	}
	return false
}

// isRawIP reports whether the host is a public IP address, in any notation that programs accept. Private networks and
// those for documentation do not count.
func (a address) isRawIP() bool {
	host := string(a.host)
	if ip, err := netip.ParseAddr(host); err == nil {
		return isPublic(ip)
	}
	if !bytes.Contains(a.text, []byte("://")) {
		return false
	}
	if n, err := strconv.ParseUint(host, 0, 32); err == nil && (n >= 1<<24 || len(host) > 2 && host[:2] == "0x") {
		return isPublic(netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}))
	}
	return dottedOdd(host)
}

// dottedOdd reports whether a host is four numbers of which one is written octal or hexadecimal.
func dottedOdd(host string) bool {
	parts := strings.Split(host, ".")
	if len(parts) != 4 {
		return false
	}
	var ip [4]byte
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 0, 8)
		if err != nil {
			return false
		}
		ip[i] = byte(n)
	}
	return isPublic(netip.AddrFrom4(ip))
}

// documentation are the networks of examples.
var documentation = [...]netip.Prefix{
	netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 0, 2, 0}), 24),
	netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 51, 100, 0}), 24),
	netip.PrefixFrom(netip.AddrFrom4([4]byte{203, 0, 113, 0}), 24),
	netip.PrefixFrom(netip.AddrFrom16([16]byte{0x20, 0x01, 0x0d, 0xb8}), 32),
}

func isPublic(ip netip.Addr) bool {
	ip = ip.Unmap()
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || ip == netip.AddrFrom4([4]byte{1, 2, 3, 4}) {
		return false
	}
	for _, p := range documentation {
		if p.Contains(ip) {
			return false
		}
	}
	return true
}

// installer is a well-known address of an installation script. Its publisher is responsible for the script.
type installer struct{ host, path string }

// installers are exact hosts; the path is a prefix, and is set if others may publish on the same host.
var installers = [...]installer{
	{"sh.rustup.rs", ""},
	{"rustup.rs", ""},
	{"static.rust-lang.org", ""},
	{"astral.sh", ""},
	{"bun.sh", ""},
	{"bun.com", ""},
	{"deno.land", "/install"},
	{"deno.land", "/x/install/"},
	{"get.docker.com", ""},
	{"deb.nodesource.com", ""},
	{"rpm.nodesource.com", ""},
	{"install.python-poetry.org", ""},
	{"get.helm.sh", ""},
	{"get.k3s.io", ""},
	{"get.k0s.sh", ""},
	{"get.pnpm.io", ""},
	{"dl.yarnpkg.com", ""},
	{"fnm.vercel.app", ""},
	{"get.volta.sh", ""},
	{"get.sdkman.io", ""},
	{"mise.run", ""},
	{"mise.jdx.dev", ""},
	{"pixi.sh", ""},
	{"micro.mamba.pm", ""},
	{"just.systems", ""},
	{"starship.rs", ""},
	{"pyenv.run", ""},
	{"getcomposer.org", ""},
	{"bootstrap.pypa.io", ""},
	{"nixos.org", "/nix/"},
	{"install.determinate.systems", ""},
	{"sdk.cloud.google.com", ""},
	{"aka.ms", ""},
	{"dot.net", "/v1/"},
	{"aspire.dev", ""},
	{"packages.microsoft.com", ""},
	{"fluxcd.io", "/install"},
	{"run.linkerd.io", ""},
	{"istio.io", ""},
	{"tailscale.com", "/install"},
	{"fly.io", "/install"},
	{"get.pulumi.com", ""},
	{"sentry.io", "/get-cli"},
	{"cli.sentry.dev", ""},
	{"ollama.com", "/install"},
	{"ollama.ai", "/install"},
	{"claude.ai", "/install"},
	{"cursor.com", "/install"},
	{"get.gravitational.com", ""},
	{"foundry.paradigm.xyz", ""},
	{"release.solana.com", ""},
	{"release.anza.xyz", ""},
	{"install.duckdb.org", ""},
	{"opencode.ai", "/install"},
	{"get.jenkins.io", ""},
	{"install.meteor.com", ""},
	{"sh.brew.sh", ""},
	{"chocolatey.org", ""},
	{"community.chocolatey.org", "/install.ps1"},
	{"get.scoop.sh", ""},
	{"scoop.sh", ""},
	{"get-ghcup.haskell.org", ""},
	{"get.haskellstack.org", ""},
	{"raw.githubusercontent.com", "/Homebrew/install/"},
	{"raw.githubusercontent.com", "/nvm-sh/nvm/"},
	{"raw.githubusercontent.com", "/helm/helm/"},
	{"raw.githubusercontent.com", "/ohmyzsh/ohmyzsh/"},
	{"raw.githubusercontent.com", "/k3d-io/k3d/"},
	{"raw.githubusercontent.com", "/aquasecurity/"},
	{"raw.githubusercontent.com", "/anchore/"},
	{"raw.githubusercontent.com", "/golangci/golangci-lint/"},
	{"raw.githubusercontent.com", "/asdf-vm/asdf/"},
	{"raw.githubusercontent.com", "/python-poetry/"},
	{"raw.githubusercontent.com", "/pyenv/"},
	{"raw.githubusercontent.com", "/kubernetes-sigs/"},
	{"raw.githubusercontent.com", "/rancher/"},
	{"raw.githubusercontent.com", "/trufflesecurity/trufflehog/"},
	{"raw.githubusercontent.com", "/github/"},
	{"raw.githubusercontent.com", "/astral-sh/"},
	{"raw.githubusercontent.com", "/terraform-linters/tflint/"},
}

// isInstaller reports whether the address is a well-known installer and protected by TLS.
func (a address) isInstaller() bool {
	if a.plain {
		return false
	}
	for _, k := range installers {
		if isFold(a.host, k.host) && bytes.HasPrefix(a.path, []byte(k.path)) {
			return true
		}
	}
	return false
}

// IsInstaller reports whether an address at a host is that of a well-known installer, and protected by TLS.
func IsInstaller(text, host string) bool {
	a := parseAddress([]byte(text))
	return isFold(a.host, host) && a.isInstaller()
}
