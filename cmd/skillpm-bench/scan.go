package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// scanCommand is the argument that measures what the scanner finds.
const scanCommand = "scan"

const scanHelp = `Count the labeled skills in which the scanner of this source finds an error. Fetch the skills first:

  git clone --filter=blob:none https://github.com/OWNER/NAME DIR/OWNER+NAME

  go run ./cmd/skillpm-bench scan --data DIR [flags]

DIR has clones, or bare copies, of the repositories below. The benchmark reads their HEAD, and runs
nothing. It counts skills with a security error (SEC…); warnings and notes do not count. Identical
skills of a set count once. A malicious skill without an error is missed; a benign skill with one
is a false positive.

Shares have Wilson intervals of 95%. "Not read" counts labeled skills whose files the repository
or the clone does not have. They are in no share.

`

// scanOptions are the flags of scan.
type scanOptions struct {
	data    string
	sets    []string
	list    bool
	json    bool
	heldOut bool
}

func parseScan(args []string, stdout io.Writer) (scanOptions, error) {
	var o scanOptions
	f := flag.NewFlagSet("skillpm-bench scan", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&o.data, "data", "", "read the repositories below `DIR`")
	f.Func("sets", "scan only these `SETS`, separated by commas", func(s string) error {
		o.sets = strings.Split(s, ",")
		return checkSets(o.sets)
	})
	f.BoolVar(&o.list, "list", false, "list the missed and the falsely reported skills, too")
	f.BoolVar(&o.json, "json", false, "print one JSON document instead of the table")
	f.BoolVar(&o.heldOut, "held-out", false,
		"scan the packages of MaliciousSkillBench that the rules were not developed with")
	err := f.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, scanHelp, "Flags:\n")
		f.SetOutput(stdout)
		f.PrintDefaults()
		fmt.Fprint(stdout, "\nSets:\n")
		for _, s := range labeledSets {
			fmt.Fprintf(stdout, "  %-20s %s\n", s.name, strings.Join(s.repositories, ", "))
		}
	case err != nil:
	case f.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.data == "":
		err = errors.New("--data is required")
	}
	return o, err
}

func checkSets(names []string) error {
	var known []string
	for _, s := range labeledSets {
		known = append(known, s.name)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return fmt.Errorf("unknown set %q; the sets are %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}

func runScan(ctx context.Context, sys system) error {
	o, err := parseScan(sys.Args[1:], sys.Stdout)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return usageError{err}
	}
	var rep scanReport
	for _, set := range labeledSets {
		if len(o.sets) > 0 && !slices.Contains(o.sets, set.name) || o.heldOut && set.heldOut == nil {
			continue
		}
		read, name := set.read, set.name
		if o.heldOut {
			read, name = set.heldOut, set.name+" (held out)"
		}
		fmt.Fprintf(sys.Stderr, "skillpm-bench: scanning %s\n", name)
		count, err := scanSet(ctx, collection{dir: o.data, repositories: set.repositories}, read)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		count.Set = name
		rep.Sets = append(rep.Sets, count)
	}
	if o.json {
		enc := json.NewEncoder(sys.Stdout)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(rep)
	}
	text := rep.table()
	if o.list {
		text += rep.list()
	}
	_, err = io.WriteString(sys.Stdout, text)
	return err
}
