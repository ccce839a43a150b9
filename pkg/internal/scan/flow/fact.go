package flow

// Kind is what a fact is about.
type Kind uint8

// The kinds of facts. Detail is what the comment states.
const (
	ReadsKey         Kind = iota + 1 // a file with private keys or tokens: its path
	ReadsBrowser                     // passwords, cookies, or history of a browser: its path
	ReadsWallet                      // a wallet of a cryptocurrency: its path
	ReadsKeychain                    // the keychain of the system: the path or program
	ReadsDotenv                      // an .env file: its path
	ReadsHistory                     // the history of a shell: its path
	ReadsAgent                       // transcripts, memory, settings, or tokens of an agent: the path
	ReadsSkill                       // files of other skills: the path
	ReadsVariable                    // an environment variable: its name
	ReadsEnvironment                 // all environment variables: empty
	ReadsHome                        // files in the home directory that a pattern or walk selects: the path
	ReadsClipboard                   // the clipboard: the program or function
	ReadsFile                        // another file outside the skill: its path, empty if it is unknown

	Downloads // data from a host: the address, shortened
	Uploads   // data to a host: the address, shortened
	Connects  // a raw socket: the address
	LooksUp   // a name that is computed from data: the name
	Mails     // mail: the address of the server

	Runs         // a program: its name
	RunsFile     // a script or program in a file: its path
	RunsComputed // code that is computed: the function or program that runs it
	Decodes      // encoded data: the encoding

	Writes      // a file outside the skill and the project: its path
	WritesFile  // another file: its path, empty if it is unknown
	Persists    // something that starts again: what, such as "crontab" or a path
	WritesAgent // instructions, memory, or settings of an agent: the path
	WritesSkill // the files of another skill: the path

	Deletes        // the home directory, the root, or an unchecked variable: what
	Wipes          // a disk or device: its path
	RewritesGit    // published git history: the command
	DropsDatabase  // databases or tables: the statement
	EncryptsFiles  // many files, which are replaced by encrypted ones: the function
	Elevates       // root rights: the program
	Loosens        // permissions of files for everyone, or setuid: the mode
	Unverified     // connections without verification of certificates: the flag
	DisablesGuard  // a firewall, virus scanner, or another protection of the system: what
	SkipsApproval  // permission prompts of an agent: the flag
	SuppressesLogs // history and logs: what
)

// kindNames are the names of the kinds, for messages and documents.
var kindNames = [...]string{
	ReadsKey: "reads-key", ReadsBrowser: "reads-browser", ReadsWallet: "reads-wallet", ReadsKeychain: "reads-keychain",
	ReadsDotenv: "reads-dotenv", ReadsHistory: "reads-history", ReadsAgent: "reads-agent", ReadsSkill: "reads-skill",
	ReadsVariable: "reads-variable", ReadsEnvironment: "reads-environment", ReadsHome: "reads-home",
	ReadsClipboard: "reads-clipboard", ReadsFile: "reads-file", Downloads: "downloads", Uploads: "uploads",
	Connects: "connects", LooksUp: "looks-up", Mails: "mails", Runs: "runs", RunsFile: "runs-file",
	RunsComputed: "runs-computed", Decodes: "decodes", Writes: "writes", WritesFile: "writes-file",
	Persists: "persists", WritesAgent: "writes-agent", WritesSkill: "writes-skill", Deletes: "deletes", Wipes: "wipes",
	RewritesGit: "rewrites-git", DropsDatabase: "drops-database", EncryptsFiles: "encrypts-files",
	Elevates: "elevates", Loosens: "loosens", Unverified: "unverified", DisablesGuard: "disables-guard",
	SkipsApproval: "skips-approval", SuppressesLogs: "suppresses-logs",
}

// String returns the name of a kind, such as "reads-key".
func (k Kind) String() string {
	if int(k) < len(kindNames) && kindNames[k] != "" {
		return kindNames[k]
	}
	return "unknown"
}

// Sure is how certain a fact or flow is.
type Sure uint8

// The degrees of certainty.
const (
	Possible Sure = iota + 1 // a part is unknown, or a value passes through a function that has other callers
	Likely                   // all parts are known, but not the condition under which the code runs
	Certain                  // literal
)

