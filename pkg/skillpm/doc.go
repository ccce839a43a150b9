// Package skillpm is the package manager: its verbs, each a method of [Client] with an options struct and a report.
//
// The rules it keeps: nothing from a pack is ever run; what is written is written in one transaction, so a verb that
// fails leaves the packs, the links, the manifest and the lock as they were; a file that skillpm did not write is never
// overwritten; and what a digest or the lock promised is what gets installed, or the verb fails.
//
// Nothing here prints. Reports are data, warnings are part of them, and progress goes to [Options.Progress].
package skillpm
