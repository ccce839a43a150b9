package flow

import (
	"net/netip"
	"slices"
	"strings"
)

// bareHost returns the host at the beginning of a text without a scheme, in lower case, without user and port. It is ""
// if the host is not literal.
func bareHost(rest string) string {
	if i := strings.IndexAny(rest, "/?#\\ \t\r\n\"'`"); i >= 0 {
		rest = rest[:i]
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = rest[i+1:]
	}
	if strings.HasPrefix(rest, "[") {
		host, _, _ := strings.Cut(rest[1:], "]")
		if _, err := netip.ParseAddr(host); err != nil {
			return ""
		}
		return strings.ToLower(host)
	}
	rest, _, _ = strings.Cut(rest, ":")
	rest = strings.ToLower(strings.TrimSuffix(rest, "."))
	if rest == "" || len(rest) > 253 || rest[0] == '.' {
		return ""
	}
	for i := range len(rest) {
		if c := rest[i]; !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_' ||
			c >= 0x80) {
			return ""
		}
	}
	return shorten(rest)
}

// looksLikeHost reports whether a word without a scheme is a host that a program could connect to.
func looksLikeHost(word string) bool {
	host := bareHost(word)
	if host == "" {
		return false
	}
	if host == "localhost" {
		return true
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	return last != host && len(last) >= 2 && strings.Trim(last, "abcdefghijklmnopqrstuvwxyz") == ""
}

// IsReserved reports whether a host is this machine, in a private network, or reserved for examples (RFC 2606,
// RFC 5737, RFC 6761).
func IsReserved(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified() || documentation(ip)
	}
	if !strings.Contains(host, ".") { // a name of a private network, or a placeholder
		return true
	}
	switch host[strings.LastIndexByte(host, '.')+1:] {
	case "localhost", "example", "test", "invalid", "local", "internal":
		return true
	}
	for _, name := range []string{"example.com", "example.org", "example.net"} {
		if host == name || strings.HasSuffix(host, "."+name) {
			return true
		}
	}
	return false
}

// documentation reports whether an address is reserved for examples (RFC 5737, RFC 3849).
func documentation(ip netip.Addr) bool {
	for _, p := range []string{"192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32"} {
		if netip.MustParsePrefix(p).Contains(ip) {
			return true
		}
	}
	return false
}

// dropHosts collect requests, share text and files, or tunnel to a private machine. Anyone can use them anonymously.
var dropHosts = []string{
	"webhook.site", "requestbin.com", "requestbin.net", "pipedream.net", "requestcatcher.com", "beeceptor.com",
	"hookbin.com", "postb.in", "ptsv2.com", "ptsv3.com", "mockbin.org", "webhook.cool", "typedwebhook.tools",
	"interact.sh", "oast.fun", "oast.live", "oast.me", "oast.online", "oast.pro", "oast.site", "oastify.com",
	"burpcollaborator.net", "dnslog.cn", "ceye.io", "canarytokens.com", "xss.ht",
	"ngrok.io", "ngrok.app", "ngrok.dev", "ngrok-free.app", "ngrok-free.dev", "trycloudflare.com", "serveo.net",
	"loca.lt", "localtunnel.me", "localhost.run", "lhr.life", "pagekite.me", "bore.pub", "pinggy.io", "pinggy.link",
	"pastebin.com", "paste.ee", "hastebin.com", "paste.rs", "dpaste.org", "dpaste.com", "ghostbin.com", "rentry.co",
	"rentry.org", "ix.io", "sprunge.us", "termbin.com", "glot.io", "controlc.com", "paste.sh", "p.ip.fi", "0x0.st",
	"transfer.sh", "file.io", "tmpfiles.org", "temp.sh", "bashupload.com", "oshi.at", "anonfiles.com", "gofile.io",
	"catbox.moe", "litterbox.catbox.moe", "uguu.se", "keep.sh", "filebin.net", "tmp.ninja", "pixeldrain.com", "ntfy.sh",
}

// IsDrop reports whether a host receives data anonymously: it is in the list, or a bare public address.
func IsDrop(host string) bool {
	if host == "" {
		return false
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return !IsReserved(ip.String())
	}
	return slices.ContainsFunc(dropHosts, func(d string) bool {
		return strings.HasSuffix(host, d) && (len(host) == len(d) || host[len(host)-len(d)-1] == '.')
	})
}