// Fact is one thing that code does.
type Fact struct {
	Kind   Kind
	Detail string // see the kinds; at most 200 bytes, without control characters
	Host   string // of network facts, in lower case without port; "" if it is computed
	Client string // the program or function, such as "curl" or "requests.post"
	File   string // path in the skill
	Line   int    // from 1
	Start  int    // offset in the file of the first byte of the statement
	End    int    // offset after its first line, or after its last byte if that is before
	Shown  bool   // in a code block or code span of Markdown
	Inline bool   // in a code span, which prose may also quote to warn
	Sure   Sure
}

// Secret reports whether the fact reads keys, tokens, passwords, or other private data.
func (f Fact) Secret() bool {
	switch f.Kind {
	case ReadsKey, ReadsBrowser, ReadsWallet, ReadsKeychain, ReadsDotenv, ReadsHistory, ReadsAgent, ReadsEnvironment:
		return true
	case ReadsVariable:
		return secretName(f.Detail)
	}
	return false
}

// Network reports whether the fact connects to another machine.
func (f Fact) Network() bool {
	switch f.Kind {
	case Downloads, Uploads, Connects, LooksUp, Mails:
		return true
	}
	return false
}

// Reserved reports whether the host of the fact is this machine, in a private network, or reserved for examples.
func (f Fact) Reserved() bool { return f.Host != "" && IsReserved(f.Host) }

// Meaning is what a flow means: the kind of a [Flow].
type Meaning uint8

// The kinds of flows.
const (
	// Exfiltrates: secrets, the environment, private files, or what an agent knows are sent to a host that does not
	// issue them.
	Exfiltrates Meaning = iota + 1
	// Credential: one environment variable or the key in an .env file is sent to a service. A capability.
	Credential
	// Sends: files that the code's user selects are sent to a service. A capability.
	Sends
	// RunsDownload: downloaded code is run.
	RunsDownload
	// RunsDecoded: code that is encoded in the skill is decoded and run.
	RunsDecoded
	// RunsReceived: commands from a socket are run, or a shell is connected to a host.
	RunsReceived
	// HidesAddress: the address of a request is encoded in the skill.
	HidesAddress
	// WritesDownload: downloaded text becomes instructions, settings, or something that starts automatically.
	WritesDownload
)

var flowNames = [...]string{
	Exfiltrates: "exfiltrates", Credential: "credential", Sends: "sends", RunsDownload: "runs-download",
	RunsDecoded: "runs-decoded", RunsReceived: "runs-received", HidesAddress: "hides-address",
	WritesDownload: "writes-download",
}

// String returns the name of a kind, such as "exfiltrates".
func (k Meaning) String() string {
	if int(k) < len(flowNames) && flowNames[k] != "" {
		return flowNames[k]
	}
	return "unknown"
}

// Flow is data that passes from one fact to another.
type Flow struct {
	Kind Meaning
	From Fact     // what is read, downloaded, or decoded
	To   Fact     // what sends, runs, or writes it
	Via  []string // names of functions and files between them, in order; at most eight
	Sure Sure
	// Drop reports that the host of To collects requests, shares text, or tunnels, or is a bare address.
	Drop bool
	// Reserved reports that the host of To, or of From if it is a download, is this machine, in a private network, or
	// reserved for examples (RFC 2606, RFC 5737, RFC 6761).
	Reserved bool

	entries string // the names of the entries of From that are passed
}

// Facts is what the code of a skill does.
type Facts struct {
	All   []Fact // sorted by file and line
	Flows []Flow // sorted by file and line of To
	// Partial reports that a file has code that was not read, see [Summary.Partial], or that there are too many flows.
	Partial bool
}

// Of returns the facts of some kinds.
func (f *Facts) Of(kinds ...Kind) (found []Fact) {
	for _, fact := range f.All {
		for _, k := range kinds {
			if fact.Kind == k {
				found = append(found, fact)
			}
		}
	}
	return found
}

// Hosts returns the names of all hosts that code reaches, sorted and without duplicates. shown includes code blocks.
func (f *Facts) Hosts(shown bool) []string {
	set := map[string]bool{}
	for _, fact := range f.All {
		if fact.Host != "" && (shown || !fact.Shown) {
			set[fact.Host] = true
		}
	}
	return sortedKeys(set)
}
