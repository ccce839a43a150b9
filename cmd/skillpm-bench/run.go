package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Exit codes, as skillpm's.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// options are the flags.
type options struct {
	sizes           []int
	rows            []string
	runs            int
	patience        time.Duration
	large           int    // MiB
	indexPacks      int    // of the large index
	parent          string // of the directory that everything is written to
	keep, json      bool
	skillpm         string
	git             string
	oras            string
	skills          string
	registryProgram string
}

const help = `Measure skillpm against other programs, with generated packs over loopback:
whole processes, in turn, A B A B.

  go run ./cmd/skillpm-bench [flags]

The other programs are git, oras, and npm's skills. The table shows which of them
are not in PATH. Disks vary more than the programs: use a RAM disk for --dir, such as
/dev/shm on Linux.

`

// parse reads the flags. It returns flag.ErrHelp when the help was asked for and printed.
func parse(args []string, stdout io.Writer) (options, error) {
	o := options{sizes: []int{10, 100, 1000}}
	f := flag.NewFlagSet("skillpm-bench", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Func("sizes", "packs of how many `SKILLS`, separated by commas (default 10,100,1000)",
		func(s string) (err error) {
			o.sizes, err = parseSizes(s)
			return err
		})
	f.Func("only", "measure only these `ROWS`, separated by commas", func(s string) error {
		o.rows = strings.Split(s, ",")
		return checkRows(o.rows)
	})
	f.IntVar(&o.runs, "runs", 7, "how many `TIMES` each command runs, after a turn that is not counted")
	f.DurationVar(&o.patience, "patience", 3*time.Minute,
		"start no more runs of a row, and stop a run, after this `TIME`")
	f.IntVar(&o.large, "large", 256, "how many `MIB` the pack of large files has")
	f.IntVar(&o.indexPacks, "packs", 100_000, "how many `PACKS` the large index has")
	f.StringVar(&o.parent, "dir", "",
		"work in a new directory below `DIR`, best on a RAM disk; it is removed at the end (default: where "+
			"temporary files go)")
	f.BoolVar(&o.keep, "keep", false, "leave the directory there, with the packs and what was installed")
	f.BoolVar(&o.json, "json", false, "print one JSON document instead of the table")
	f.StringVar(&o.skillpm, "skillpm", "", "measure the skillpm at `PATH` (default: built from this source)")
	f.StringVar(&o.git, "git", "", "the git at `PATH`; none to leave it out")
	f.StringVar(&o.oras, "oras", "", "the oras at `PATH`; none to leave it out")
	f.StringVar(&o.skills, "skills", "",
		"npm's skills at `PATH`, with a node beside it or on the PATH; none to leave it out")
	f.StringVar(&o.registryProgram, "registry-program", "",
		"use the OCI registry at `PATH`, as Debian's docker-registry (default: one inside this process)")
	err := f.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		printHelp(stdout, f)
	case err != nil:
	case f.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.runs < 1 || o.large < 1 || o.indexPacks < 1 || o.patience <= 0:
		err = errors.New("--runs, --large, --packs and --patience must be more than nothing")
	}
	return o, err
}

func printHelp(w io.Writer, f *flag.FlagSet) {
	fmt.Fprint(w, help, "Flags:\n")
	f.SetOutput(w)
	f.PrintDefaults()
	fmt.Fprint(w, "\nRows:\n")
	for _, r := range rows() {
		fmt.Fprintf(w, "  %-14s %s\n", r.name, r.about)
	}
}

func parseSizes(s string) ([]int, error) {
	var sizes []int
	for part := range strings.SplitSeq(s, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 || n > 9999 {
			return nil, fmt.Errorf("%q is not a number from 1 to 9999", part)
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}

func checkRows(names []string) error {
	var known []string
	for _, r := range rows() {
		known = append(known, r.name)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return fmt.Errorf("there is no row %q; there are %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}

// run is the program: it returns the exit code.
func run(ctx context.Context, sys system) int {
	var err error
	if len(sys.Args) == 1 && sys.Args[0] == launchCommand {
		err = sys.launcher()
	} else {
		err = runBench(ctx, sys)
	}
	usage, badUsage := errors.AsType[usageError](err)
	switch {
	case err == nil:
		return exitOK
	case badUsage:
		fmt.Fprintf(sys.Stderr, "skillpm-bench: error: %v\nskillpm-bench: hint: see --help\n", usage.error)
		return exitUsage
	case ctx.Err() != nil:
		fmt.Fprintln(sys.Stderr, "skillpm-bench: interrupted")
		return exitInterrupted
	}
	fmt.Fprintf(sys.Stderr, "skillpm-bench: error: %v\n", err)
	return exitFailed
}

// usageError is a mistake in the command line.
type usageError struct{ error }

// report is all that was measured, and where.
type report struct {
	OS       string            `json:"os"`
	Arch     string            `json:"arch"`
	CPUs     int               `json:"cpus"`
	Versions map[string]string `json:"versions"`
	Results  []result          `json:"results"`
}

func runBench(ctx context.Context, sys system) error {
	o, err := parse(sys.Args, sys.Stdout)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return usageError{err}
	}
	b := &bench{options: o, sys: sys, packs: map[string]benchPack{}}
	defer b.close()
	if err := b.open(ctx); err != nil {
		return err
	}
	rep := report{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), Versions: b.tools.versions()}
	rep.Results, err = b.measureAll(ctx)
	if len(rep.Results) > 0 { // of an interrupted run, too: it may have taken long
		err = errors.Join(err, rep.write(sys.Stdout, o.json))
	}
	if err != nil {
		return err
	}
	for _, r := range rep.Results {
		if r.Error != "" {
			return errors.New("some rows could not be measured")
		}
	}
	return nil
}

func (b *bench) measureAll(ctx context.Context) ([]result, error) {
	var results []result
	for _, r := range rows() {
		if len(b.rows) > 0 && !slices.Contains(b.rows, r.name) {
			continue
		}
		sizes := b.sizes
		if r.large {
			sizes = []int{-b.large}
		} else if r.runOnce {
			sizes = []int{0}
		}
		for _, n := range sizes {
			res, err := b.measureRow(ctx, r, n)
			if err != nil {
				return results, err
			}
			results = append(results, res)
		}
	}
	return results, nil
}

func (b *bench) measureRow(ctx context.Context, r row, n int) (result, error) {
	var p benchPack
	if !r.runOnce {
		var err error
		if p, err = b.pack(ctx, n); err != nil {
			return result{}, err
		}
	}
	b.note("measuring %s %s", r.name, p.Name)
	res, err := b.compare(ctx, r, p)
	res.Skills, res.MiB = max(n, 0), max(-n, 0)
	if res.Error != "" {
		b.note("%s: %s", r.name, res.Error)
	}
	return res, err
}
