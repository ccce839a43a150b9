// Package jsonx reads JSON that somebody else wrote, strictly: what two programs could read differently is refused.
//
// encoding/json takes the last of two equal keys, matches the fields of a struct in any case, replaces bytes that are
// not UTF-8, and (through a Decoder) ignores what follows a value. An attacker can use each of these to show one
// document to the program that checks it and another to the program that uses it. [Decode] and [Check] refuse all of
// them, at any depth, and also limit size and nesting.
//
// Whether two keys are equal depends on who reads them. By default the package compares them as encoding/json matches
// fields: in any case, by Unicode's simple folding, so that "k", "K", and the Kelvin sign are one key. For documents
// whose keys are data (they end up in maps), [Options.ExactKeys] compares them byte by byte.
//
// All errors are of type [*Error], which has the position and the reason, so that callers can add the name of the file.
// The package does no I/O.
package jsonx
