package scan

import "bytes"

// proseLiterals are words of instructions to run a program first.
var proseLiterals = []literal{
	{text: ".exe", check: checkProgram},
	{text: ".msi", check: checkProgram},
	{text: ".dmg", check: checkProgram},
	{text: ".pkg", check: checkProgram},
	{text: ".zip", check: checkProgram},
	{text: ".rar", check: checkProgram},
	{text: ".bat", check: checkProgram},
	{text: ".scr", check: checkProgram},
	{text: ".appimage", check: checkProgram},
	{text: "installer", gram: "ller", check: checkProgram},
	{text: "executable", gram: "xecu", check: checkProgram},
	{text: "installation script", gram: "n sc", check: checkProgram},
}

// nextWord returns the word after i and its end, and skips blanks and marks of emphasis or quotation; nothing if
// something else is there.
func (t *text) nextWord(i int) (word []byte, end int) {
	for k := 0; i < len(t.data) && k < 8 && (is(t.data[i], isBlank) ||
		bytes.IndexByte([]byte("*_\"'`>,"), t.data[i]) >= 0); k++ {
		i++
	}
	start := i
	for i < len(t.data) && i-start < 24 && (is(t.data[i], isLetter) || t.data[i] == '\'') {
		i++
	}
	t.scanned += i - start
	return t.data[start:i], i
}

// installerFirst finds the demand to download and run a program before anything else. One paragraph, with the lines
// before it, must have a download, a run, a reason why it must come first, and the address of a program.
func (t *text) installerFirst(start, end int) {
	if !t.Markdown || is(t.after(end), isWordy) && !hasFold(t.data[start:end], "executable") {
		return
	}
	near := t.programWindow.textAround(t, start)
	if near == nil {
		return
	}
	from := max(0, start-reach)
	near, from = paragraph(near, from, start)
	if !containsAny(near, "before ", "must ", "prereq", "requir", "first", "will not work") {
		return
	}
	must := firstOf(near, "before using", "before you can use", "before running", "before starting",
		"before proceeding", "before downloading",
		"before you start", "required for this skill", "this skill requires", "this skill will not work",
		"does not work without",
		"must be installed", "must be running", "must first", "must be downloaded", "prerequisite", "required before",
		"required:",
		"install this first", "run this first", "installer first", "run the installer", " to function",
		"to work properly")
	get := firstOf(near, "download", "copy the installation", "visit ", "grab ", "fetch the installer")
	run := firstOf(near, " run ", "execute", "launch", "double-click", "double click", "paste")
	if must < 0 || get < 0 || run < 0 {
		return
	}
	if k, n := linksProgram(near, bytes.Contains(near, []byte("terminal")) &&
		bytes.Contains(near, []byte("paste"))); k >= 0 {
		t.hit(InstallerFirst, from+k, from+k+n, "the text asks users to run a program first")
	}
}

// paragraph cuts the text around start to what belongs together: from the heading or the blank line but one before it
// to the next heading or the blank line but one after it.
func paragraph(near []byte, from, start int) ([]byte, int) {
	at := start - from
	head := near[:at]
	if k := lastBreak(head, 2); k >= 0 {
		near, from, at = near[k:], from+k, at-k
	}
	rest := near[at:]
	for n := range 2 {
		k := bytes.Index(rest, []byte("\n\n"))
		if k < 0 {
			return near, from
		}
		rest = rest[k+2:]
		if n == 1 || len(rest) > 0 && rest[0] == '#' {
			return near[:len(near)-len(rest)], from
		}
	}
	return near, from
}

// lastBreak returns the end of the blank line that is the n-th from the end, or -1.
func lastBreak(b []byte, n int) int {
	for ; n > 0; n-- {
		k := bytes.LastIndex(b, []byte("\n\n"))
		if k < 0 {
			return -1
		}
		if n == 1 {
			return k + 2
		}
		b = b[:k]
	}
	return -1
}

// firstOf returns where the first of the texts that b holds stands, or -1.
func firstOf(b []byte, texts ...string) int {
	for _, s := range texts {
		if k := bytes.Index(b, []byte(s)); k >= 0 {
			return k
		}
	}
	return -1
}

// linksProgram returns the position and length of the address of a program or an archive in a lowercase text; with
// all, of any address.
func linksProgram(b []byte, all bool) (start, n int) {
	for i := 0; ; {
		k := bytes.Index(b[i:], []byte("http"))
		if k < 0 {
			return -1, 0
		}
		i += k
		end := i
		for end < len(b) && is(b[end], isURL) {
			end++
		}
		link := bytes.TrimRight(b[i:end], ".,;:!?")
		if all && len(link) > len("https://") {
			return i, len(link)
		}
		for _, ending := range []string{
			".exe", ".msi", ".dmg", ".pkg", ".zip", ".rar", ".7z", ".bat", ".scr",
			".appimage", ".jar",
		} {
			if bytes.HasSuffix(link, []byte(ending)) {
				return i, len(link)
			}
		}
		i = max(end, i+4)
	}
}
