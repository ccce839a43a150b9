package scan

import "fmt"

var kindNames = [...]string{
	EncryptedArchive: "EncryptedArchive", Base64Shell: "Base64Shell", EncodedCommand: "EncodedCommand",
	RawIPShell: "RawIPShell", PasteSite: "PasteSite", TagCharacters: "TagCharacters", BidiControls: "BidiControls",
	ZeroWidthRun: "ZeroWidthRun", Secret: "Secret", BlankPadding: "BlankPadding",
	DynamicShell: "DynamicShell", PipeToShell: "PipeToShell", InstallerFirst: "InstallerFirst",
	SkipPermission:     "SkipPermission",
	IgnoreInstructions: "IgnoreInstructions", HideFromUser: "HideFromUser", CredentialPath: "CredentialPath",
	ReverseShell: "ReverseShell", Shortener: "Shortener", Sudo: "Sudo", PossibleSecret: "PossibleSecret",
	ZeroWidthWord: "ZeroWidthWord", TerminalEscape: "TerminalEscape", MixedScript: "MixedScript",
	ActivePicture: "ActivePicture",
}

// String returns the name of the kind's constant.
func (k Kind) String() string {
	if k <= 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return kindNames[k]
}

var problemNames = [...]string{
	HoldsNative: "HoldsNative", HoldsCompiled: "HoldsCompiled", HoldsMacros: "HoldsMacros",
	HoldsEncrypted: "HoldsEncrypted",
	HoldsText:      "HoldsText", UnsafeEntry: "UnsafeEntry", OpaqueArchive: "OpaqueArchive",
}

// String returns the name of the problem's constant.
func (p Problem) String() string {
	if p <= 0 || p >= problems {
		return fmt.Sprintf("Problem(%d)", int(p))
	}
	return problemNames[p]
}
