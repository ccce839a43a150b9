// Package publish is the verbs of those who write skills, each a method of [Client] with an options struct and a
// report: making packs and skills, checking and mending them, publishing.
//
// The rules it keeps: nothing from a pack is ever run; a file is replaced whole or not at all, and never when it
// changed meanwhile; what is published is what was checked; and a version that is published stays as it is.
//
// Nothing here prints. Reports are data, warnings are part of them, and progress goes to [Options.Progress].
package publish
