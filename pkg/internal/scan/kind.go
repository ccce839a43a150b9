package scan

import "fmt"

// Kind is what a hit is about.
type Kind int

// The kinds. The first group is what only an attacker needs, or what must never be published; the second is what a
// skill is able to do; the third is worth a look.
const (
	EncryptedArchive Kind = iota + 1 // a password-protected archive is to be extracted
	Base64Shell                      // encoded text is decoded and run
	EncodedCommand                   // encoded text that is a download or a shell command
	RawIPShell                       // a program from a bare IP address is run
	PasteSite                        // a link to a paste site, from code or as something to run
	TagCharacters                    // invisible tag characters, U+E0000 to U+E007F
	BidiControls                     // embeddings, overrides and isolates of the bidirectional algorithm
	ZeroWidthRun                     // four or more invisible characters in a row
	Secret                           // a secret with the prefix of its provider, or a private key
	BlankPadding                     // text below eighty or more blank lines

	DynamicShell   // a command that some agents run when they load a skill
	PipeToShell    // a download that is run unseen
	InstallerFirst // a program is to be downloaded and run before anything else
	SkipPermission // permissions of an agent are switched off

	CredentialPath // a path where credentials are stored
	ReverseShell   // a shell that is connected to another machine
	Shortener      // a shortened link
	Sudo           // a command run as the administrator

	PossibleSecret // the value of a password, a key, or a token, without the form of a provider
	ZeroWidthWord  // invisible characters inside an English word
	ZeroWidthBreak // zero-width spaces between the words of names, where a line may be broken
	TerminalEscape // control sequences that terminals run or that hide text in them
	MixedScript    // a word with letters of another alphabet that look like its own
	ActivePicture  // a picture of vectors with scripts
	PasteLink      // another link to a paste site

	DataRule // a shape of a rule that is data

	// What package flow finds in code. The scanner does not report them, but rules have shapes for them.
	FlowSecrets    // secrets are sent to another machine
	FlowDownload   // downloaded code is run by code
	FlowStages     // a downloaded file is run
	FlowDecoded    // decoded code is run
	FlowReceived   // commands from a socket are run
	FlowAddress    // the address of a request is encoded
	FlowInstalled  // downloaded text becomes settings, instructions, or something that starts again
	FlowDestroys   // the home directory, the system, or a disk is deleted
	FlowEncrypts   // files are replaced by encrypted ones
	FlowPersists   // something starts again
	FlowOtherSkill // files of other skills or instructions of an agent are changed
	FlowGuard      // a protection is switched off
	FlowTraces     // logs or histories are removed
	FlowCollects   // passwords of browsers, wallets, keychains, or histories are read
	FlowUploads    // something is sent to a host that is not known
	FlowRewrites   // published git history is rewritten
	FlowDrops      // something is sent to a host that receives data anonymously
	FlowDenied     // something is sent, and the text denies it

	lastKind = FlowDenied
)

// Hit is one thing found in a text.
type Hit struct {
	Kind   Kind
	Start  int    // offset of the first byte to be marked
	End    int    // offset after the last one; Start < End, in one line where the thing is in one line
	Detail string // a short fact for a message, as "a GitHub token", "pastebin.com" or "U+202E"; never a secret itself

	shape int // of a DataRule: which of the scanner's
}

// Options describe a text.
type Options struct {
	Markdown bool // a page of Markdown: prose is read as well
	Script   bool // a program that can be run: code counts where prose would only show it
	SVG      bool // a picture in the SVG format
	Skill    bool // the SKILL.md itself, whose commands some agents run when they load it
}

// maxHits is the number of hits of one kind that [Scanner.Text] returns at most.
const maxHits = 100

var kindNames = [...]string{
	EncryptedArchive: "EncryptedArchive", Base64Shell: "Base64Shell", EncodedCommand: "EncodedCommand",
	RawIPShell: "RawIPShell", PasteSite: "PasteSite", TagCharacters: "TagCharacters", BidiControls: "BidiControls",
	ZeroWidthRun: "ZeroWidthRun", Secret: "Secret", BlankPadding: "BlankPadding",
	DynamicShell: "DynamicShell", PipeToShell: "PipeToShell", InstallerFirst: "InstallerFirst",
	SkipPermission: "SkipPermission",
	CredentialPath: "CredentialPath",
	ReverseShell:   "ReverseShell", Shortener: "Shortener", Sudo: "Sudo", DataRule: "DataRule",
	PossibleSecret: "PossibleSecret", ZeroWidthWord: "ZeroWidthWord", ZeroWidthBreak: "ZeroWidthBreak",
	TerminalEscape: "TerminalEscape", MixedScript: "MixedScript", ActivePicture: "ActivePicture", PasteLink: "PasteLink",
	FlowSecrets:    "FlowSecrets",
	FlowDownload:   "FlowDownload",
	FlowStages:     "FlowStages",
	FlowDecoded:    "FlowDecoded",
	FlowReceived:   "FlowReceived",
	FlowAddress:    "FlowAddress",
	FlowInstalled:  "FlowInstalled",
	FlowDestroys:   "FlowDestroys",
	FlowEncrypts:   "FlowEncrypts",
	FlowPersists:   "FlowPersists",
	FlowOtherSkill: "FlowOtherSkill",
	FlowGuard:      "FlowGuard",
	FlowTraces:     "FlowTraces",
	FlowCollects:   "FlowCollects",
	FlowRewrites:   "FlowRewrites",
	FlowUploads:    "FlowUploads",
	FlowDrops:      "FlowDrops",
	FlowDenied:     "FlowDenied",
}

// String returns the name of the kind's constant.
func (k Kind) String() string {
	if k <= 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return kindNames[k]
}

// KindNamed returns the kind whose constant has a name.
func KindNamed(name string) (Kind, bool) {
	for k, s := range kindNames {
		if s == name && Kind(k) > 0 && Kind(k) != DataRule {
			return Kind(k), true
		}
	}
	return 0, false
}