// IsItem reports whether a fact is that one item of a keychain is read.
func IsItem(f Fact) bool {
	return f.Kind == ReadsKeychain && (strings.HasPrefix(f.Detail, "security find-") || strings.HasPrefix(f.Detail, "secret-tool"))
}

// isAddress reports whether a host is an IP address.
func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// secretName reports whether a variable has the name of a secret.
func secretName(name string) bool {
	name = strings.ToUpper(name)
	for _, part := range []string{
		"TOKEN", "SECRET", "PASSWORD", "PASSWD", "API_KEY", "APIKEY", "ACCESS_KEY", "PRIVATE_KEY", "CREDENTIAL",
		"MNEMONIC", "CONNECTION_STRING", "DATABASE_URL", "SEED_PHRASE",
	} {
		if strings.Contains(name, part) {
			return true
		}
	}
	if word, ok := strings.CutSuffix(name, "_KEY"); ok {
		return !slices.Contains(plainKeys, word[strings.LastIndexByte(word, '_')+1:])
	}
	return strings.HasSuffix(name, "_PAT") || strings.HasSuffix(name, "_AUTH")
}

// plainKeys are words before KEY in the names of variables whose value is a name or is public.
var plainKeys = []string{
	"CONFIG", "FLAG", "PROJECT", "SORT", "PARTITION", "CACHE", "ISSUE", "PRIMARY", "FOREIGN", "PUBLIC", "OBJECT",
	"ENVIRONMENT", "VARIATION", "SEGMENT",
}

// serviceOf returns the first word of a variable's name, which most often names the service.
func serviceOf(name string) string {
	service, _, _ := strings.Cut(strings.ToLower(strings.TrimLeft(name, "_")), "_")
	return service
}

type service struct{ credential, hosts []string }

// services lists what the names of credentials and of hosts of one service contain.
var services = []service{
	{[]string{"aws", "amazon"}, []string{"amazonaws.com", "aws.amazon.com", "aws.dev"}},
	{[]string{"gcloud", "google", "gcp", "gemini", "firebase"}, []string{"googleapis.com", "google.com", "goog"}},
	{[]string{"azure", "microsoft", "msal", "graph"}, []string{
		"azure.com", "microsoft.com", "microsoftonline.com",
		"windows.net",
	}},
	{[]string{"github", "gh_", "gh/hosts", "ghcr"}, []string{"github.com", "ghcr.io", "githubusercontent.com"}},
	{[]string{"anthropic", "claude"}, []string{"anthropic.com", "claude.ai", "claude.com"}},
	{[]string{"openai", "codex"}, []string{"openai.com", "chatgpt.com"}},
	{[]string{"hf_", "hugging"}, []string{"huggingface.co", "hf.co"}},
	{[]string{"npm"}, []string{"npmjs.org", "npmjs.com"}},
	{[]string{"pypi", "twine"}, []string{"pypi.org"}},
	{[]string{"docker"}, []string{"docker.io", "docker.com"}},
	{[]string{"tg_", "telegram"}, []string{"telegram.org"}},
	{[]string{"cargo"}, []string{"crates.io"}},
	{[]string{"cf_"}, []string{"cloudflare.com"}},
}

// gateways pass the requests for models on to a provider that their path names.
var gateways = []string{"gateway.ai.cloudflare.com", "ai-gateway.vercel.sh", "gateway.helicone.ai", "api.portkey.ai"}

// throughGateway reports whether an address is that of a gateway to the provider of a credential.
func throughGateway(credential string, to Fact) bool {
	name := serviceOf(credential)
	if len(name) < 4 || !slices.Contains(gateways, to.Host) {
		return false
	}
	_, rest, _ := strings.Cut(strings.ToLower(to.Detail), to.Host)
	return slices.ContainsFunc(strings.Split(rest, "/"), func(part string) bool {
		first, _, _ := strings.Cut(part, "-")
		return first == name // also google-ai-studio
	})
}

// modelHost reports whether a host is that of a provider of models.
func modelHost(host string) bool {
	for _, h := range [...]string{
		"anthropic.com", "openai.com", "generativelanguage.googleapis.com", "openrouter.ai", "x.ai", "mistral.ai", "groq.com",
		"deepseek.com",
	} {
		if host == h || strings.HasSuffix(host, "."+h) {
			return true
		}
	}
	return false
}

