package scan

import "bytes"

// pasteSites host text and files that anybody can upload without an account, and mostly change or delete later. Hosts
// of gists and repositories do not count: they name an author.
var pasteSites = [...]string{
	"pastebin.com", "pastebin.pl", "pastebin.ai", "rentry.co", "rentry.org", "glot.io", "hastebin.com",
	"hastebin.skyra.pw",
	"toptal.com/developers/hastebin", "ghostbin.com", "ghostbin.co", "ghostbin.me", "0bin.net", "zerobin.net",
	"privatebin.net",
	"privatebin.info", "termbin.com", "transfer.sh", "paste.ee", "dpaste.com", "dpaste.org", "ix.io", "sprunge.us",
	"paste.rs",
	"controlc.com", "justpaste.it", "pastie.org", "paste2.org", "pastes.io", "paste.debian.net", "paste.ubuntu.com",
	"paste.opensuse.org", "paste.centos.org", "paste.mozilla.org", "paste.gg", "paste.sh", "bpa.st", "bpaste.net",
	"cl1p.net",
	"snippet.host", "textbin.net", "nekobin.com", "throwbin.io", "hatebin.com", "friendpaste.com", "codepad.org",
	"0x0.st", "file.io", "temp.sh", "oshi.at", "gofile.io", "anonfiles.com", "bashupload.com", "files.catbox.moe",
	"litterbox.catbox.moe", "tmpfiles.org", "envs.sh", "x0.at", "pastefs.com",
}

// shorteners hide where an address leads.
var shorteners = [...]string{
	"bit.ly", "tinyurl.com", "t.co", "goo.gl", "is.gd", "v.gd", "ow.ly", "buff.ly", "rebrand.ly", "cutt.ly",
	"shorturl.at",
	"tiny.cc", "t.ly", "rb.gy", "bl.ink", "s.id", "shorte.st", "adf.ly", "soo.gd", "clck.ru", "bit.do", "qr.ae",
	"lnkd.in",
	"surl.li", "u.to", "x.gd", "tiny.one", "urlz.fr", "short.io", "git.io", "urls.fr", "dub.sh",
}

func linkLiterals() []literal {
	var table []literal
	for _, site := range pasteSites {
		table = append(table, literal{text: site + "/", check: checkPaste, name: site})
	}
	for _, site := range shorteners {
		table = append(table, literal{text: site + "/", check: checkShortener, name: site})
	}
	return table
}

// siteAddress finds the address of a page at one of those sites.
func (t *text) siteAddress(l *literal, start, end int) {
	kind := PasteSite
	if l.check == checkShortener {
		kind = Shortener
	}
	from, ok := t.addressStart(start, kind)
	if !ok {
		return
	}
	to := end
	for to < len(t.data) && to-end < 200 && is(t.data[to], isURL) {
		to++
	}
	t.scanned += to - start
	path := bytes.TrimRight(t.data[end:to], ".,;:!?_*-")
	if kind == Shortener && bytes.HasPrefix(path, []byte("create")) {
		return // it makes links
	}
	if isPage(path, t.after(end+len(path)), from < start) {
		if kind == PasteSite && t.Markdown && !bytes.HasPrefix(path, []byte("raw")) && !t.asksToRun(start) {
			kind = PasteLink
		}
		t.hit(kind, from, end+len(path), l.name)
	}
}

// runWords are words of texts that ask to run something, in lower case.
var runWords = [...]string{
	"run", "paste", "execut", "install", "download", "terminal", "curl", "wget", "fetch", "script", "command", "运行",
	"执行", "安装", "下载", "粘贴", "复制", "終端", "终端",
}

// asksToRun reports whether the lines around a position ask to run, paste, or download something.
func (t *text) asksToRun(start int) bool {
	from, to := t.window(start, start, 1)
	return containsAny(toLowerASCII(t.data[from:to]), runWords[:]...)
}

// addressStart returns where the address of the host at start begins. It is no host if it is part of a longer name, and
// a paste site may have another host below it.
func (t *text) addressStart(start int, kind Kind) (int, bool) {
	switch t.before(start) {
	case '.':
		if kind == PasteSite || hasFold(t.data[max(0, start-4):start], "www.") {
			for k := 0; k < 40 && start > 0 && (is(t.data[start-1], isWordy) || t.data[start-1] == '.' ||
				t.data[start-1] == '-'); k++ {
				start--
			}
			break
		}
		return 0, false
	case '-', '@', '_', '%', '\\':
		return 0, false
	case '/':
		if !bytes.HasSuffix(t.data[:start], []byte("://")) && !bytes.HasSuffix(t.data[:start], []byte(" //")) {
			return 0, false // a part of a path
		}
	default:
		if is(t.before(start), isWordy) {
			return 0, false
		}
	}
	for _, scheme := range []string{"https://", "http://"} {
		if bytes.HasSuffix(t.data[:start], []byte(scheme)) {
			return start - len(scheme), true
		}
	}
	return start, true
}

// isPage reports whether the path of an address belongs to an upload, and not to a page of the site itself or to a
// placeholder.
func isPage(path []byte, next byte, scheme bool) bool {
	first, _, _ := bytes.Cut(path, []byte("/"))
	if k := bytes.IndexAny(first, "?#"); k >= 0 {
		first = first[:k]
	}
	switch {
	case len(path) < 3 || !is(path[0], isWordy) && path[0] != '?' || bytes.IndexByte([]byte("<{[$*(|\\"), next) >= 0:
		return false
	case containsAny(path, "...", "xxx", "XXX", "your", "example", "YOUR", "$"):
		return false
	case isPicture(path):
		return false
	case len(first) > 4 && isFold(first[:4], "api_"), oneOf(first, "search", "edit", "u", "archive"):
		return false
	case oneOf(first, "api", "docs", "doc_api", "about", "faq", "help", "terms", "privacy", "pricing", "tools", "blog",
		"developers", "features"):
		return false
	case len(first) == len(path) && oneOf(first, "login", "signup", "contact", "home", "trending",
		"languages", "new", "paste", "etc", "and"):
		return false
	case !scheme && bytes.IndexByte(first, '.') >= 0 && len(first) == len(path):
		return false // "pastebin.com/hastebin.com" is a list
	}
	return true
}

// isPicture reports whether a path names a picture or a video.
func isPicture(path []byte) bool {
	for _, ending := range []string{".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".avif", ".mp4", ".webm", ".mov"} {
		if len(path) > len(ending) && isFold(path[len(path)-len(ending):], ending) {
			return true
		}
	}
	return false
}
