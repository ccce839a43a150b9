package lint

import (
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Rule is one thing that can be wrong. A finding may be less severe than its rule, where the rule's text says when.
type Rule struct {
	ID       string        `json:"id"`
	Title    string        `json:"title"`    // what is wrong, in a few words
	Severity diag.Severity `json:"severity"` // at its worst
	Why      string        `json:"why"`      // what happens otherwise, and when it is less severe
	Fix      string        `json:"fix"`      // how to mend it, where the finding does not say it better
}

// The ids of all rules. FM is about frontmatter, STR about a skill's structure, REF about references between files, SCR
// about scripts, PACK about several skills together.
const (
	ruleNoFrontmatter = "FM001"
	ruleUnclosed      = "FM002"
	ruleBadYAML       = "FM003"
	ruleTab           = "FM004"
	ruleNotMapping    = "FM005"
	ruleDuplicateKey  = "FM006"
	ruleBOM           = "FM007"
	ruleLeadingText   = "FM008"
	ruleNotUTF8       = "FM009"
	ruleMissing       = "FM010"
	ruleUnknown       = "FM011"
	ruleOtherHost     = "FM012"
	ruleType          = "FM013"
	ruleValue         = "FM014"
	ruleTooLong       = "FM015"
	ruleEmpty         = "FM016"
	ruleName          = "FM017"
	ruleNameDirectory = "FM018"
	ruleToolForm      = "FM019"
	ruleMetadataText  = "FM020"
	ruleCombination   = "FM021"
	ruleSchema        = "FM022"
	ruleRecommended   = "FM023"
	ruleListing       = "FM024"

	ruleFileCase    = "STR001"
	ruleEmptyBody   = "STR002"
	ruleManyLines   = "STR003"
	ruleManyTokens  = "STR004"
	ruleOpenFence   = "STR005"
	ruleNested      = "STR006"
	ruleLink        = "STR007"
	ruleLeftover    = "STR008"
	ruleUnreadable  = "STR009"
	ruleManyEntries = "STR010"
	ruleUnsafePath  = "STR011"
	ruleComplex     = "STR012"

	ruleBroken      = "REF001"
	ruleCase        = "REF002"
	ruleEscape      = "REF003"
	ruleAnchor      = "REF004"
	ruleBackslash   = "REF005"
	ruleAbsolute    = "REF006"
	ruleBrokenBelow = "REF007"
	ruleListed      = "REF008"
	ruleListedForm  = "REF009"
	ruleHook        = "REF010"
	ruleCommand     = "REF011"

	ruleShebang      = "SCR001"
	ruleExecutable   = "SCR002"
	ruleShebangCRLF  = "SCR003"
	ruleShebangBOM   = "SCR004"
	ruleShebangLine  = "SCR005"
	ruleInterpreter  = "SCR006"
	ruleSameName     = "PACK001"
	ruleSameDescribe = "PACK002"
)

// Rules returns every rule in order of id.
func Rules() []Rule { return slices.Clone(rules[:]) }

// LookupRule returns the rule of that id, in any case.
func LookupRule(id string) (Rule, bool) {
	id = strings.ToUpper(id)
	i, ok := slices.BinarySearchFunc(rules[:], id, func(r Rule, id string) int { return strings.Compare(r.ID, id) })
	if !ok {
		return Rule{}, false
	}
	return rules[i], true
}

// severityOf returns a rule's own severity.
func severityOf(id string) diag.Severity {
	r, _ := LookupRule(id)
	return r.Severity
}

// fixOf returns a rule's own remedy.
func fixOf(id string) string {
	r, _ := LookupRule(id)
	return r.Fix
}
