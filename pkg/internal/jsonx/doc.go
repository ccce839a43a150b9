// Package jsonx strictly reads untrusted JSON. It rejects documents that two programs could read differently.
//
// encoding/json takes the last of two equal keys, matches the fields of a struct in any case, replaces bytes that are
// not UTF-8, and (through a Decoder) ignores what follows a value. An attacker can use each of these to show one
// document to the program that checks it and another to the program that uses it. [Decode] and [Check] refuse all of
// them, at any depth, and also limit size and nesting.
//
// Whether two keys are equal depends on the reader. By default the package compares them as encoding/json matches
// fields: ignoring case, by Unicode's simple folding, so that "k", "K", and the Kelvin sign are one key. For documents
// whose keys are data and end up in maps, [Options.ExactKeys] compares them byte by byte.
//
// All errors have the type [*Error] with a position and a reason, so that callers can add the name of the file. The
// package performs no I/O.
package jsonx
