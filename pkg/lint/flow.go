package lint

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/scan"
	"github.com/skillpm/skillpm/pkg/internal/scan/flow"
)

// summarize records what the code of a file does.
func (u *skillCheck) summarize(f *file) {
	if !f.isText() || !isMarkdown(f.rel) && flow.LanguageOf(f.rel, f.data) == flow.Other {
		return
	}
	in := flow.File{Path: f.rel, Data: f.data}
	if isMarkdown(f.rel) {
		in.Page = u.page(f).Page
	}
	f.summary = u.l.flows.Summarize(in)
	u.flows = append(u.flows, f.summary)
}

// reportFlows reports what the code of the skill does across its files, where rules have a shape for it.
func (u *skillCheck) reportFlows() {
	facts := flow.Join(u.flows)
	for _, f := range facts.Flows {
		if k := flowKind(f); k != 0 && !(k == scan.FlowSecrets && u.isOwnKey(f)) {
			u.reportFact(k, f.To, flowDetail(f))
		}
	}
	for _, f := range facts.All {
		k := factKinds[f.Kind]
		if f.Kind == flow.ReadsKeychain && flow.IsItem(f) {
			continue // one key, and not a search
		}
		if k == 0 || f.Sure < flow.Likely || f.Kind == flow.Uploads && isLocal(f.Host) {
			continue
		}
		if k == scan.FlowUploads {
			u.reportUpload(f)
		}
		u.reportFact(k, f, f.Detail)
	}
}

// isOwnKey reports whether a flow sends the key of the skill's own service to it.
func (u *skillCheck) isOwnKey(f flow.Flow) bool {
	return f.OwnedBy(u.ownName())
}

// ownName returns the name of the skill, or that of its directory if it does not have one.
func (u *skillCheck) ownName() string {
	if u.doc != nil && u.doc.Name() != "" {
		return u.doc.Name()
	}
	return path.Base(path.Dir(u.file))
}

// reportUpload reports what is special about data that is sent: who can read it, and that the text denies it.
func (u *skillCheck) reportUpload(f flow.Fact) {
	if flow.IsDrop(f.Host) && !u.namesService(f.Host) {
		u.reportFact(scan.FlowDrops, f, f.Host)
	}
	if f.Host != "" && !isLocal(f.Host) && u.deniesUploads(f.Host) {
		u.reportFact(scan.FlowDenied, f, "SKILL.md denies it, but the script sends data to "+f.Host)
	}
}

// denials are phrases of skills that promise to keep data on the machine, in lower case.
var denials = [...]string{
	"no data leaves", "data never leaves", "no data ever leaves", "nothing leaves", "data does not leave",
	"without any network", "without network access", "no network access", "no network calls", "no network requests",
	"without external api", "no external api", "without any external", "no external calls", "no external requests",
	"never transmitted", "never uploaded", "never sent to", noTelemetry, "100% local", "fully offline",
	"completely offline", "entirely offline",
}

const noTelemetry = "no telemetry"

// telemetryWords are parts of the names of hosts that receive telemetry.
var telemetryWords = [...]string{
	"telemetry", "analytics", "stats", "metric", "track", "posthog", "segment", "amplitude", "mixpanel", "sentry",
}

// conditions are words of sentences that deny something in some cases only.
var conditions = [...]string{
	"except", "unless", "without `--", "without --", "when ", "once ", "if ", "only for", "only with", "cached",
	"default", "opt-in", "optional", "recommended",
}

// denial is what a skill promises about its data, once it is known.
type denial struct{ known, all, telemetry bool }

// deniesUploads reports whether a sentence of SKILL.md promises that data stays on the machine, in all cases and for
// the whole skill. Telemetry goes to some hosts only.
func (u *skillCheck) deniesUploads(host string) bool {
	if !u.denial.known {
		u.denial = u.readDenial()
	}
	return u.denial.all || u.denial.telemetry &&
		slices.ContainsFunc(telemetryWords[:], func(w string) bool { return strings.Contains(host, w) })
}

func (u *skillCheck) readDenial() denial {
	found := denial{known: true}
	text := strings.ToLower(string(u.src.data))
	for _, d := range denials {
		for at := 0; ; at += len(d) {
			k := strings.Index(text[at:], d)
			if k < 0 {
				break
			}
			at += k
			from, to := sentenceAround(text, at)
			sentence := text[from:to]
			if slices.ContainsFunc(conditions[:], func(c string) bool { return strings.Contains(sentence, c) }) ||
				strings.HasPrefix(strings.TrimSpace(sentence), "|") || u.aboutCommand(text[from:at]) ||
				aboutPart(text[at+len(d):to]) {
				continue
			}
			if d == noTelemetry {
				found.telemetry = true
				break
			}
			found.all = true
			return found
		}
	}
	return found
}

// sentenceAround returns where the sentence, the item of a list, or the row of a table at an offset begins and ends.
func sentenceAround(text string, at int) (from, to int) {
	to = len(text)
	for _, end := range [...]string{". ", ".\n", "\n\n", "\n- ", "\n* ", "\n|"} {
		from = max(from, strings.LastIndex(text[:at], end)+1)
		if k := strings.Index(text[at:], end); k >= 0 {
			to = min(to, at+k)
		}
	}
	return from, to
}

// aboutCommand reports whether a clause begins with the name of a command or an option, and not with that of the skill.
func (u *skillCheck) aboutCommand(clause string) bool {
	clause = clause[strings.LastIndexAny(clause, ";(")+1:]
	word, _, _ := strings.Cut(strings.TrimLeft(clause, " \n\t-*"), " ")
	name := strings.Trim(word, "*`")
	return (strings.ContainsAny(name, "-_") || strings.HasPrefix(word, "`")) && name != strings.ToLower(u.ownName())
}