// OwnedBy reports whether a flow sends one key, which is of no service that this package knows, to the service of the
// skill with a name: the skill has the name of the host, or, if that is an address, of the variable.
func (f Flow) OwnedBy(skill string) bool {
	switch f.From.Kind {
	case ReadsVariable:
		if knownService(f.From.Detail) {
			return false
		}
	case ReadsAgent:
		if f.entries == "" || slices.ContainsFunc(words(f.entries), knownService) {
			return false
		}
	case ReadsKeychain:
		if !IsItem(f.From) {
			return false
		}
	default:
		return false
	}
	if !f.Drop {
		return f.To.Host != "" && related(skill, f.To.Host)
	}
	name := serviceOf(f.From.Detail)
	return f.From.Kind == ReadsVariable && isAddress(f.To.Host) && len(name) > 3 && strings.Contains(compact(skill), name)
}

// words splits the names of entries, such as .skills.entries.acme.apiKey.
func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" .[]\"'/", r) })
}

// compact returns a text without the marks between words.
func compact(text string) string {
	text = strings.ToLower(text)
	if !strings.ContainsAny(text, "_-.") {
		return text
	}
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' {
			return -1
		}
		return r
	}, text)
}

// related reports whether a credential belongs to the service of a host: its name or path contains the name of the
// host, or one table row has both.
func related(credential, host string) bool {
	credential = strings.ToLower(credential)
	for _, s := range services {
		if slices.ContainsFunc(s.credential, func(c string) bool { return strings.Contains(credential, c) }) &&
			slices.ContainsFunc(s.hosts, func(h string) bool { return host == h || strings.HasSuffix(host, "."+h) }) {
			return true
		}
	}
	if name := serviceOf(credential); len(name) > 3 && strings.Contains(host, name) {
		return true
	}
	if domain := compact(strings.TrimPrefix(host, "api.")); len(domain) > 2 && slices.ContainsFunc(strings.FieldsFunc(credential,
		func(r rune) bool { return r < 'a' || r > 'z' }), func(word string) bool { return word == domain }) {
		return true // xai is x.ai
	}
	labels := strings.Split(host, ".")
	return slices.ContainsFunc(labels[:len(labels)-1], func(label string) bool {
		return namesService(credential, compact(label)) || slices.ContainsFunc(strings.Split(label, "-"),
			func(part string) bool { return namesService(credential, part) })
	})
}

// namesService reports whether a word of a credential's name or path is a part of a host, or begins with it.
func namesService(credential, part string) bool {
	switch part {
	case "api", "www", "app", "bot", "json", "config", "credentials", "auth", "key", "token", "agent", "agents", "home",
		"root", "main", "skills", "entries":
		return false
	}
	if len(part) < 3 {
		return false
	}
	for segment := range strings.FieldsFuncSeq(credential, func(r rune) bool { return strings.ContainsRune(" ./~[]\"'", r) }) {
		whole := compact(segment)
		for _, word := range append(strings.FieldsFunc(segment, func(r rune) bool { return r == '-' || r == '_' }), whole) {
			if word == part || len(part) > 4 && strings.HasPrefix(word, part) {
				return true
			}
		}
	}
	return false
}

// hostsGit reports whether a file has the logins of git, which a host accepts.
func hostsGit(file, host string) bool {
	return strings.HasSuffix(file, ".git-credentials") && slices.ContainsFunc([]string{"github", "gitlab", "bitbucket"},
		func(name string) bool { return related(name, host) })
}

// knownServices are further services, whose hosts contain their name.
var knownServices = []string{
	"slack", "stripe", "sendgrid", "datadog", "twilio", "gitlab", "heroku", "vercel", "netlify", "cloudflare",
	"digitalocean", "notion", "linear", "jira", "atlassian", "discord", "supabase", "sentry", "mailgun", "paypal",
	"shopify",
}

// knownService reports whether a variable has the name of a credential of a known service.
func knownService(name string) bool {
	name = strings.ToLower(name)
	begins := func(c string) bool { return strings.HasPrefix(name, c) }
	return slices.ContainsFunc(knownServices, begins) ||
		slices.ContainsFunc(services, func(s service) bool { return slices.ContainsFunc(s.credential, begins) })
}
