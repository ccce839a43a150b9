package scan

import "bytes"

// commandLiterals are programs and calls that download, and that decode text for a shell.
var commandLiterals = []literal{
	{text: "curl", check: checkDownload},
	{text: "wget", check: checkDownload},
	{text: "iwr ", check: checkFetch},
	{text: "irm ", check: checkFetch},
	{text: "invoke-webrequest", check: checkFetch},
	{text: "invoke-restmethod", check: checkFetch},
	{text: ".downloadstring(", check: checkFetch},
	{text: "base64", check: checkBase64},
	{text: "xxd -r", check: checkBase64},
	{text: "b64decode(", check: checkDecodeCall},
	{text: "atob(", check: checkDecodeCall},
	{text: "base64_decode(", check: checkDecodeCall},
	{text: "decode_base64(", check: checkDecodeCall},
	{text: "decode64(", check: checkDecodeCall},
	{text: "buffer.from(", check: checkDecodeCall},
	{text: "powershell", check: checkPowerShell},
	{text: "pwsh", check: checkPowerShell},
	{text: "frombase64string", check: checkFromBase64},
}

// download finds a curl or wget whose response is run: in a pipe, in a substitution, or as a file.
func (t *text) download(start, end int) {
	if start < t.checkedTo[checkDownload] || is(t.before(start), isWordy) || t.before(start) == '-' {
		return
	}
	if hasFold(t.data[end:], ".exe") {
		end += 4
	}
	if !is(t.after(end), isBlank) {
		return
	}
	c := t.command(start)
	t.checkedTo[checkDownload] = c.end
	from := t.downloadAddress(end, c.pipe)
	if from.text == nil || c.decodes {
		return // what is decoded on the way is found at the decoder
	}
	switch {
	case c.shell != "" || c.substitute:
		t.reportRun(start, max(c.pipe, c.shellEnd), from)
	case from.isRawIP() && t.runsDownload(c, from):
		t.hit(RawIPShell, start, c.end, "a command downloads and runs a program from "+string(from.host))
	}
}

// downloadAddress returns the first address that is neither a known installer's nor a placeholder.
func (t *text) downloadAddress(start, end int) (found address) {
	t.addresses(start, end, func(a address) bool {
		if a.isPlaceholder() || a.isInstaller() {
			return true
		}
		found = a
		return false
	})
	return found
}

// reportRun reports that the response of an address is run.
func (t *text) reportRun(start, end int, from address) {
	if from.isRawIP() {
		t.hit(RawIPShell, start, end, string(from.host))
		return
	}
	t.hit(PipeToShell, start, end, excerpt(from.host))
}

// runsDownload reports whether one of the commands after a download runs the file that it wrote.
func (t *text) runsDownload(c command, from address) bool {
	name := from.path
	if k := bytes.LastIndexByte(name, '/'); k >= 0 {
		name = name[k+1:]
	}
	if k := bytes.IndexAny(name, "?#"); k >= 0 {
		name = name[:k]
	}
	if written := t.outputFile(c); written != nil {
		name = written
	}
	if k := bytes.LastIndexAny(name, `/\`); k >= 0 {
		name = name[k+1:]
	}
	if len(name) < 1 {
		return false
	}
	rest := t.data[c.end:min(len(t.data), c.end+400)]
	if k := bytes.Index(rest, []byte("\n\n")); k >= 0 {
		rest = rest[:k]
	}
	for i := 0; ; {
		k := bytes.Index(rest[i:], name)
		if k < 0 {
			return false
		}
		if runsBefore(rest[:i+k]) {
			return true
		}
		i += k + len(name)
	}
}

// outputFile returns the file that curl -o, wget -O, -OutFile or > writes to, or nil.
func (t *text) outputFile(c command) []byte {
	words := bytes.Fields(t.data[c.start:c.end])
	for i, w := range words[:max(0, len(words)-1)] {
		if oneOf(w, "-o", "--output", "--output-document", "-outfile", ">") || len(w) > 2 && w[0] == '-' &&
			w[1] != '-' && w[len(w)-1] == 'o' {
			return bytes.Trim(words[i+1], "\"'")
		}
	}
	return nil
}

// runsBefore reports whether head ends with a program that runs the file named next.
func runsBefore(head []byte) bool {
	dir := bytes.LastIndexAny(head, " \t\n;&|`\"'")
	if bytes.HasPrefix(head[dir+1:], []byte("./")) {
		return true
	}
	words := bytes.Fields(head[:max(0, dir+1)])
	for n := 0; n < 2 && len(words) > n; n++ {
		w := words[len(words)-1-n]
		if n > 0 && (len(words[len(words)-1]) == 0 || words[len(words)-1][0] != '-' && words[len(words)-1][0] != '+') {
			break
		}
		if isShell(w) || isInterpreter(w) || oneOf(w, "chmod", "start", "start-process", "open", "msiexec", "source",
			"exec", "nohup") {
			return true
		}
		if n == 0 && len(words) > 1 && oneOf(words[len(words)-2], "chmod") {
			return true
		}
	}
	return false
}

// powerShellDownload finds PowerShell that runs what it downloads: iwr … | iex, iex (irm …).
func (t *text) powerShellDownload(start, end int) {
	if start < t.checkedTo[checkFetch] || is(t.before(start), isWordy) || t.before(start) == '-' {
		return
	}
	c := t.command(start)
	t.checkedTo[checkFetch] = c.end
	stop := max(c.pipe, end)
	from := t.downloadAddress(end, stop)
	if from.text == nil {
		return
	}
	head := toLowerASCII(t.data[t.lineStart(start, 120):start])
	run := c.shell == "iex" || c.shell == "invoke-expression" || hasWord(head, "iex") ||
		bytes.Contains(head, []byte("invoke-expression"))
	if !run {
		tail := toLowerASCII(t.data[stop:t.lineEnd(stop, 60)])
		run = bytes.Contains(tail, []byte("| iex")) || bytes.Contains(tail, []byte("|iex")) ||
			bytes.Contains(tail, []byte("| invoke-expression"))
	}
	switch {
	case run:
		t.reportRun(start, max(stop, c.shellEnd), from)
	case from.isRawIP() && t.runsDownload(c, from):
		t.hit(RawIPShell, start, c.end, "a command downloads and runs a program from "+string(from.host))
	}
}

// hasWord reports whether b holds word as a word of its own.
func hasWord(b []byte, word string) bool {
	for i := 0; ; {
		k := bytes.Index(b[i:], []byte(word))
		if k < 0 {
			return false
		}
		k += i
		i = k + len(word)
		if (k == 0 || !is(b[k-1], isWordy)) && (i == len(b) || !is(b[i], isWordy)) {
			return true
		}
	}
}