// aboutPart reports whether the words after a denial restrict it to a part of the skill, as in "no network calls in
// gates".
func aboutPart(rest string) bool {
	words := strings.Fields(rest)
	if len(words) < 2 || !strings.HasPrefix(rest, " ") {
		return false
	}
	switch words[0] {
	case "in", "during", "from":
	default:
		return false
	}
	switch words[1] {
	case "this", "the", "your", "any", "all", "its", "it", "here", "use", "execution", "operation":
		return false
	}
	return true
}

// flowKind returns what a flow means for the rules, or 0.
func flowKind(f flow.Flow) scan.Kind {
	switch f.Kind {
	case flow.Exfiltrates:
		if f.Reserved && isLocal(f.To.Host) || f.Sure < flow.Likely {
			return 0 // to this machine
		}
		return scan.FlowSecrets
	case flow.RunsDownload:
		switch {
		case f.Reserved || f.Sure < flow.Likely || scan.IsInstaller(f.From.Detail, f.From.Host):
			return 0
		case f.To.Kind == flow.RunsComputed && !isShellPipe(f.To.Client):
			return scan.FlowDownload
		case f.To.Kind == flow.RunsFile && (isHiddenFile(f.To.Detail) || isUnencrypted(f.From)) && !isConfig(f.To):
			return scan.FlowDownload
		case f.To.Kind == flow.RunsFile && !isConfig(f.To):
			return scan.FlowStages
		}
	case flow.RunsDecoded:
		return scan.FlowDecoded
	case flow.RunsReceived:
		return scan.FlowReceived
	case flow.HidesAddress:
		if !isLocal(f.To.Host) {
			return scan.FlowAddress
		}
	case flow.WritesDownload:
		return scan.FlowInstalled
	}
	return 0
}

// isConfig reports whether a shell reads variables from a configuration file, of which a download is a value.
func isConfig(at flow.Fact) bool {
	if at.Client != "source" && at.Client != "." {
		return false
	}
	switch base := path.Base(at.Detail); path.Ext(base) {
	case ".env", ".conf", ".cfg", ".config":
		return true
	default:
		return base == "config"
	}
}

// isHiddenFile reports whether a file outside of the project has a name that starts with a dot: only who hides a
// program stores it there.
func isHiddenFile(name string) bool {
	return strings.HasPrefix(path.Base(name), ".") && (strings.HasPrefix(name, "/") || strings.HasPrefix(name, "~"))
}

// isUnencrypted reports whether a download is unencrypted, so that anyone on the network can replace it. Honest
// installers avoid that.
func isUnencrypted(download flow.Fact) bool { return strings.HasPrefix(download.Detail, "http://") }

// isShellPipe reports whether a program is a shell that reads from a pipe, which the scanner reports itself.
func isShellPipe(program string) bool {
	switch program {
	case "sh", "bash", "zsh", "dash", "ksh", "iex", "Invoke-Expression", "eval", "source":
		return true
	}
	return false
}

// isLocal reports whether a host is this machine or in a private network.
func isLocal(host string) bool { return host != "" && flow.IsReserved(host) && !isExample(host) }

// isExample reports whether a host is in a domain that is reserved for examples, and not in a private network.
func isExample(host string) bool {
	for _, domain := range []string{"example.com", "example.net", "example.org", "example"} {
		if host == domain || strings.HasSuffix(host, "."+domain) {
			return true
		}
	}
	return false
}

func flowDetail(f flow.Flow) string {
	from := cmp.Or(f.From.Detail, f.From.Kind.String())
	to := cmp.Or(f.To.Host, f.To.Detail, f.To.Client)
	return from + " → " + to
}

// factKinds are the facts that rules have a shape for.
var factKinds = map[flow.Kind]scan.Kind{
	flow.ReadsBrowser: scan.FlowCollects, flow.ReadsWallet: scan.FlowCollects, flow.ReadsKeychain: scan.FlowCollects,
	flow.ReadsHistory: scan.FlowCollects, flow.Persists: scan.FlowPersists,
	flow.WritesAgent: scan.FlowOtherSkill, flow.WritesSkill: scan.FlowOtherSkill, flow.Deletes: scan.FlowDestroys,
	flow.Wipes: scan.FlowDestroys, flow.EncryptsFiles: scan.FlowEncrypts, flow.DisablesGuard: scan.FlowGuard,
	flow.SuppressesLogs: scan.FlowTraces, flow.Uploads: scan.FlowUploads, flow.RewritesGit: scan.FlowRewrites,
}

// reportFact reports one of them, unless the context only shows it.
func (u *skillCheck) reportFact(k scan.Kind, at flow.Fact, detail string) {
	f := u.files[at.File]
	if f == nil || at.Start >= at.End || at.End > len(f.data) {
		return
	}
	l := u.locator(f)
	c := l.At(at.Start, at.End)
	if c.Surface == scan.InRemark {
		c.Surface = scan.InScript // the code itself was read
	}
	m, ok := u.l.scanner.Match(scan.Hit{Kind: k}, c)
	if !ok || slices.ContainsFunc(u.signals, func(s signal) bool { return s.rule == m.Rule.ID && s.file == f }) {
		return
	}
	u.reportMatch(f, scan.Hit{Kind: k, Start: at.Start, End: at.End, Detail: detail}, m)
}
