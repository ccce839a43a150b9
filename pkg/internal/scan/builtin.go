// Code generated from the rule files in rules; DO NOT EDIT.
// Write it with: go test ./pkg/internal/scan/rulefile -update

package scan

import "github.com/skillpm/skillpm/pkg/diag"

// Builtin returns the rules of skillpm.
func Builtin() []*Rule {
	list := make([]*Rule, len(builtin))
	for i := range builtin {
		list[i] = &builtin[i]
	}
	return list
}

var builtin = [...]Rule{
	{
		ID: "SEC101", Title: "password-protected archive", Severity: diag.SeverityError,
		Signal: "evasion", Points: 10,
		Shapes: []Shape{
			{
				In:   117,
				Kind: EncryptedArchive,
			},
		},
	},
	{
		ID: "SEC102", Title: "encoded text that a shell runs", Severity: diag.SeverityError,
		Signal: "evasion", Points: 10,
		Shapes: []Shape{
			{
				In:   125,
				Kind: Base64Shell,
			},
		},
	},
	{
		ID: "SEC103", Title: "encoded text that is a command", Severity: diag.SeverityError,
		Signal: "evasion", Points: 10,
		Shapes: []Shape{
			{
				In:   127,
				Kind: EncodedCommand,
			},
		},
	},
	{
		ID: "SEC104", Title: "program from a bare IP address", Severity: diag.SeverityError,
		Signal: "execution", Points: 10,
		Shapes: []Shape{
			{
				In:   125,
				Kind: RawIPShell,
			},
		},
	},
	{
		ID: "SEC105", Title: "link to a paste site", Severity: diag.SeverityError,
		Signal: "supply-chain", Points: 10,
		Shapes: []Shape{
			{
				In:   125,
				Kind: PasteSite,
			},
		},
	},
	{
		ID: "SEC106", Title: "invisible tag characters", Severity: diag.SeverityError,
		Signal: "concealment", Points: 10,
		Shapes: []Shape{
			{
				In:     127,
				Quoted: true,
				Kind:   TagCharacters,
			},
		},
	},
	{
		ID: "SEC107", Title: "characters that reverse the direction of text", Severity: diag.SeverityError,
		Signal: "concealment", Points: 10,
		Shapes: []Shape{
			{
				In:     127,
				Quoted: true,
				Kind:   BidiControls,
			},
		},
	},
	{
		ID: "SEC108", Title: "several invisible characters in a row", Severity: diag.SeverityError,
		Signal: "concealment", Points: 10,
		Shapes: []Shape{
			{
				In:     127,
				Quoted: true,
				Kind:   ZeroWidthRun,
			},
		},
	},
	{
		ID: "SEC111", Title: "secret", Severity: diag.SeverityError,
		Shapes: []Shape{
			{
				In:     127,
				Quoted: true,
				Kind:   Secret,
			},
		},
	},
	{
		ID: "SEC112", Title: "text after many blank lines", Severity: diag.SeverityError,
		Signal: "concealment", Points: 10,
		Shapes: []Shape{
			{
				In:     127,
				Quoted: true,
				Kind:   BlankPadding,
			},
		},
	},
	{
		ID: "SEC205", Title: "command that runs when an agent loads the skill", Severity: diag.SeverityWarning,
		Shapes: []Shape{
			{
				In:     28,
				Quoted: true,
				Kind:   DynamicShell,
			},
		},
	},
	{
		ID: "SEC206", Title: "download that runs without review", Severity: diag.SeverityWarning,
		Signal: "supply-chain", Points: 4,
		Shapes: []Shape{
			{
				In:   1,
				Kind: PipeToShell,
			},
		},
	},
	{
		ID: "SEC207", Title: "required installation", Severity: diag.SeverityWarning,
		Signal: "supply-chain", Points: 5,
		Shapes: []Shape{
			{
				In:   48,
				Kind: InstallerFirst,
			},
		},
	},
	{
		ID: "SEC208", Title: "permissions are disabled", Severity: diag.SeverityWarning,
		Signal: "privilege", Points: 3,
		Shapes: []Shape{
			{
				In:   125,
				Kind: SkipPermission,
			},
		},
	},
	{
		ID: "SEC301", Title: "request to ignore instructions", Severity: diag.SeverityNote,
		Signal: "injection", Points: 6,
		Shapes: []Shape{
			{
				In:   114,
				Kind: IgnoreInstructions,
			},
		},
	},
	{
		ID: "SEC302", Title: "request to hide something from the user", Severity: diag.SeverityNote,
		Signal: "concealment", Points: 6,
		Shapes: []Shape{
			{
				In:   114,
				Kind: HideFromUser,
			},
		},
	},
	{
		ID: "SEC303", Title: "download that runs without review, in the text", Severity: diag.SeverityNote,
		Signal: "supply-chain", Points: 4,
		Shapes: []Shape{
			{
				In:   124,
				Kind: PipeToShell,
			},
		},
	},
	{
		ID: "SEC304", Title: "path of credentials", Severity: diag.SeverityNote,
		Signal: "credentials", Points: 3,
		Shapes: []Shape{
			{
				In:   117,
				Kind: CredentialPath,
			},
		},
	},
	{
		ID: "SEC305", Title: "reverse shell", Severity: diag.SeverityError,
		Signal: "execution", Points: 10,
		Shapes: []Shape{
			{
				In:   101,
				Kind: ReverseShell,
			},
		},
	},
	{
		ID: "SEC306", Title: "shortened link", Severity: diag.SeverityNote,
		Signal: "concealment", Points: 3,
		Shapes: []Shape{
			{
				In:   125,
				Kind: Shortener,
			},
		},
	},
	{
		ID: "SEC307", Title: "sudo", Severity: diag.SeverityNote,
		Shapes: []Shape{
			{
				In:     125,
				Quoted: true,
				Kind:   Sudo,
			},
		},
	},
}
